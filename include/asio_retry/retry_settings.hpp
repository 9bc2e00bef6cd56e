#pragma once

#include <asio_retry/backoff.hpp>
#include <asio_retry/detail/policy/config.hpp>
#include <asio_retry/detail/policy/shared_function.hpp>
#include <asio_retry/duration.hpp>
#include <asio_retry/jitter.hpp>
#include <asio_retry/retry_event.hpp>
#include <asio_retry/retry_gate.hpp>

#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <variant>

namespace asio_retry {

/// See `any_failure`.
struct any_failure_t {
    explicit any_failure_t() = default;
    constexpr bool operator()(error_code const&) const noexcept { return true; }
    constexpr bool operator()(std::exception_ptr const&) const noexcept { return true; }
};

/// For `retry_if`: whatever an attempt fails with, `operation_aborted` too.
inline constexpr any_failure_t any_failure{};

/// The fields of a retry_policy, to look at. The initial values are those of the default policy.
struct retry_settings {
    using code_predicate = detail::shared_function<bool(error_code const&)>;
    using exception_predicate = detail::shared_function<bool(std::exception_ptr const&)>;
    using hook = detail::shared_function<void(retry_event const&)>;

    ASIO_RETRY_DECL retry_settings();
    ASIO_RETRY_DECL retry_settings(retry_settings const&);
    ASIO_RETRY_DECL ~retry_settings();
    retry_settings& operator=(retry_settings const&) = delete;

    asio_retry::backoff backoff;
    asio_retry::jitter jitter;
    std::optional<std::uint64_t> max_attempts = 3; ///< none: unlimited
    std::optional<duration> max_elapsed;
    std::optional<duration> attempt_timeout;
    std::optional<duration> total_timeout;
    std::optional<time_point> deadline;
    std::optional<duration> reset_after;
    bool clamp = false;
    bool allow_total_cancellation = false;
    bool retry_when_nested = false;
    bool is_nested = false; ///< by `nested_in`
    std::variant<std::monostate, code_predicate, exception_predicate, any_failure_t> retry_if;
    hook on_retry;
    hook on_give_up;
    std::shared_ptr<retry_gate> gate;

    /// Whether a running attempt may have to be cut short.
    bool limits_attempts() const noexcept { return attempt_timeout || total_timeout || deadline; }

    /// Whether the decision depends on how long the operation has taken.
    bool measures_time() const noexcept { return max_elapsed || reset_after || limits_attempts(); }
};

} // namespace asio_retry
