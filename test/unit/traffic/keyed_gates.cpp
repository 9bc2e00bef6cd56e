#include <asio_retry/traffic/keyed_gates.hpp>

#include <asio_retry/traffic/circuit_breaker.hpp>
#include <asio_retry/traffic/retry_budget.hpp>

#include "support/attempt_ends.hpp"
#include "support/elements.hpp"
#include "support/refuses.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
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
    auto const held = gates.at("c");
    (void)gates.at("d");
    (void)gates.at("e");
    EXPECT_EQ(held->balance(time_point()), 1) << "whoever holds one keeps it";
    EXPECT_NE(gates.at("c"), held);
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
