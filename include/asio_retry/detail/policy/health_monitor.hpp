#pragma once

#include <asio_retry/detail/policy/nested_marks.hpp>
#include <asio_retry/detail/policy/shared_value.hpp>
#include <asio_retry/pushback.hpp>

#include <cstdint>

namespace asio_retry::detail {

/// Receives the marks of an attempt: that it works, that it has sent something, and the server's wishes.
///
/// The members of `attempt` call it.
class health_monitor {
public:
    /// See `attempt::mark_healthy`.
    virtual void on_healthy() noexcept = 0;

    /// See `attempt::mark_sent`.
    virtual void on_sent() noexcept {}

    /// See `attempt::progress`.
    virtual void on_progress() noexcept {}

    /// See `attempt::heed`.
    virtual void on_pushback(pushback) noexcept {}

    /// See `attempt::operation`.
    virtual std::uint64_t operation_number() const noexcept { return 0; }

    /// The marks for a nested retry; null if nothing would read them.
    virtual shared_value<nested_marks> marks() { return {}; }

protected:
    ~health_monitor() = default;
};

} // namespace asio_retry::detail
