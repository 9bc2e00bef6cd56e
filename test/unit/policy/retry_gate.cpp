#include <asio_retry/retry_gate.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

namespace asio_retry::test {
namespace {

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

} // namespace
} // namespace asio_retry::test
