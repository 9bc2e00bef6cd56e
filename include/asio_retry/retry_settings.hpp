#pragma once

#include <asio_retry/attempt.hpp>
#include <asio_retry/backoff.hpp>
#include <asio_retry/detail/policy/config.hpp>
#include <asio_retry/detail/policy/shared.hpp>
#include <asio_retry/duration.hpp>
#include <asio_retry/failure_class.hpp>
#include <asio_retry/jitter.hpp>
#include <asio_retry/pushback.hpp>
#include <asio_retry/retry_event.hpp>

#include <cstdint>
#include <exception>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace asio_retry {
class retry_gate;
class retry_observer;
} // namespace asio_retry

namespace asio_retry::detail {

/// The type of `any_failure`.
struct any_failure_t {
    explicit any_failure_t() = default;
    /// Always true, for every failure.
    constexpr bool operator()(error_code const&) const noexcept { return true; }
    /// Always true, for every exception.
    constexpr bool operator()(std::exception_ptr const&) const noexcept { return true; }
};

} // namespace asio_retry::detail

namespace asio_retry {

/// For `retry_if`: retries every failure, `operation_aborted` and certificates too.
inline constexpr detail::any_failure_t any_failure{};

/// Who comes first in the queue of a gate.
enum class request_priority : unsigned char {
    low,
    normal, ///< the default
    high,
};

/// "low", "normal" or "high".
ASIO_RETRY_DECL std::string_view to_string(request_priority rank) noexcept;
/// Writes "low", "normal" or "high".
ASIO_RETRY_DECL std::ostream& operator<<(std::ostream& out, request_priority rank);

/// The fields of a retry_policy, for reading. The initial values are the default policy's.
struct retry_settings {
    /// A predicate of `retry_if` that takes an error code.
    using code_predicate = detail::shared_function<bool(error_code const&)>;
    /// A predicate that takes an exception.
    using exception_predicate = detail::shared_function<bool(std::exception_ptr const&)>;
    /// A predicate that takes an event.
    using event_predicate = detail::shared_function<bool(retry_event const&)>;
    /// A predicate about exceptions of one type: no answer for any other failure.
    using typed_predicate = detail::shared_function<std::optional<bool>(std::exception_ptr const&)>;
    /// The predicate of `retry_if`, or of a rule: one of these. None: the default rule.
    struct predicate {
        code_predicate by_code;           ///< takes an error code
        exception_predicate by_exception; ///< takes an exception
        event_predicate by_event;         ///< takes an event
        typed_predicate by_type;          ///< takes exceptions of one type
        std::uint8_t kinds = 0;           ///< a set of kinds, with a bit for each
        bool any = false;                 ///< whether it is `any_failure`

        /// Whether there is a predicate.
        explicit operator bool() const noexcept {
            return by_code || by_exception || by_event || by_type || kinds != 0 || any;
        }

        /// Whether the set has this kind.
        bool has(failure_kind kind) const noexcept { return (kinds >> static_cast<unsigned>(kind) & 1u) != 0; }
    };
    /// A hook of a policy, which receives the event.
    using hook = detail::shared_function<void(retry_event const&)>;
    /// The function of `retry_policy::classify`.
    using classifier = detail::shared_function<failure_class(error_code const&)>;

    /// One rule of `when` or `max_attempts_when`.
    struct rule {
        predicate matches;                          ///< the failures that it is for
        std::optional<asio_retry::backoff> backoff; ///< none: a limit
        std::uint64_t max_attempts = 0;             ///< greatest number of such failures; of a limit
    };

    ASIO_RETRY_DECL retry_settings();
    /// A copy of settings shares the callables.
    ASIO_RETRY_DECL retry_settings(retry_settings const&);
    ASIO_RETRY_DECL ~retry_settings();
    retry_settings& operator=(retry_settings const&) = delete;

    asio_retry::backoff backoff;                          ///< `exponential(100ms).cap(20s)`
    asio_retry::jitter jitter;                            ///< `full_jitter()`; see `has_jitter`
    bool has_jitter = false;                              ///< whether `jitter` was called; see `jitter_of`
    std::optional<std::uint64_t> max_attempts = 3;        ///< none: unlimited
    std::optional<duration> max_elapsed;                  ///< none: no limit, as for the next fields
    std::optional<duration> max_waited;                   ///< limit of all waits together
    std::optional<duration> attempt_timeout;              ///< limit of one attempt
    std::optional<duration> setup_timeout;                ///< limit of an attempt that is not healthy
    std::optional<duration> idle_timeout;                 ///< limit of an attempt that is silent
    std::optional<duration> total_timeout;                ///< limit of the operation
    std::optional<time_point> deadline;                   ///< when the operation ends at the latest
    std::optional<duration> reset_after;                  ///< none: a failure never counts as the first
    bool clamp = false;                                   ///< whether the last wait is cut short
    bool deliver_at_once = false;                         ///< without waiting for a cancelled attempt
    bool allow_total_cancellation = false;                ///< after a failure too
    bool retry_when_nested = false;                       ///< more than one attempt
    bool is_nested = false;                               ///< whether `nested_in` was called
    bool inherits_deadline = false;                       ///< `deadline` is that of the attempt around it
    predicate retry_if;                                   ///< nothing: as by default
    std::vector<rule> rules;                              ///< the rules in the order in which they were given
    bool retry_sent = true;                               ///< whether to retry what may have been sent
    classifier classify;                                  ///< none: the function of that name
    duration pushback_limit = std::chrono::minutes(1);    ///< the greatest delay that a server may ask for
    over_limit over_pushback_limit = over_limit::stop;    ///< if it asks for more
    double pushback_spread = 0.1;                         ///< the share added at random
    bool wait_when_refused = false;                       ///< whether to wait and ask a refusing gate again
    request_priority priority = request_priority::normal; ///< place in the queue of a gate
    bool gate_measures_time = false;                      ///< the gate's answer when it was given
    hook on_retry;                                        ///< none: no hook
    hook on_give_up;                                      ///< none: no hook
    hook on_success;                                      ///< none: no hook
    std::shared_ptr<retry_gate> gate;                     ///< null: no gate
    std::shared_ptr<retry_observer> observer;             ///< null: no observer
    std::string name;                                     ///< of the operations, for observers; empty: none
    detail::shared_value<detail::nested_marks> outer;     ///< marks for the attempt around a nested retry

    /// The jitter of the delays of that backoff, which is the policy's own or a rule's.
    ///
    /// Without `has_jitter` it is `no_jitter()` for `constant` and `schedule`, and `full_jitter()` otherwise.
    ASIO_RETRY_DECL asio_retry::jitter const& jitter_of(asio_retry::backoff const& shape) const noexcept;

    /// Whether a time limit may cancel a running attempt.
    bool limits_attempts() const noexcept {
        return attempt_timeout || total_timeout || deadline || wants_a_sign();
    }

    /// Whether the time limit of an attempt depends on its own marks.
    bool wants_a_sign() const noexcept { return setup_timeout || idle_timeout; }

    /// Whether the decision, a gate, an observer or a hook needs to know how long the operation has taken.
    bool measures_time() const noexcept { return observer || measures_time_unobserved(); }

    /// Whether the time is needed for another reason than the observer.
    bool measures_time_unobserved() const noexcept {
        return max_elapsed || reset_after || limits_attempts() || gate_measures_time || wait_when_refused ||
               tells_events();
    }

    /// Whether a hook or predicate needs the facts of a retry_event.
    ASIO_RETRY_DECL bool tells_events() const noexcept;
};

namespace detail {

/// Facts about settings that every operation would otherwise have to look up again.
struct settings_facts {
    bool limits = false;      ///< `limits_attempts`
    bool time = false;        ///< `measures_time`, apart from the observer
    bool story = false;       ///< a gate, `on_success` or outer attempt hears of it
    bool observed = false;    ///< the policy has an observer
    bool failures = false;    ///< whether a failure is retried depends on more than the failure
    bool wait_limits = false; ///< beside a deadline
};

/// The settings that a policy keeps, with their facts.
struct kept_settings : retry_settings {
    settings_facts facts;
};

} // namespace detail

} // namespace asio_retry
