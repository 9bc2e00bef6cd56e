#include <asio_retry/detail/handler/operation_executors.hpp>
#include <handler/serial_executor.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/defer.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/system_executor.hpp>
#include <boost/asio/thread_pool.hpp>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

namespace asio_retry::test {
namespace {

namespace asio = boost::asio;

using io_executor = asio::io_context::executor_type;
using serial = detail::serial_executor<io_executor>;
using erased_strand = detail::strand_of<asio::any_io_executor>;

TEST(serial_executor, fits_into_the_executor_of_an_operation) {
    asio::io_context io;
    asio::any_io_executor const on_io = erased_strand::make(io.get_executor());
    EXPECT_TRUE(on_io.target<serial>());
    EXPECT_TRUE(detail::executor_home(on_io).is_strand());
    asio::thread_pool pool(1);
    asio::any_io_executor const on_pool = erased_strand::make(pool.get_executor());
    EXPECT_TRUE(on_pool.target<detail::serial_executor<asio::thread_pool::executor_type>>());
    EXPECT_TRUE(detail::executor_home(on_pool).is_strand());
    asio::any_io_executor const copy = on_io;
    EXPECT_EQ(copy, on_io);
    EXPECT_NE(copy, on_pool);
}

TEST(serial_executor, is_a_strand_on_any_other_executor) {
    asio::any_io_executor const other = asio::system_executor();
    asio::any_io_executor const on_other = erased_strand::make(other);
    auto const* const strand = on_other.target<asio::strand<asio::any_io_executor>>();
    ASSERT_TRUE(strand);
    EXPECT_EQ(strand->get_inner_executor(), other);
}

TEST(serial_executor, runs_what_is_dispatched_at_once_if_it_is_free) {
    asio::io_context io;
    asio::any_io_executor const one = serial(io.get_executor());
    std::vector<int> order;
    asio::dispatch(one, [&] { order.push_back(1); });
    EXPECT_TRUE(order.empty()); // this thread does not run the context
    asio::post(io, [&] {
        asio::dispatch(one, [&] {
            order.push_back(2);
            EXPECT_TRUE(detail::executor_home(one).is_here());
            asio::dispatch(one, [&] { order.push_back(3); });
            asio::post(one, [&] { order.push_back(6); });
            order.push_back(4);
        });
        order.push_back(5);
        EXPECT_FALSE(detail::executor_home(one).is_here());
        asio::dispatch(one, [&] { order.push_back(7); }); // one waits already
    });
    io.run();
    EXPECT_EQ(order, (std::vector{1, 2, 3, 4, 5, 6, 7}));
}

TEST(serial_executor, goes_on_after_an_exception) {
    asio::io_context io;
    asio::any_io_executor const one = serial(io.get_executor());
    int ran = 0;
    asio::post(one, [] { throw std::runtime_error("posted"); });
    asio::post(one, [&] { ++ran; });
    asio::post(io, [&] {
        asio::dispatch(one, [] { throw std::logic_error("dispatched"); }); // which is the context's
        asio::dispatch(one, [&] { ++ran; });
    });
    EXPECT_THROW(io.run(), std::runtime_error);
    EXPECT_THROW(io.run(), std::logic_error);
    io.run();
    EXPECT_EQ(ran, 2);
}

TEST(serial_executor, lets_others_have_their_turn) {
    asio::io_context io;
    asio::any_io_executor const one = serial(io.get_executor());
    int ran = 0, ran_before_the_other = 0;
    for (int i = 0; i != 1000; ++i)
        asio::post(one, [&] { ++ran; });
    asio::post(io, [&] { ran_before_the_other = ran; });
    io.run();
    EXPECT_EQ(ran, 1000);
    EXPECT_LE(ran_before_the_other, 64);
}

TEST(serial_executor, gives_what_comes_in_a_turn_another_one) {
    asio::io_context io;
    asio::any_io_executor const one = serial(io.get_executor());
    int ran = 0, ran_before_the_other = 0;
    std::function<void()> again = [&] {
        if (++ran != 100)
            asio::post(one, again);
    };
    asio::post(one, again);
    asio::post(io, [&] { ran_before_the_other = ran; });
    io.run();
    EXPECT_EQ(ran, 100);
    EXPECT_EQ(ran_before_the_other, 1);
}

TEST(serial_executor, may_be_destroyed_by_what_it_runs) {
    asio::io_context io;
    auto one = std::make_unique<serial>(io.get_executor());
    asio::post(io, [&] {
        one->execute([&] {
            one.reset();
            throw std::runtime_error("gone");
        });
    });
    EXPECT_THROW(io.run(), std::runtime_error);
    EXPECT_FALSE(one);
}

TEST(serial_executor, is_work_where_it_is_tracked) {
    asio::io_context io;
    asio::any_io_executor const one = serial(io.get_executor());
    auto guard = std::optional(asio::make_work_guard(one));
    asio::post(io, [&] { asio::post(one, [&] { guard.reset(); }); });
    io.run();
    EXPECT_FALSE(guard);
    EXPECT_EQ(&asio::query(one, asio::execution::context), &io);
}

// What a function holds may use the executor while its context is being destroyed.
TEST(serial_executor, drops_its_functions_with_its_context) {
    struct user {
        explicit user(asio::any_io_executor given_executor)
            : executor(std::move(given_executor)) {}
        ~user() {
            asio::post(executor, [] { ADD_FAILURE(); });
            asio::dispatch(executor, [] { ADD_FAILURE(); });
        }
        asio::any_io_executor executor;
    };
    std::weak_ptr<user> first, second;
    {
        asio::io_context io;
        asio::any_io_executor const one = serial(io.get_executor());
        auto const use = [&](std::weak_ptr<user>& observed) {
            auto held = std::make_shared<user>(one);
            observed = held;
            asio::post(one, [held] { ADD_FAILURE(); });
        };
        use(first);
        use(second);
    }
    EXPECT_TRUE(first.expired());
    EXPECT_TRUE(second.expired());
}

template <typename Context>
void expect_one_at_a_time(Context& context, int rounds) {
    constexpr int executors = 3;
    std::vector<asio::any_io_executor> one;
    std::array<int, executors> ran{}; // guarded by the executors
    std::array<std::atomic<int>, executors> inside{};
    std::atomic<int> left = executors * rounds;
    for (int i = 0; i != executors; ++i)
        one.push_back(erased_strand::make(context.get_executor()));
    for (int i = 0; i != rounds; ++i)
        for (int j = 0; j != executors; ++j) {
            auto const at = static_cast<std::size_t>(j);
            auto const enter = [&, at] {
                EXPECT_EQ(++inside[at], 1);
                ++ran[at];
                --inside[at];
                --left;
            };
            if (i % 3 == 0)
                asio::post(one[at], enter);
            else if (i % 3 == 1)
                asio::post(context, [&, at, enter] { asio::dispatch(one[at], enter); });
            else
                asio::defer(context, [&, at, enter] { asio::post(one[at], enter); });
        }
    while (left > 0)
        std::this_thread::yield();
    std::atomic<int> seen = 0;
    for (int j = 0; j != executors; ++j)
        asio::post(one[static_cast<std::size_t>(j)], [&, j] {
            EXPECT_EQ(ran[static_cast<std::size_t>(j)], rounds);
            ++seen;
        });
    while (seen != executors)
        std::this_thread::yield();
}

TEST(serial_executor, runs_one_function_at_a_time_on_four_threads_of_a_context) {
    asio::io_context io(4);
    auto guard = std::optional(asio::make_work_guard(io));
    std::vector<std::thread> threads;
    for (int i = 0; i != 4; ++i)
        threads.emplace_back([&] { io.run(); });
    expect_one_at_a_time(io, 10'000);
    guard.reset();
    for (std::thread& thread : threads)
        thread.join();
}

TEST(serial_executor, runs_one_function_at_a_time_on_a_pool) {
    asio::thread_pool pool(4);
    expect_one_at_a_time(pool, 10'000);
    pool.join();
}

} // namespace
} // namespace asio_retry::test
