#include <asio_retry/retry_gate.hpp>

#include "support/elements.hpp"
#include "support/gate_values.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;
using testing::IsEmpty;

/// Writes down what it is told, under its name.
struct telling_gate final : retry_gate {
    telling_gate(std::string n, std::vector<std::string>& to)
        : name(std::move(n))
        , told(to) {}

    bool acquire(failure_kind kind, time_point now) noexcept override {
        EXPECT_EQ(kind, failure_kind::timeout);
        EXPECT_EQ(now, noon);
        told.push_back(name + " acquire");
        return grants;
    }
    void give_back(failure_kind kind) noexcept override {
        EXPECT_EQ(kind, failure_kind::timeout);
        told.push_back(name + " give_back");
    }
    admission admit(std::uint64_t number, time_point now) noexcept override {
        told.push_back(name + " admit " + std::to_string(number));
        return refuses_until ? admission(*refuses_until, error::cooling_down) : admission(now);
    }
    void on_end(attempt_end const& end) noexcept override {
        EXPECT_EQ(end.now, end.outcome == attempt_end::how::abandoned ? noon : time_point());
        told.push_back(name + (end.outcome == attempt_end::how::abandoned ? " abandoned " : " ended ") +
                       std::to_string(end.number));
    }
    bool measures_time() const noexcept override { return measures; }

    std::string name;
    std::vector<std::string>& told;
    bool grants = true;
    bool measures = false;
    std::optional<time_point> refuses_until;
};

struct three_gates {
    std::vector<std::string> told;
    std::shared_ptr<telling_gate> a = std::make_shared<telling_gate>("a", told);
    std::shared_ptr<telling_gate> b = std::make_shared<telling_gate>("b", told);
    std::shared_ptr<telling_gate> c = std::make_shared<telling_gate>("c", told);
    std::shared_ptr<retry_gate> all = all_gates({a, b, c});
};

TEST(retry_gate, is_destroyed_through_its_interface) {
    struct marking_gate final : retry_gate {
        explicit marking_gate(bool& m)
            : destroyed(m) {}
        ~marking_gate() override { destroyed = true; }
        bool& destroyed;
    };
    bool destroyed = false;
    std::unique_ptr<retry_gate> gate = std::make_unique<marking_gate>(destroyed);
    gate.reset();
    EXPECT_TRUE(destroyed);
}

// A gate overrides what it is about; the rest refuses nothing and asks for nothing.
TEST(retry_gate, does_nothing_by_default) {
    retry_gate gate;
    EXPECT_TRUE(gate.acquire(failure_kind::transient, noon));
    gate.give_back(failure_kind::transient);
    EXPECT_EQ(gate.admit(1, noon).until, noon);
    gate.on_end(attempt_end());
    EXPECT_TRUE(gate.measures_time());
}

TEST(admission, is_made_of_a_time_alone_or_with_a_code) {
    admission const plain = noon;
    EXPECT_EQ(plain.until, noon);
    EXPECT_EQ(plain.refusal, error::attempt_refused);
    EXPECT_EQ(admission(noon, error::circuit_open).refusal, error::circuit_open);
}

TEST(all_gates, asks_in_order) {
    three_gates gates;
    EXPECT_TRUE(gates.all->acquire(failure_kind::timeout, noon));
    EXPECT_EQ(gates.all->admit(2, noon).until, noon);
    attempt_end end;
    end.number = 2;
    gates.all->on_end(end);
    gates.all->give_back(failure_kind::timeout);
    EXPECT_THAT(gates.told,
                elements("a acquire", "b acquire", "c acquire", "a admit 2", "b admit 2", "c admit 2",
                         "a ended 2", "b ended 2", "c ended 2", "a give_back", "b give_back", "c give_back"));
}

TEST(all_gates, decision_26_gives_back_to_the_earlier_ones_what_a_later_one_refuses) {
    three_gates gates;
    gates.c->grants = false;
    EXPECT_FALSE(gates.all->acquire(failure_kind::timeout, noon));
    EXPECT_THAT(gates.told, elements("a acquire", "b acquire", "c acquire", "b give_back", "a give_back"));

    gates.told.clear();
    gates.a->grants = false;
    EXPECT_FALSE(gates.all->acquire(failure_kind::timeout, noon));
    EXPECT_THAT(gates.told, elements("a acquire"));
}

TEST(all_gates, an_attempt_that_a_later_one_refuses_was_abandoned_in_the_earlier_ones) {
    three_gates gates;
    gates.c->refuses_until = noon + 3s;
    admission const answer = gates.all->admit(7, noon);
    EXPECT_EQ(answer.until, noon + 3s);
    EXPECT_EQ(answer.refusal, error::cooling_down);
    EXPECT_THAT(gates.told, elements("a admit 7", "b admit 7", "c admit 7", "b abandoned 7", "a abandoned 7"));

    gates.told.clear();
    gates.a->refuses_until = time_point::max();
    EXPECT_EQ(gates.all->admit(7, noon).until, time_point::max());
    EXPECT_THAT(gates.told, elements("a admit 7"));
}

TEST(all_gates, measures_time_if_one_does) {
    three_gates gates;
    EXPECT_FALSE(gates.all->measures_time());
    gates.c->measures = true;
    EXPECT_TRUE(gates.all->measures_time());
}

TEST(all_gates, leaves_null_pointers_out) {
    three_gates gates;
    auto const one = all_gates({nullptr, gates.b, nullptr});
    EXPECT_TRUE(one->acquire(failure_kind::timeout, noon));
    EXPECT_THAT(gates.told, elements("b acquire"));
    EXPECT_EQ(all_gates({nullptr, nullptr}), nullptr) << "a policy without a gate";
    EXPECT_EQ(all_gates({}), nullptr);
}

TEST(all_gates, may_be_nested) {
    three_gates gates;
    gates.c->grants = false;
    auto const nested = all_gates({all_gates({gates.a, gates.b}), gates.c});
    EXPECT_FALSE(nested->acquire(failure_kind::timeout, noon));
    EXPECT_THAT(gates.told, elements("a acquire", "b acquire", "c acquire", "b give_back", "a give_back"));
}

} // namespace
} // namespace asio_retry::test
