#include <asio_retry/retry_gate.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

namespace asio_retry::test {
namespace {

struct counting_gate final : retry_gate {
    bool acquire() noexcept override { return true; }
    void give_back() noexcept override { ++given_back; }
    int given_back = 0;
};

TEST(retry_gate, is_destroyed_through_its_interface) {
    struct marking_gate final : retry_gate {
        explicit marking_gate(bool& m)
            : destroyed(m) {}
        ~marking_gate() override { destroyed = true; }
        bool acquire() noexcept override { return true; }
        void give_back() noexcept override {}
        bool& destroyed;
    };
    bool destroyed = false;
    std::unique_ptr<retry_gate> gate = std::make_unique<marking_gate>(destroyed);
    gate.reset();
    EXPECT_TRUE(destroyed);
}

TEST(retry_lease, gives_back_what_was_not_spent) {
    counting_gate gate;
    {
        retry_lease const lease(gate);
    }
    EXPECT_EQ(gate.given_back, 1);
}

TEST(retry_lease, keeps_what_was_spent) {
    counting_gate gate;
    {
        retry_lease lease(gate);
        lease.spend();
        lease.give_back();
    }
    EXPECT_EQ(gate.given_back, 0);
}

TEST(retry_lease, gives_back_once) {
    counting_gate gate;
    {
        retry_lease lease(gate);
        lease.give_back();
        EXPECT_EQ(gate.given_back, 1);
        lease.give_back();
    }
    EXPECT_EQ(gate.given_back, 1);
}

TEST(retry_lease, moves_its_claim) {
    static_assert(!std::is_copy_constructible_v<retry_lease> && !std::is_copy_assignable_v<retry_lease>);
    counting_gate gate;
    std::optional<retry_lease> from(std::in_place, gate);
    retry_lease to = std::move(*from);
    from.reset();
    EXPECT_EQ(gate.given_back, 0);
    to.give_back();
    EXPECT_EQ(gate.given_back, 1);
}

TEST(retry_lease, gives_back_the_claim_that_it_is_assigned_over) {
    counting_gate first, second;
    retry_lease lease(first);
    lease = retry_lease(second);
    EXPECT_EQ(first.given_back, 1);
    EXPECT_EQ(second.given_back, 0);
    lease = retry_lease();
    EXPECT_EQ(second.given_back, 1);
}

} // namespace
} // namespace asio_retry::test
