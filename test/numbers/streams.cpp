#include "numbers/streams.hpp"

#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <latch>
#include <thread>

namespace asio_retry::test {
namespace {

namespace asio = boost::asio;

/// What 64 threads draw that begin together, each from the scheduler of the context it is given.
template <typename ContextOf>
std::vector<stream> drawn_by_threads(ContextOf context_of) {
    std::vector<stream> streams(stream_count);
    std::latch begin(stream_count);
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i != stream_count; ++i)
        threads.emplace_back([&, i] {
            asio::io_context& context = context_of(i);
            begin.arrive_and_wait();
            streams[i] = draw_stream(scheduler(context));
        });
    for (std::thread& t : threads)
        t.join();
    return streams;
}

std::vector<stream> drawn_by_threads_sharing(asio::io_context& shared) {
    return drawn_by_threads([&](std::size_t) -> asio::io_context& { return shared; });
}

TEST(decision_03, threads_that_share_a_context_draw_independent_streams) {
    asio::io_context unseeded, seeded;
    EXPECT_TRUE(are_independent(drawn_by_threads_sharing(unseeded)));
    scheduler(seeded).seed(7);
    EXPECT_TRUE(are_independent(drawn_by_threads_sharing(seeded)));
}

TEST(decision_03, threads_with_a_context_each_draw_independent_streams) {
    std::deque<asio::io_context> contexts(stream_count);
    EXPECT_TRUE(
        are_independent(drawn_by_threads([&](std::size_t i) -> asio::io_context& { return contexts[i]; })));
}

TEST(decision_03, contexts_with_neighbouring_seeds_draw_independent_streams) {
    std::deque<asio::io_context> contexts(stream_count);
    for (std::size_t i = 0; i != stream_count; ++i)
        scheduler(contexts[i]).seed(i);
    EXPECT_TRUE(
        are_independent(drawn_by_threads([&](std::size_t i) -> asio::io_context& { return contexts[i]; })));
}

// Which thread gets which stream is chance; which streams there are is not.
TEST(decision_03, a_seed_repeats_its_streams_whatever_the_threads_do) {
    asio::io_context first, second, alone;
    for (asio::io_context* context : {&first, &second, &alone})
        scheduler(*context).seed(7);
    std::vector<stream> a = drawn_by_threads_sharing(first), b = drawn_by_threads_sharing(second), c;
    for (std::size_t i = 0; i != stream_count; ++i)
        c.push_back(draw_stream(scheduler(alone)));
    for (std::vector<stream>* streams : {&a, &b, &c})
        std::sort(streams->begin(), streams->end());
    EXPECT_EQ(a, b);
    EXPECT_EQ(a, c);
}

// The controls: the mistakes of generators that are copied, seeded alike, or run after one another.
TEST(independence_control, notices_streams_that_are_not) {
    auto const streams_of = [](auto source_of) {
        std::vector<stream> streams(stream_count);
        for (std::size_t i = 0; i != stream_count; ++i) {
            random source = source_of(i);
            for (std::int64_t& delay : streams[i])
                delay = source.uniform(duration::zero(), duration::max()).count();
        }
        return streams;
    };
    std::vector<stream> right = streams_of([](std::size_t i) { return random(1, i); });
    EXPECT_TRUE(are_independent(right));
    EXPECT_FALSE(are_independent(streams_of([](std::size_t i) { return random(1, i / 2); }))) << "a copy";
    EXPECT_FALSE(are_independent(streams_of([](std::size_t i) {
        random source(1, i / 2);
        if (i % 2 == 1)
            source();
        return source;
    }))) << "a copy one number ahead";
    std::vector<stream> shifted = right;
    std::transform(right[0].begin(), right[0].end(), shifted[1].begin(), [](std::int64_t d) { return d ^ 1; });
    EXPECT_FALSE(are_independent(shifted)) << "streams that go together";
    std::vector<stream> narrow = right;
    for (stream& s : narrow)
        for (std::int64_t& delay : s)
            delay -= delay / 50;
    EXPECT_FALSE(are_independent(narrow)) << "a pool that is not uniform";
}

} // namespace
} // namespace asio_retry::test
