#include "stress/sanitized.hpp"
#include "stress/scope_forest.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <ostream>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace asio_retry::test {
namespace {

constexpr std::size_t actions = ASIO_RETRY_TEST_SANITIZED ? 10'000 : 50'000;

class scopes : public testing::Test {
protected:
    std::uint64_t const seed = std::random_device()();
    testing::ScopedTrace const trace{__FILE__, __LINE__, "seed " + std::to_string(seed)};
};

TEST_F(scopes, decision_39_are_made_used_and_destroyed_at_random_on_four_threads) {
    scope_forest forest(seed, actions, scope_forest::fate::finish);
    forest.run();
    EXPECT_GT(forest.begun(), actions / 10);
    EXPECT_EQ(forest.called(1), forest.begun()) << "each exactly once";
    EXPECT_EQ(forest.handlers(), 0);
    EXPECT_EQ(forest.pending(), 0u);
    EXPECT_EQ(forest.waits(), 0u);
}

TEST_F(scopes, decision_39_end_with_their_contexts_on_two_threads) {
    for (int round = 0; round != 20; ++round) {
        scope_forest forest(seed + static_cast<unsigned>(round), actions / 20, scope_forest::fate::destroy);
        forest.run();
        EXPECT_EQ(forest.called(0) + forest.called(1), forest.begun()) << "none twice";
        EXPECT_EQ(forest.handlers(), 0) << "none leaks";
    }
}

/// A thread that does the same again and again.
template <typename Action>
std::thread repeat(int times, watchdog& dog, Action action) {
    return std::thread([times, &dog, action] {
        for (int i = 0; i != times; ++i) {
            action();
            dog.moved();
        }
    });
}

TEST_F(scopes, decision_39_children_come_and_go_while_their_parent_is_told) {
    constexpr int times = 20 * static_cast<int>(actions);
    asio::io_context io;
    retry_scope parent(io);
    watchdog dog([](std::ostream& out) { out << "children come and go while their parent is told"; });
    std::thread threads[] = {
        repeat(times, dog, [&] { retry_scope child(parent), grandchild(child); }),
        repeat(times, dog, [&] { retry_scope child(parent); }),
        repeat(times, dog, [&] { parent.retry_now(); }),
        repeat(times, dog, [&] { parent.retry_now(); }),
    };
    for (std::thread& thread : threads)
        thread.join();
    parent.cancel();
    EXPECT_TRUE(retry_scope(parent).cancelled());
}

/// Where two threads wait for each other. On Windows those of libstdc++'s std::barrier may sleep for ever.
class meeting {
public:
    void arrive_and_wait() {
        int const all_have_come = come_.fetch_add(1) / 2 * 2 + 2;
        while (come_ < all_have_come)
            std::this_thread::yield();
    }

private:
    std::atomic<int> come_ = 0;
};

// The parent is full, and then it is not: whoever finds it so must find the child with room, or with an
// operation that has taken it. One far below the child is refused meanwhile.
TEST_F(scopes, decision_33_what_has_no_room_above_takes_none_below) {
    asio::io_context io;
    std::vector<std::unique_ptr<retry_scope>> path;
    path.push_back(std::make_unique<retry_scope>(io));
    while (path.size() != 1000) // it takes a while to look at them all
        path.push_back(std::make_unique<retry_scope>(*path.back()));
    retry_scope &parent = *path.front(), &child = *path[1], &far_below = *path.back();
    parent.max_pending(1);
    child.max_pending(1);
    watchdog dog([](std::ostream& out) { out << "operations enter a full scope"; });

    constexpr int rounds = static_cast<int>(actions / 10);
    std::optional<detail::scope_presence> first, second;
    meeting both;
    std::thread other([&] {
        for (int i = 0; i != rounds; ++i) {
            both.arrive_and_wait();
            second.emplace(state_of(far_below));
            both.arrive_and_wait();
            both.arrive_and_wait();
        }
    });
    int refused_both = 0;
    for (int i = 0; i != rounds; ++i) {
        std::optional<detail::scope_presence> before(std::in_place, state_of(parent));
        both.arrive_and_wait();
        for (std::atomic<int> pause = i * 37 % 100'000; pause > 0;) // until the other is here or there
            pause -= 1;
        before.reset();
        first.emplace(state_of(child));
        both.arrive_and_wait();
        refused_both += !first->has_room() && !second->has_room();
        first.reset();
        second.reset();
        both.arrive_and_wait();
        dog.moved();
    }
    other.join();
    EXPECT_EQ(refused_both, 0);
    EXPECT_EQ(parent.pending(), 0u);
    EXPECT_EQ(child.pending(), 0u);
}

} // namespace
} // namespace asio_retry::test
