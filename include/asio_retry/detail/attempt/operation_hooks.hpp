#pragma once

#include <asio_retry/detail/policy/config.hpp>
#include <asio_retry/detail/policy/machine_observer.hpp>
#include <asio_retry/duration.hpp>
#include <asio_retry/interruption.hpp>
#include <asio_retry/retry_event.hpp>
#include <asio_retry/retry_machine.hpp>
#include <asio_retry/stop_reason.hpp>
#include <asio_retry/verdict.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <utility>

namespace asio_retry::detail {

template <typename Hook>
inline constexpr bool is_no_hook = std::is_same_v<Hook, std::nullptr_t>;

template <typename Hook>
inline constexpr bool is_hook_of_retry = is_no_hook<Hook> || std::is_invocable_v<Hook&, retry_event const&>;

template <typename Hook>
inline constexpr bool is_hook_of_end = is_hook_of_retry<Hook> || std::is_invocable_v<Hook&, stop_reason>;

/// The base of observers that implement only hooks.
class hooks_observer : public machine_observer {
public:
    void on_start(time_point) noexcept override {}
    void on_attempt(std::uint64_t, time_point) noexcept override {}
    void on_failure(verdict const&, interruption, time_point) noexcept override {}
    void on_wait(duration, time_point) noexcept override {}
    void on_wait_over(time_point) noexcept override {}
    void on_end(stop_reason, time_point) noexcept override {}

protected:
    ~hooks_observer() = default;
};

/// Calls the hooks of one operation. A nullptr is no hook.
template <typename OnRetry, typename OnEnd>
class operation_hooks final : public hooks_observer {
public:
    operation_hooks(OnRetry retry_hook, OnEnd end_hook)
        : on_retry_(std::move(retry_hook))
        , on_end_(std::move(end_hook)) {}

private:
    void call_on_retry(retry_event const& event) override {
        if constexpr (std::is_invocable_v<OnRetry&, retry_event const&>)
            std::invoke(on_retry_, event);
    }
    void call_on_end(retry_event const& event) override {
        if constexpr (std::is_invocable_v<OnEnd&, retry_event const&>)
            std::invoke(on_end_, event);
        else if constexpr (std::is_invocable_v<OnEnd&, stop_reason>)
            std::invoke(on_end_, event.reason);
    }

    ASIO_RETRY_NO_UNIQUE_ADDRESS OnRetry on_retry_;
    ASIO_RETRY_NO_UNIQUE_ADDRESS OnEnd on_end_;
};

/// Adds the observer of a wrapper when `prepare` ends, even by an exception, so that the observer hears the
/// end.
class observation_at_exit {
public:
    observation_at_exit(retry_machine& machine, machine_observer& observer, bool has_hooks = false) noexcept
        : machine_(machine)
        , observer_(observer)
        , has_hooks_(has_hooks) {}
    ~observation_at_exit() { machine_.observe(observer_, has_hooks_); }
    observation_at_exit(observation_at_exit const&) = delete;
    observation_at_exit& operator=(observation_at_exit const&) = delete;

private:
    retry_machine& machine_;
    machine_observer& observer_;
    bool has_hooks_;
};

} // namespace asio_retry::detail
