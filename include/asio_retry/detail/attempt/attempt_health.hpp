#pragma once

#include <asio_retry/attempt.hpp>
#include <asio_retry/pushback.hpp>
#include <asio_retry/retry_machine.hpp>

#include <cstdint>
#include <memory>
#include <type_traits>

namespace asio_retry::detail {

/// Gives an operation its attempt object, through which it marks health by `Clock` and reports what the server
/// said.
template <typename Clock>
class attempt_health final : health_monitor {
public:
    attempt_health(retry_machine& machine, Clock& clock) noexcept
        : machine_(machine)
        , clock_(clock) {}

    /// The operation may refer to it until the attempt ends: a coroutine begins after its call has returned.
    attempt const& monitored(attempt const& which) noexcept {
        current_ = which;
        current_.monitor = this;
        return current_;
    }

private:
    void on_healthy() noexcept override {
        if (machine_.measures_time()) // otherwise nothing depends on it, and there may be no scheduler yet
            machine_.on_healthy(clock_.now());
    }
    void on_sent() noexcept override { machine_.on_sent(); }
    void on_progress() noexcept override {
        if (machine_.hears_attempt())
            machine_.on_progress(clock_.now());
    }
    void on_pushback(pushback said) noexcept override { machine_.heed(said); }
    std::uint64_t operation_number() const noexcept override { return machine_.operation_number(); }
    detail::shared_value<nested_marks> marks() override { return machine_.marks_of_nested(); }

    retry_machine& machine_;
    Clock& clock_;
    attempt current_;
};

/// An operation that takes no attempt has nothing to mark.
template <typename Clock>
struct no_attempt_health {
    no_attempt_health(retry_machine&, Clock&) noexcept {}
    static attempt monitored(attempt which) noexcept { return which; }
};

template <typename Form, typename Clock>
using attempt_health_of =
    std::conditional_t<Form::takes_attempt, attempt_health<Clock>, no_attempt_health<Clock>>;

} // namespace asio_retry::detail
