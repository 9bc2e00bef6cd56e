#pragma once

#include <asio_retry/detail/time/wait_node.hpp>

#include <functional>

namespace asio_retry::test {

/// A wait that calls what a test wants.
struct test_wait final : detail::wait_node {
    std::function<void()> expired;
    std::function<void()> shut_down;
    bool has_memory = true;

private:
    bool on_expiry() override {
        if (expired)
            expired();
        return has_memory;
    }
    void on_shutdown() noexcept override {
        if (shut_down)
            shut_down();
    }
};

} // namespace asio_retry::test
