#pragma once

#include <asio_retry/error.hpp>
#include <asio_retry/retry_gate.hpp>

#include <cstdint>
#include <string_view>

namespace asio_retry::test {

/// A gate with a name, which grants no retry, or refuses attempts from a number on, if it is told to.
struct named_gate final : retry_gate {
    explicit named_gate(std::string_view given = "my_gate")
        : own_name(given) {}
    bool acquire(failure_kind, time_point) noexcept override { return grants; }
    admission admit(std::uint64_t number, time_point now) noexcept override {
        return number < refused_from ? admission(now) : admission(time_point::max(), error::circuit_open);
    }
    std::string_view name() const noexcept override { return own_name; }

    std::string_view const own_name;
    bool grants = true;
    std::uint64_t refused_from = 99;
};

} // namespace asio_retry::test
