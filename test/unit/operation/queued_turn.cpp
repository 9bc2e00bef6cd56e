#include <asio_retry/detail/handler/queued_turn.hpp>

#include <boost/asio/io_context.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

namespace asio_retry::test {
namespace {

/// Takes turns, and says which came and which were dropped.
struct taker {
    template <typename>
    using turn_allocator = std::allocator<void>;

    turn_allocator<int> get_turn_allocator(int) const noexcept { return {}; }
    void on_turn(int turn) {
        seen.push_back("turn " + std::to_string(turn));
        if (inside)
            inside();
    }
    void on_turn_dropped(int turn) noexcept { seen.push_back("dropped " + std::to_string(turn)); }

    std::function<void()> inside;
    std::vector<std::string> seen;
};

using testing::ElementsAre;

class queued_turns : public testing::Test {
protected:
    taker object;

    void queue(int turn, std::function<void(detail::queued_turn<taker, int>)> with) {
        detail::queue_turn(object, turn, std::move(with));
    }
};

TEST_F(queued_turns, come_later_or_inside_the_call_that_queues_them) {
    boost::asio::io_context io;
    detail::post_turn<int>(io.get_executor(), io.get_executor(), object, 1);
    EXPECT_TRUE(object.seen.empty());
    queue(2, [](auto turn) { turn(); });
    io.run();
    EXPECT_THAT(object.seen, ElementsAre("turn 2", "turn 1"));
}

TEST_F(queued_turns, are_dropped_with_their_context) {
    {
        boost::asio::io_context io;
        detail::post_turn<int>(io.get_executor(), io.get_executor(), object, 1);
    }
    EXPECT_THAT(object.seen, ElementsAre("dropped 1"));
}

TEST_F(queued_turns, that_are_destroyed_without_an_exception_are_dropped) {
    queue(1, [](auto) {});
    EXPECT_THAT(object.seen, ElementsAre("dropped 1"));
}

TEST_F(queued_turns, that_are_refused_are_still_in_the_hands_of_who_queued_them) {
    EXPECT_THROW(queue(1, [](auto) { throw std::bad_alloc(); }), std::bad_alloc);
    EXPECT_TRUE(object.seen.empty());
}

TEST_F(queued_turns, that_were_kept_before_an_exception_still_come) {
    std::unique_ptr<detail::queued_turn<taker, int>> kept;
    queue(1, [&](auto turn) {
        kept = std::make_unique<decltype(turn)>(std::move(turn));
        throw std::bad_alloc();
    });
    (*kept)();
    EXPECT_THAT(object.seen, ElementsAre("turn 1"));
}

// The first has come, though its queueing has not ended: what is destroyed inside it is another one.
TEST_F(queued_turns, another_one_that_is_destroyed_inside_the_first_is_dropped) {
    object.inside = [&] { detail::queued_turn<taker, int> const other(object, 2); };
    queue(1, [](auto turn) { turn(); });
    EXPECT_THAT(object.seen, ElementsAre("turn 1", "dropped 2"));
}

TEST_F(queued_turns, of_two_objects_are_told_apart) {
    taker other;
    queue(1, [&](auto turn) {
        detail::queue_turn(other, 2, [](auto) {});
        EXPECT_THROW(detail::queue_turn(other, 3, [](auto) { throw std::bad_alloc(); }), std::bad_alloc);
        turn();
    });
    EXPECT_THAT(object.seen, ElementsAre("turn 1"));
    EXPECT_THAT(other.seen, ElementsAre("dropped 2"));
}

TEST_F(queued_turns,
       that_are_refused_inside_the_queueing_of_another_are_still_in_the_hands_of_who_queued_them) {
    taker other;
    EXPECT_THROW(queue(1,
                       [&](auto turn) {
                           detail::queue_turn(other, 2, [&](auto others) {
                               auto const destroyed = std::move(turn);
                               others();
                           });
                           throw std::bad_alloc();
                       }),
                 std::bad_alloc);
    EXPECT_TRUE(object.seen.empty());
    EXPECT_THAT(other.seen, ElementsAre("turn 2"));
}

} // namespace
} // namespace asio_retry::test
