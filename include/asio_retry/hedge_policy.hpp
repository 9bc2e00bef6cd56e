#pragma once

#include <asio_retry/attempt.hpp>
#include <asio_retry/detail/policy/config.hpp>
#include <asio_retry/detail/policy/shared.hpp>
#include <asio_retry/duration.hpp>
#include <asio_retry/retry_gate.hpp>
#include <asio_retry/retry_policy.hpp>
#include <asio_retry/traffic/latency_quantile.hpp>

#include <concepts>
#include <cstdint>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>

namespace asio_retry {

/// The fields of a hedge_policy, for reading.
struct hedge_settings {
    /// A hook, which receives the number of the attempt.
    using hook = detail::shared_function<void(std::uint64_t)>;

    /// The settings that hedges share with retries.
    retry_policy common;
    asio_retry::duration delay{};               ///< without `observed`
    std::shared_ptr<latency_quantile> observed; ///< null: `delay` is fixed
    bool deliver_at_once = false;               ///< does not wait for cancelled attempts
    bool hedge_sent = true;                     ///< whether a hedge may begin beside an attempt that has sent
    hook on_hedge;                              ///< none: no hook

    /// The greatest number of attempts, from `common`.
    std::uint64_t max_attempts() const noexcept { return common.settings().max_attempts.value_or(1); }
};

/// When another attempt of an operation begins beside the attempts that already run.
///
/// An immutable value, like retry_policy: every setter returns a changed copy. A setter throws
/// std::invalid_argument, which names the field, the value and the rule, for a value that makes no sense. An
/// empty std::function or a null pointer is such a value. The default is 2 attempts, no time limit and no gate;
/// the same failures are retried as in retry_policy. Copying shares the settings and never allocates. A policy
/// that was moved from is unchanged.
///
/// To limit an attempt, the operation calls `async_retry(a, f, once)`. There `a` is its `attempt`, and `once`
/// is `retry_policy().max_attempts(1).attempt_timeout(1s)`.
///
/// Errors: if a callable of yours throws, the operation ends with that exception. If it completes with an error
/// code, it ends with the `asio_retry::error` that names the callable.
///
/// Thread safety: one policy may serve any number of operations on any threads. Your callables are called on
/// the executor of their operation, without a lock.
class [[nodiscard("keep the policy that this returns: no policy is changed in place")]] hedge_policy {
public:
    /// Begins another attempt each time that `delay` has passed since the last one began, without a result.
    ///
    /// With a delay of zero all attempts begin at once. Throws std::invalid_argument if negative.
    ASIO_RETRY_DECL explicit hedge_policy(saturating_duration delay);

    /// Hedges an attempt that takes longer than a quantile of the attempts before it.
    ///
    /// The quantile learns from each operation. From the attempt that won it learns how long that took. From
    /// attempts that lost, or that a time limit ended, it learns how long they had run when they were
    /// cancelled. Attempts that failed, or that the caller cancelled, say nothing.
    ///
    /// Throws std::invalid_argument if it is null.
    ASIO_RETRY_DECL explicit hedge_policy(std::shared_ptr<latency_quantile> observed);

    /// Copies share the settings.
    hedge_policy(hedge_policy const&) noexcept = default;
    /// An assignment shares the settings, too.
    hedge_policy& operator=(hedge_policy const&) noexcept = default;
    ~hedge_policy() = default;

    /// Makes at most `count` attempts, the first one included; from 1 to 16.
    ///
    /// All attempts count: those begun as hedges, and those begun because an attempt failed.
    ASIO_RETRY_DECL hedge_policy max_attempts(std::int64_t count) const;

    /// Asks this gate for every attempt; null takes the gate away.
    ///
    /// The gate is asked whether an attempt other than the first may be made, as for a retry after a
    /// `transient` failure. It is asked whether every attempt may begin. If it refuses, no further attempt of
    /// the operation begins, and running attempts continue. The gate hears that the attempt that won succeeded,
    /// that attempts that lost were abandoned, and how the others failed.
    ASIO_RETRY_DECL hedge_policy gate(std::shared_ptr<retry_gate> shared) const;

    /// Explains in a compiler error that operations share a gate.
    ASIO_RETRY_REFUSES("gate: operations share a gate: use std::make_shared, as in "
                       "gate(std::make_shared<retry_budget>())",
                       std::derived_from<retry_gate> Gate)
    hedge_policy gate(Gate const& own) const ASIO_RETRY_REFUSED;

    /// Tells this observer every event, as retry_policy::observe; null takes it away.
    ///
    /// `observation::is_hedge` is true, and attempts overlap.
    ASIO_RETRY_DECL hedge_policy observe(std::shared_ptr<retry_observer> shared) const;

    /// The name of the operations of this policy, as retry_policy::name.
    ASIO_RETRY_DECL hedge_policy name(std::string_view text) const;

    /// Says which failures are retried, as retry_policy::retry_if.
    ///
    /// A failure that the predicate refuses ends the operation; after any other failure the next attempt begins
    /// at once. A predicate of a retry_event receives the attempt's number, error and exception, but no times.
    /// Its `sent` depends on the error alone.
    template <typename E = void, typename Predicate>
        requires(!detail::names_kinds<Predicate>)
    hedge_policy retry_if(Predicate&& predicate) const {
        return with_common(settings().common.retry_if<E>(std::forward<Predicate>(predicate)));
    }
    /// Says which kinds of failures are retried, as retry_policy::retry_if.
    hedge_policy retry_if(failure_kind first, std::same_as<failure_kind> auto... others) const {
        return with_common(settings().common.retry_if(first, others...));
    }

    /// Ends the operation with `timed_out` when this much time has passed since its initiation.
    ///
    /// If an attempt succeeds while it is being cancelled, the operation succeeds. Throws std::invalid_argument
    /// if negative.
    ASIO_RETRY_DECL hedge_policy total_timeout(saturating_duration greatest) const;

    /// Ends the operation with `timed_out` at `when`. If `when` is not in the future, no attempt is made.
    ASIO_RETRY_DECL hedge_policy deadline(saturating_time_point when) const;

    /// Completes the operation as soon as its result is known, also `timed_out` or `operation_aborted`.
    ///
    /// By default the operation completes when all of its attempts have ended. With this setting, cancelled
    /// attempts end later, unseen. Each cancellation reaches them as `terminal`, because nobody can cancel them
    /// later. So it is for operations that own everything that they use, buffers included.
    /// The callable that starts attempts lives until the last attempt has ended. The executors live as long.
    ASIO_RETRY_DECL hedge_policy deliver_at_once() const;

    /// Whether a hedge may begin beside an attempt that has called `attempt::mark_sent`. True by default.
    ///
    /// With false, no attempt begins while such an attempt runs. If it fails and may be retried, the next
    /// attempt begins as usual. An operation that takes no `attempt` counts as having sent from its beginning,
    /// and so is never hedged.
    ASIO_RETRY_DECL hedge_policy hedge_sent(bool allowed) const;

    /// Calls `hook(std::uint64_t number)` before each attempt but the first.
    ///
    /// A second hook replaces the first. If the hook throws, the operation ends as after an exception from
    /// `retry_policy::on_retry`.
    template <typename Hook>
    hedge_policy on_hedge(Hook&& hook) const {
        constexpr bool takes_number = std::invocable<std::decay_t<Hook>&, std::uint64_t>;
        static_assert(takes_number, "on_hedge: the hook must take a std::uint64_t");
        if constexpr (takes_number)
            return with_on_hedge({"on_hedge", std::forward<Hook>(hook)});
    }

    /// The greatest delay that a server may ask for, by `attempt::heed` or the judgement of a predicate of
    /// `fail_if`.
    ///
    /// Up to this limit, no attempt begins earlier than the server said. If the server asks for more, or for no
    /// retry at all, no further attempt begins. The default is one minute. With `on_endpoint` a wish binds the
    /// server that said it: see `endpoint_set`. Throws std::invalid_argument if negative.
    ASIO_RETRY_DECL hedge_policy pushback_limit(saturating_duration greatest) const;

    /// The policy for a hedge inside the attempt `outer` of a retry.
    ///
    /// The hedge has no more time than that attempt. It makes a single attempt unless that attempt is the
    /// first, so that the attempts of both add up instead of multiplying. It passes on a permanent error with
    /// its mark, and a server's wish for no retry. Precondition: the attempt is running.
    ASIO_RETRY_DECL hedge_policy nested_in(attempt const& outer) const;

    /// The fields of the policy, for reading.
    hedge_settings const& settings() const noexcept { return *settings_; }

private:
    template <typename Change>
    hedge_policy changed(Change change) const;

    ASIO_RETRY_DECL hedge_policy with_common(retry_policy const& common) const;
    ASIO_RETRY_DECL hedge_policy with_on_hedge(hedge_settings::hook hook) const;

    detail::shared_value<hedge_settings> settings_; // never null
};

} // namespace asio_retry
