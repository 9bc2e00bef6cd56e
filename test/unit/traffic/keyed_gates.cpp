#include <asio_retry/traffic/keyed_gates.hpp>

#include <asio_retry/traffic/circuit_breaker.hpp>
#include <asio_retry/traffic/retry_budget.hpp>

#include "support/attempt_ends.hpp"
#include "support/elements.hpp"
#include "support/refuses.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace asio_retry::test {
namespace {

std::vector<std::string> keys_of(keyed_gates<retry_budget> const& gates) {
    std::vector<std::string> keys;
    gates.for_each([&](std::string const& key, retry_budget&) { keys.push_back(key); });
    return keys;
}

TEST(keyed_gates, one_gate_for_each_key) {
    keyed_gates<retry_budget> gates([] { return std::make_shared<retry_budget>(); });
    auto const a = gates.at("a");
    EXPECT_NE(gates.at("b"), a);
    EXPECT_EQ(gates.at("a"), a);
    EXPECT_EQ(gates.at(std::string("a")), a);
    EXPECT_EQ(gates.size(), 2u);
}

TEST(keyed_gates, the_least_recently_asked_for_is_forgotten) {
    keyed_gates<retry_budget> gates([] { return std::make_shared<retry_budget>(); }, 2);
    auto const a = gates.at("a");
    std::weak_ptr<retry_budget> const b = gates.at("b");
    (void)gates.at("a");
    (void)gates.at("c");
    EXPECT_EQ(gates.size(), 2u);
    EXPECT_THAT(keys_of(gates), elements("c", "a"));
    EXPECT_EQ(gates.at("a"), a);
    EXPECT_TRUE(b.expired());
}

TEST(keyed_gates, decision_85_a_held_one_is_forgotten_last) {
    keyed_gates<retry_budget> gates([] { return std::make_shared<retry_budget>(); }, 2);
    auto const held = gates.at("a");
    for (int i = 0; i != 1000; ++i)
        (void)gates.at("peer " + std::to_string(i));
    EXPECT_EQ(gates.at("a"), held);
    EXPECT_EQ(gates.forgotten_in_use(), 0u);
    auto const other = gates.at("b");
    auto const third = gates.at("c");
    EXPECT_EQ(gates.size(), 2u);
    EXPECT_EQ(gates.forgotten_in_use(), 1u);
    EXPECT_EQ(gates.at("b"), other);
    EXPECT_EQ(gates.at("c"), third);
    EXPECT_EQ(held->balance(time_point()), 1) << "whoever holds one keeps it";
    EXPECT_NE(gates.at("a"), held);
}

TEST(keyed_gates, decision_85_other_keys_do_not_drive_out_open_breakers) {
    for (int const open_ones : {1, 50, 63, 64, 99}) {
        SCOPED_TRACE(open_ones);
        keyed_gates<circuit_breaker> gates([] { return std::make_shared<circuit_breaker>(); }, 100);
        for (int i = 0; i != open_ones; ++i)
            gates.at("down " + std::to_string(i))->isolate();
        for (int i = 0; i != 5000; ++i)
            (void)gates.at("peer " + std::to_string(i))->admit(1, time_point());
        EXPECT_EQ(gates.size(), 100u);
        EXPECT_EQ(gates.forgotten_in_use(), 0u);
        for (int i = 0; i != open_ones; ++i)
            EXPECT_EQ(gates.at("down " + std::to_string(i))->state(time_point()), breaker_state::isolated) << i;
    }
}

TEST(keyed_gates, decision_85_a_breaker_counts_as_open_until_a_probe_has_closed_it) {
    keyed_gates<circuit_breaker> gates(
        [] {
            return std::make_shared<circuit_breaker>(circuit_breaker_options{
                .consecutive = 1, .open_for = std::chrono::nanoseconds(1), .probes = 1});
        },
        10);
    time_point const now = std::chrono::steady_clock::now();
    gates.at("down")->on_end(failure(failure_kind::timeout, now));
    for (int i = 0; i != 100; ++i)
        (void)gates.at("peer " + std::to_string(i));
    std::weak_ptr<circuit_breaker> const down = gates.at("down");
    EXPECT_EQ(down.lock()->state(now + std::chrono::seconds(1)), breaker_state::half_open);
    down.lock()->reset();
    for (int i = 0; i != 100; ++i)
        (void)gates.at("peer " + std::to_string(i));
    EXPECT_TRUE(down.expired());
    EXPECT_EQ(gates.forgotten_in_use(), 0u);
}

// Each has heard of a success, so that none is idle.
TEST(keyed_gates, decision_85_closed_breakers_do_not_drive_out_an_open_one) {
    keyed_gates<circuit_breaker> gates([] { return std::make_shared<circuit_breaker>(); }, 100);
    gates.at("down")->isolate();
    for (int i = 0; i != 1000; ++i)
        gates.at("peer " + std::to_string(i))->on_end(success(std::chrono::steady_clock::now()));
    EXPECT_EQ(gates.at("down")->state(time_point()), breaker_state::isolated);
    EXPECT_EQ(gates.forgotten_in_use(), 0u);
}

TEST(keyed_gates, decision_85_if_all_are_in_use_the_oldest_is_forgotten_and_counted) {
    keyed_gates<circuit_breaker> gates([] { return std::make_shared<circuit_breaker>(); }, 10);
    std::vector<std::weak_ptr<circuit_breaker>> down;
    for (int i = 0; i != 30; ++i) {
        auto const breaker = gates.at("down " + std::to_string(i));
        breaker->isolate();
        down.push_back(breaker);
        EXPECT_EQ(gates.forgotten_in_use(), i < 10 ? 0u : static_cast<unsigned>(i - 9));
        for (int k = 0; k <= i; ++k)
            EXPECT_EQ(down[static_cast<std::size_t>(k)].expired(), k + 10 <= i) << k << " of " << i;
    }
    EXPECT_EQ(gates.size(), 10u);
}

TEST(keyed_gates, decision_85_what_was_in_use_and_is_idle_now_is_forgotten_in_its_turn) {
    keyed_gates<retry_budget> gates([] { return std::make_shared<retry_budget>(); }, 1000);
    {
        std::vector<std::shared_ptr<retry_budget>> all;
        for (int i = 0; i != 1000; ++i)
            all.push_back(gates.at("burst " + std::to_string(i)));
        for (int i = 0; i != 20; ++i)
            (void)gates.at("more " + std::to_string(i));
        EXPECT_EQ(gates.size(), 1000u);
    }
    std::weak_ptr<retry_budget> const a = gates.at("a"), b = gates.at("b");
    for (int i = 0; i != 900; ++i) {
        (void)gates.at("new " + std::to_string(i));
        (void)gates.at("a");
        (void)gates.at("b");
    }
    EXPECT_FALSE(a.expired());
    EXPECT_FALSE(b.expired());
    int left = 0;
    gates.for_each([&](std::string const& key, retry_budget&) { left += key.starts_with("burst"); });
    EXPECT_LT(left, 120) << "the old ones go, not those that are asked for";
}

/// Counts how often it is asked.
struct counted_gate {
    bool is_idle(time_point) const noexcept {
        ++looks;
        return idle;
    }
    static inline int looks = 0;
    static inline bool idle = false;
};

TEST(keyed_gates, decision_85_a_new_key_looks_at_a_bounded_number) {
    constexpr std::size_t greatest = 5000;
    keyed_gates<counted_gate> gates([] { return std::make_shared<counted_gate>(); }, greatest);
    for (bool const idle : {true, false, true}) {
        counted_gate::idle = idle;
        for (std::size_t i = 0; i != 2 * greatest; ++i) {
            counted_gate::looks = 0;
            (void)gates.at((idle ? "a " : "b ") + std::to_string(i));
            ASSERT_LE(counted_gate::looks, 64 + 64 + 1) << i;
            counted_gate::looks = 0;
            (void)gates.at((idle ? "a " : "b ") + std::to_string(i));
            ASSERT_EQ(counted_gate::looks, 0) << "a known key asks nothing";
        }
    }
}

TEST(keyed_gates, decision_85_a_gate_without_the_question_is_idle_unless_held) {
    keyed_gates<int> numbers([] { return std::make_shared<int>(1); }, 2);
    auto const held = numbers.at("a");
    for (int i = 0; i != 10; ++i)
        (void)numbers.at(std::to_string(i));
    EXPECT_EQ(numbers.at("a"), held);
    EXPECT_EQ(numbers.size(), 2u);
    EXPECT_EQ(numbers.forgotten_in_use(), 0u);
}

TEST(keyed_gates, decision_85_the_newest_is_never_forgotten) {
    keyed_gates<counted_gate> gates([] { return std::make_shared<counted_gate>(); }, 1);
    for (bool const idle : {false, true}) {
        counted_gate::idle = idle;
        for (int i = 0; i != 10; ++i) {
            std::weak_ptr<counted_gate> const made = gates.at(std::to_string(i));
            EXPECT_FALSE(made.expired());
            EXPECT_EQ(gates.size(), 1u);
        }
    }
}

TEST(keyed_gates, decision_85_all_are_visited_the_candidates_first) {
    keyed_gates<retry_budget> gates([] { return std::make_shared<retry_budget>(); }, 10);
    auto const a = gates.at("a"), b = gates.at("b");
    (void)gates.at("c");
    (void)gates.at("d");
    EXPECT_THAT(keys_of(gates), elements("d", "c", "b", "a"));
    (void)gates.at("a");
    EXPECT_THAT(keys_of(gates), elements("a", "d", "c", "b"));
    EXPECT_EQ(gates.size(), 4u);
}

TEST(keyed_gates, decision_85_a_visit_makes_none_count_as_held) {
    keyed_gates<retry_budget> gates([] { return std::make_shared<retry_budget>(); }, 3);
    auto const held = gates.at("held");
    (void)gates.at("a");
    int visited = 0;
    gates.for_each([&](std::string const&, retry_budget&) {
        ++visited;
        for (int i = 0; i != 10; ++i)
            (void)gates.at(std::to_string(i));
    });
    EXPECT_EQ(visited, 2) << "the one that is visited is held";
    EXPECT_EQ(gates.at("held"), held);
}

TEST(keyed_gates, decision_85_two_threads_ask_while_breakers_open_and_close) {
    keyed_gates<circuit_breaker> gates([] { return std::make_shared<circuit_breaker>(); }, 20);
    for (int i = 0; i != 5; ++i)
        gates.at("down " + std::to_string(i))->isolate();
    auto const work = [&](std::string const& name) {
        for (int i = 0; i != 3000; ++i) {
            auto const breaker = gates.at(name + std::to_string(i % 100));
            breaker->isolate();
            (void)gates.at("down " + std::to_string(i % 5));
            breaker->reset();
        }
    };
    std::thread other(work, "other ");
    work("this ");
    other.join();
    EXPECT_EQ(gates.size(), 20u);
    EXPECT_EQ(gates.forgotten_in_use(), 0u);
    for (int i = 0; i != 5; ++i)
        EXPECT_EQ(gates.at("down " + std::to_string(i))->state(time_point()), breaker_state::isolated);
}

TEST(keyed_gates, memory_is_bounded_whatever_is_asked_for) {
    keyed_gates<retry_budget> gates([] { return std::make_shared<retry_budget>(); }, 10);
    for (int i = 0; i < 1000; ++i)
        (void)gates.at("peer " + std::to_string(i));
    EXPECT_EQ(gates.size(), 10u);
}

TEST(keyed_gates, both_making_and_looking_may_ask_for_gates) {
    keyed_gates<retry_budget>* self = nullptr;
    bool asked = false;
    keyed_gates<retry_budget> gates([&] {
        if (!std::exchange(asked, true))
            (void)self->at("b"); // and for the same one
        return std::make_shared<retry_budget>();
    });
    self = &gates;
    auto const b = gates.at("b");
    EXPECT_EQ(gates.at("b"), b);
    EXPECT_EQ(gates.size(), 1u);
    gates.for_each([&](std::string const& key, retry_budget&) { (void)gates.at(key + "'"); });
    EXPECT_EQ(gates.size(), 2u);
}

// One that logs its end, say, with how many there are.
TEST(keyed_gates, what_is_forgotten_may_ask_for_gates_as_it_goes) {
    struct last_words final : retry_gate {
        explicit last_words(std::function<void()> f)
            : say(std::move(f)) {}
        ~last_words() override { say(); }
        std::function<void()> say;
    };
    std::vector<std::size_t> sizes;
    keyed_gates<last_words>* self = nullptr;
    keyed_gates<last_words> gates(
        [&] { return std::make_shared<last_words>([&] { sizes.push_back(self ? self->size() : 0); }); }, 1);
    self = &gates;
    (void)gates.at("a");
    (void)gates.at("b");
    (void)gates.at("c");
    EXPECT_THAT(sizes, elements(1, 1));
    self = nullptr;
}

TEST(keyed_gates, what_making_throws_leaves_no_trace) {
    keyed_gates<retry_budget> gates(
        []() -> std::shared_ptr<retry_budget> { throw std::runtime_error("none"); });
    EXPECT_THROW((void)gates.at("a"), std::runtime_error);
    EXPECT_EQ(gates.size(), 0u);
}

TEST(keyed_gates, a_breaker_for_each_peer) {
    keyed_gates<circuit_breaker> breakers([] { return std::make_shared<circuit_breaker>(); });
    breakers.at("a")->isolate();
    EXPECT_EQ(breakers.at("a")->state(time_point()), breaker_state::isolated);
    EXPECT_EQ(breakers.at("b")->state(time_point()), breaker_state::closed);
}

TEST(keyed_gates, decision_67_a_breaker_may_tell_its_key) {
    std::vector<std::string> told;
    keyed_gates<circuit_breaker> breakers(
        [&](std::string_view key) {
            auto const tell = [&told, key = std::string(key)](breaker_state, breaker_state to, time_point) {
                told.push_back(key + " is " + std::string(to_string(to)));
            };
            return std::make_shared<circuit_breaker>(circuit_breaker_options{.on_change = tell});
        },
        2);
    breakers.at("a")->isolate();
    breakers.at("b")->isolate();
    breakers.at("a")->reset();
    EXPECT_THAT(told, elements("a is isolated", "b is isolated", "a is closed"));
}

TEST(keyed_gates, decision_04_refuses_nonsense) {
    auto const make = [] { return std::make_shared<retry_budget>(); };
    EXPECT_THAT(calling([&] { keyed_gates<retry_budget>(make, 0); }),
                refuses_option("keyed_gates.greatest", "0", "must be positive"));
    EXPECT_THAT(calling([&] { keyed_gates<retry_budget>(nullptr); }),
                refuses_option("keyed_gates.make", "empty", "must be a callable"));
    std::function<std::shared_ptr<retry_budget>(std::string_view)> const empty;
    EXPECT_THAT(calling([&] { keyed_gates<retry_budget>{empty}; }),
                refuses_option("keyed_gates.make", "empty", "must be a callable"));
    EXPECT_THAT(calling([&] { keyed_gates<retry_budget>([&](std::string_view) { return make(); }, 0); }),
                refuses_option("keyed_gates.greatest", "0", "must be positive"));
    keyed_gates<retry_budget> null([] { return std::shared_ptr<retry_budget>(); });
    EXPECT_THAT(calling([&] { (void)null.at("a"); }),
                refuses_option("keyed_gates.make", "null", "must make a gate"));
}

} // namespace
} // namespace asio_retry::test
