#pragma once

#include <asio_retry/attempt.hpp>
#include <asio_retry/detail/policy/health_monitor.hpp>
#include <asio_retry/pushback.hpp>

#include <cstdint>

namespace asio_retry::detail {

/// The attempt object of a call on another thread. It records the reports of the call, and `pass_on` gives them
/// to the operation.
template <bool Takes>
class noted_marks final : health_monitor {
public:
    explicit noted_marks(attempt const& which)
        : to_(which)
        , noted_(which)
        , operation_(which.operation())
        , nested_(which.monitor ? which.monitor->marks() : shared_value<nested_marks>()) {
        noted_.monitor = this;
    }
    noted_marks(noted_marks const&) = delete;
    noted_marks& operator=(noted_marks const&) = delete;

    /// Call it where the operation runs.
    void mark_sent() const noexcept { to_.mark_sent(); }

    attempt const& get() const noexcept { return noted_; }

    /// Call it where the operation runs, when the call has returned and before the attempt ends.
    void pass_on() const noexcept {
        if (healthy_)
            to_.mark_healthy();
        if (said_)
            to_.heed(said_);
    }

private:
    void on_healthy() noexcept override { healthy_ = true; }
    void on_pushback(pushback said) noexcept override { said_ = said; }
    std::uint64_t operation_number() const noexcept override { return operation_; }
    shared_value<nested_marks> marks() override { return nested_; }

    attempt const to_;
    attempt noted_;
    std::uint64_t const operation_;
    shared_value<nested_marks> const nested_;
    bool healthy_ = false;
    pushback said_;
};

/// A call that takes no attempt reports nothing.
template <>
class noted_marks<false> {
public:
    explicit noted_marks(attempt const&) noexcept {}
    void mark_sent() const noexcept {}
    attempt const& get() const noexcept { return any_; }
    void pass_on() const noexcept {}

private:
    attempt any_;
};

} // namespace asio_retry::detail
