#pragma once

#include <asio_retry/attempt.hpp>
#include <asio_retry/detail/policy/config.hpp>
#include <asio_retry/detail/policy/policy_arguments.hpp>
#include <asio_retry/detail/policy/shared.hpp>
#include <asio_retry/retry_settings.hpp>

#include <concepts>
#include <cstdint>
#include <exception>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>

namespace asio_retry {

/// When, how often and after which delay a failed operation is retried.
///
/// The default is `exponential(100ms).cap(20s)` with `full_jitter()` and 3 attempts. Every failure is retried
/// except `operation_aborted`, certificate and protocol failures, and permanent errors. A policy is an
/// immutable value: every setter returns a changed copy. Copying shares the settings and never allocates.
///
/// Errors: a setter throws std::invalid_argument for a value that makes no sense, an empty std::function or a
/// null pointer. The message names the field, the value and the rule. If a callable of yours throws, the
/// operation completes with that exception. If it completes with an error code, the code is the
/// `asio_retry::error` that names the callable.
///
/// Thread safety: one policy may serve any number of operations on any threads. Your callables are then called
/// on all of those threads, each on the executor of its operation and without a lock. A callable may cancel the
/// operation, start another or destroy objects that it owns.
class [[nodiscard("keep the policy that this returns: no policy is changed in place")]] retry_policy {
public:
    retry_policy() noexcept {}
    /// A copy shares the settings.
    retry_policy(retry_policy const& other) noexcept
        : settings_(other.settings_) {}
    /// Takes the settings of `other`, which becomes the default policy.
    retry_policy(retry_policy&& other) noexcept
        : settings_(std::move(other.settings_)) {}
    /// An assignment shares the settings, too.
    retry_policy& operator=(retry_policy const&) noexcept = default;
    /// Takes the settings of the other one, which becomes the default policy.
    retry_policy& operator=(retry_policy&&) noexcept = default;
    ~retry_policy() = default;

    /// @name How long to wait
    /// @{
    /// How the delay grows with the number of failures, before the jitter.
    ASIO_RETRY_DECL retry_policy backoff(asio_retry::backoff shape) const;
    /// How the delay is drawn at random, given the delay of the backoff.
    ///
    /// Without this call `constant` and `schedule` mean their delays and have no jitter. All other backoffs
    /// have `full_jitter()`. A backoff of `when` follows the same rule.
    ASIO_RETRY_DECL retry_policy jitter(asio_retry::jitter kind) const;

    /// Explains in a compiler error that the argument is not a backoff.
    template <typename Other>
        requires(!std::convertible_to<Other, asio_retry::backoff>)
    retry_policy backoff(Other&&) const {
        detail::explain_backoff<Other>();
        return {};
    }
    /// Explains in a compiler error that the argument is not a jitter.
    template <typename Other>
        requires(!std::convertible_to<Other, asio_retry::jitter>)
    retry_policy jitter(Other&&) const {
        detail::explain_jitter<Other>();
        return {};
    }

    /// Counts a failure as the first one if the attempt was healthy for at least `stable_for`.
    ///
    /// For operations that last, such as a connection. Such a failure is followed by the shortest delay, and
    /// all attempts, all of max_elapsed and max_waited are left again, and the counts of `when` begin anew.
    /// total_timeout and the deadline go on. A failure that comes sooner resets nothing.
    ///
    /// An operation that takes an `attempt` says when it is healthy, by `attempt::mark_healthy`. Any other
    /// counts as healthy from its beginning, unless attempt_timeout ends it. With zero, every failure after
    /// `mark_healthy` counts as the first. An operation that cannot mark then never counts as healthy, because
    /// it would be retried for ever.
    ///
    /// Throws std::invalid_argument if negative.
    ASIO_RETRY_DECL retry_policy reset_after(saturating_duration stable_for) const;
    /// @}

    /// @name When to stop
    /// @{
    /// Makes at most `count` attempts, the first one included.
    ///
    /// Throws std::invalid_argument below 1: zero does not mean unlimited.
    ASIO_RETRY_DECL retry_policy max_attempts(std::int64_t count) const;
    /// Makes any number of attempts, within the time limits.
    ASIO_RETRY_DECL retry_policy unlimited_attempts() const;

    /// Stops retrying when the next wait would end later than this after the initiation.
    ///
    /// The operation then ends at once with its last error, reason `elapsed`. A wait that would end exactly
    /// then does begin. A running attempt is not interrupted. A time shorter than the first delay is accepted;
    /// there is then a retry only if the drawn delay is short enough.
    ASIO_RETRY_DECL retry_policy max_elapsed(saturating_duration greatest) const;

    /// Limits the sum of the waits, counted in full also if they end early.
    ///
    /// A wait that would exceed the limit does not begin: the operation ends at once with its last error,
    /// reason `elapsed`.
    ASIO_RETRY_DECL retry_policy max_waited(saturating_duration greatest) const;

    /// Cancels an attempt that takes longer than this; it then counts as failed with `timed_out`.
    ///
    /// This holds whatever the attempt's own error, and the failure may be retried. If the attempt succeeds all
    /// the same, it counts as a success. An attempt that keeps its thread, as a plain function does, cannot be
    /// interrupted. Its limit may not even be noticed: the attempt then counts with its own result.
    ASIO_RETRY_DECL retry_policy attempt_timeout(saturating_duration greatest) const;

    /// Cancels an attempt that has not called `attempt::mark_healthy` by then, as `attempt_timeout` does.
    ASIO_RETRY_DECL retry_policy setup_timeout(saturating_duration greatest) const;

    /// The name of 0.3, which 0.5 will no longer have.
    [[deprecated("use setup_timeout")]] retry_policy set_up_within(saturating_duration greatest) const {
        return setup_timeout(greatest);
    }

    /// Cancels an attempt that is silent for so long, from its beginning, last `attempt::progress` or
    /// `mark_healthy`, as `attempt_timeout` does.
    ///
    /// An operation that takes no `attempt` has neither this limit nor setup_timeout.
    ASIO_RETRY_DECL retry_policy idle_timeout(saturating_duration greatest) const;

    /// Ends the operation when this much time has passed since its initiation.
    ///
    /// A running attempt is cancelled, and the operation ends with `timed_out`. A wait that would end later
    /// does not begin: the operation then ends at once with its last error. A wait may end later all the same,
    /// because the context was busy. Then no attempt begins and the operation ends with `timed_out`, except for
    /// the last attempt that `clamp` makes. The reason is `deadline` in all these cases.
    ASIO_RETRY_DECL retry_policy total_timeout(saturating_duration greatest) const;

    /// Ends the operation at `when`, as `total_timeout` does. If `when` has passed already, no attempt is made.
    ASIO_RETRY_DECL retry_policy deadline(saturating_time_point when) const;

    /// Shortens the last wait to fit into the limits, so that one last attempt is made.
    ///
    /// This is for a wait that would end after max_elapsed, total_timeout or the deadline, or exceed
    /// max_waited. The attempt is made even if that wait ends too late. With max_elapsed and max_waited, which
    /// interrupt nothing, the attempt begins at the limit. With total_timeout and the deadline every wait
    /// leaves time for the attempt after it. That time is from one to two times the longest attempt so far, but
    /// at least a tenth and at most half of the time left. With reset_after the length of attempts is not
    /// counted.
    ASIO_RETRY_DECL retry_policy clamp() const;

    /// Does not wait for an attempt that a time limit, the caller or a scope has cancelled.
    ///
    /// The attempt counts as ended then, with `operation_aborted`: the operation completes, or the next attempt
    /// follows. The abandoned attempt runs on until it obeys. Its result is lost, even a success. It may still
    /// send its request, so it counts as having sent, for `retry_sent` and `retry_event::sent`. Each
    /// cancellation reaches it as `terminal`, because nobody can cancel it later.
    ///
    /// Preconditions: an attempt owns its buffers, or they outlive it, because attempts may overlap.
    ///
    /// Lifetimes: the operation's callable lives until the last attempt has ended, and a join of its scope
    /// waits for that. The memory is the library's own, because the handler's allocator may go with the
    /// handler.
    ///
    /// At most 126 attempts of an operation are left behind at a time; the operation waits for one more. The
    /// blocking `retry` cannot cancel attempts and ignores this setting.
    ASIO_RETRY_DECL retry_policy deliver_at_once() const;
    /// @}

    /// @name What to retry
    /// @{
    /// Says by a predicate whether a failure is to be retried.
    ///
    /// By default every failure is retried, with two exceptions. `operation_aborted` is not, because a program
    /// ends an operation by closing its socket. Failures of TLS, HTTP, WebSocket, MySQL and MQTT that
    /// `classify` calls permanent are not, such as an untrusted certificate. The next attempt would fail in the
    /// same way.
    /// `retry_if(any_failure)` retries both. Some libraries report a lost connection as `operation_aborted`,
    /// such as Boost.Redis from `async_exec`. Cancelling the operation or its scope ends it whatever the
    /// predicate says. Permanent errors are never retried, and no predicate is asked. A second predicate
    /// replaces the first.
    ///
    /// - `predicate(error_code)` receives the code inside a `system_error`, or `error::operation_threw` for any
    ///   other exception. A predicate that can be called in several ways counts as this kind.
    /// - `predicate(std::exception_ptr)` receives a `system_error` if the failure is an error code.
    /// - `predicate(retry_event const&)` receives the same event as hooks, except for the delay.
    /// - `retry_if<E>(predicate)` with `predicate(E const&)` is about exceptions of type E or derived from it,
    ///   not those nested in others. All other failures are retried as by default.
    ///
    /// If a time limit ended the attempt, the predicate is asked about `timed_out`. The attempt's own exception
    /// is nested in that exception (std::rethrow_if_nested), so an attempt can still say that its work is done.
    /// The predicate does not change the kind of failure that a gate hears, unless nothing is known of the
    /// failure: see `attempt_end::kind`.
    template <typename E = void, typename Predicate>
        requires(!detail::names_kinds<Predicate>)
    retry_policy retry_if(Predicate&& predicate) const {
        static_assert(detail::judges_failures<E, Predicate> || detail::is_error_itself<E, Predicate>,
                      "retry_if: the predicate must take an error_code, a std::exception_ptr or a "
                      "retry_event const&, or as retry_if<E> an E const&, and return bool");
        return with_retry_if(detail::failure_predicate<E>("retry_if", std::forward<Predicate>(predicate)));
    }

    /// Retries only failures of these kinds: `retry_if(failure_kind::timeout, failure_kind::overloaded)`.
    ///
    /// The kind of a failure is `timeout` if a time limit ended the attempt. The judgement of a predicate of
    /// `fail_if` names the kind of a value. For all else `classify` says the kind, or the policy's own
    /// function.
    ///
    /// Throws std::invalid_argument for `permanent`, which is never retried, and for `none`.
    retry_policy retry_if(failure_kind first, std::same_as<failure_kind> auto... others) const {
        failure_kind const kinds[] = {first, others...};
        return retry_if(kinds);
    }
    /// Retries only failures of the kinds in a list of at least one, as a vector, an array or a std::span.
    template <detail::list_of_kinds Kinds>
    retry_policy retry_if(Kinds const& kinds) const {
        return with_retry_if(detail::kind_predicate("retry_if", std::data(kinds), std::size(kinds)));
    }

    /// With false, retries a failure only while the attempt has sent nothing, whatever ended it.
    ///
    /// For requests that must not be done twice; see `attempt::mark_sent`. A failure counts as not sent if
    /// `classify` says of its error that the server has done nothing.
    ASIO_RETRY_DECL retry_policy retry_sent(bool allowed) const;

    /// Lets a `total` cancellation end the operation after a failed attempt too.
    ///
    /// By default it is ignored then, because a failed attempt may have had side effects.
    ASIO_RETRY_DECL retry_policy allow_total_cancellation() const;

    /// Keeps max_attempts in a nested retry, which otherwise makes one attempt.
    ASIO_RETRY_DECL retry_policy retry_when_nested() const;

    /// The policy for a nested retry inside the attempt `outer`.
    ///
    /// The nested retry has no more time than that attempt, as `attempt::deadline` says. If the attempt reaches
    /// that time, the nested retry has timed out: its limit is `time_limit::inherited`. It passes on a
    /// permanent error with its mark, and a server's wish for no retry, so that the outer retry ends too. If
    /// the attempt was admitted by the same gate, the first attempt inside takes that admission over: see
    /// `retry_gate`.
    ///
    /// Precondition: the attempt is running.
    ASIO_RETRY_DECL retry_policy nested_in(attempt const& outer) const;
    /// @}

    /// @name What to do otherwise after some failures
    /// @{
    /// Uses another backoff after failures for which `predicate` is true.
    ///
    /// `predicate` is of any kind that retry_if takes, and `other` replaces the policy's backoff. If several
    /// match, the first that was given counts: a second one with the same predicate changes nothing. The
    /// failures of each `when` are counted apart, and so are failures that match none. The limits hold for all
    /// together, and a reset (reset_after) resets all counts.
    ///
    /// The predicate is asked about failures that are to be retried, a rejected value
    /// (`error::result_rejected`) included. It is not asked about the ticks of a backoff_ticker. The jitter is
    /// the policy's, and remembers the last delay of each apart. An operation allocates memory for the counts
    /// at the first failure that matches. Without that memory, all its failures count as if they matched.
    template <typename E = void, typename Predicate>
        requires(!detail::names_kinds<Predicate>)
    retry_policy when(Predicate&& predicate, asio_retry::backoff other) const {
        static_assert(detail::judges_failures<E, Predicate> || detail::is_error_itself<E, Predicate>,
                      "when: the predicate must take an error_code, a std::exception_ptr or a "
                      "retry_event const&, or as when<E> an E const&, and return bool");
        return with_rule(detail::failure_predicate<E>("when", std::forward<Predicate>(predicate)), other);
    }

    /// Uses another backoff after failures of this kind:
    /// `when(failure_kind::throttled, exponential(1s))`.
    ASIO_RETRY_DECL retry_policy when(failure_kind kind, asio_retry::backoff other) const;

    /// Limits how many attempts may fail with failures for which `predicate`, as of `when`, is true.
    ///
    /// After `count` such failures, the operation ends with the last of them, reason `attempts`. If several
    /// match, every one holds. Throws std::invalid_argument if `count` is below 1.
    template <typename E = void, typename Predicate>
        requires(!detail::names_kinds<Predicate>)
    retry_policy max_attempts_when(Predicate&& predicate, std::int64_t count) const {
        static_assert(detail::judges_failures<E, Predicate> || detail::is_error_itself<E, Predicate>,
                      "max_attempts_when: the predicate must take an error_code, a std::exception_ptr "
                      "or a retry_event const&, or as max_attempts_when<E> an E const&, and return bool");
        return with_rule(detail::failure_predicate<E>("max_attempts_when", std::forward<Predicate>(predicate)),
                         count);
    }
    /// Limits how many attempts may fail with failures of this kind.
    ASIO_RETRY_DECL retry_policy max_attempts_when(failure_kind kind, std::int64_t count) const;
    /// @}

    /// @name Wishes of the server, and gates
    /// @{
    /// Asks this gate before every attempt and every retry, and tells it how attempts end.
    ///
    /// `all_gates` makes one gate of several. `gate(nullptr)` takes the policy's gate away, and so does
    /// `all_gates({})`, which is null. If the gate grants no retry, the operation ends with its last error,
    /// reason `budget`. If it refuses an attempt, the operation ends with reason `refused`, and with its last
    /// error. Before the first attempt and after a rejected value the error is the gate's code, which is
    /// `condition::refused`.
    ASIO_RETRY_DECL retry_policy gate(std::shared_ptr<retry_gate> shared) const;

    /// Explains in a compiler error that operations share a gate.
    ASIO_RETRY_REFUSES("gate: operations share a gate: use std::make_shared, as in "
                       "gate(std::make_shared<retry_budget>())",
                       std::derived_from<retry_gate> Gate)
    retry_policy gate(Gate const& own) const ASIO_RETRY_REFUSED;

    /// Waits and asks again when the gate refuses, within the time limits, instead of ending the operation.
    ///
    /// For a client that reconnects. The wait is the next delay, counted from the time that the gate names, if
    /// it names one. A refusal spends no attempt of max_attempts, but the backoff counts it as a failure. A
    /// retry budget that only the successes of this client fill would never grant another retry: give it
    /// `retry_budget_options::per_second`.
    ///
    /// If the gate has reserved a time, as `rate_limit` does, the attempt begins at that time and at no other.
    ASIO_RETRY_DECL retry_policy wait_when_refused() const;

    /// Says who comes first in the queue of a gate, such as that of `concurrency_limit`. By default `normal`.
    ASIO_RETRY_DECL retry_policy priority(request_priority rank) const;

    /// Says by `f(error_code const&)` the meaning of failures, in place of the function `asio_retry::classify`.
    ///
    /// The gate, the observer and `retry_event::kind` use the answer. It does not matter whether the failure is
    /// retried, see `attempt_end::kind`. `f` may be asked several times about one failure. An attempt that took
    /// too long is a `timeout` whatever `f` says; a kind `none` is `transient`. If `f` throws, the operation
    /// ends as if the predicate had thrown.
    template <typename F>
    retry_policy classify(F&& f) const {
        constexpr bool classifies = std::is_invocable_r_v<failure_class, std::decay_t<F>&, error_code const&>;
        static_assert(classifies, "classify: it must take an error_code const& and return a failure_class");
        if constexpr (classifies)
            return with_classifier({"classify", std::forward<F>(f)});
    }

    /// The greatest delay that a server may ask for, by `attempt::heed` or by a judgement of `fail_if`.
    ///
    /// Up to this limit the wait is the later of the server's wish and the delay of backoff and jitter. A
    /// random share is added to the wish (pushback_spread), so that clients with the same wish do not retry
    /// together. If only the wish fits into the time limits, it counts alone, with as much of its share as
    /// fits. A wish of no time never replaces a delay.
    ///
    /// If the server asks for more than `greatest`, `then` says how to answer. `over_limit::stop` ends the
    /// operation with its last error, reason `pushback`. So does a server that wants no retry at all. With
    /// `over_limit::clamp` no wish makes a wait longer than `greatest`, its share included. The default is one
    /// minute, and to stop. With `on_endpoint` a wish binds the server that said it: see `endpoint_set`.
    ///
    /// Throws std::invalid_argument if negative.
    ASIO_RETRY_DECL retry_policy pushback_limit(saturating_duration greatest,
                                                over_limit then = over_limit::stop) const;

    /// The greatest share of the server's wish that is added at random: 0.1 by default.
    ///
    /// Throws std::invalid_argument unless in [0, 1].
    ASIO_RETRY_DECL retry_policy pushback_spread(double share) const;
    /// @}

    /// @name Whom to tell
    /// @{
    /// Calls `hook(retry_event const&)` after the decision to retry and before the wait, only if a retry
    /// follows.
    ///
    /// A second hook replaces the first. If it throws, the operation ends with the hook's own exception. An
    /// operation with error codes ends with `error::hook_threw`. The report has the exception
    /// (`retry_report::hook_exception`) and the failure of the attempt (`last_error`, `last_exception`).
    template <typename Hook>
    retry_policy on_retry(Hook&& hook) const {
        constexpr bool takes_event = std::invocable<std::decay_t<Hook>&, retry_event const&>;
        static_assert(takes_event, "on_retry: the hook must take a retry_event const&");
        if constexpr (takes_event)
            return with_on_retry({"on_retry", std::forward<Hook>(hook)});
    }

    /// Calls `hook(retry_event const&)` exactly once when the operation succeeds, reason `succeeded`.
    ///
    /// A second hook replaces the first. An exception of the hook does not change the outcome; it is in the
    /// report (`retry_report::hook_exceptions`).
    template <typename Hook>
    retry_policy on_success(Hook&& hook) const {
        constexpr bool takes_event = std::invocable<std::decay_t<Hook>&, retry_event const&>;
        static_assert(takes_event, "on_success: the hook must take a retry_event const&");
        if constexpr (takes_event)
            return with_on_success({"on_success", std::forward<Hook>(hook)});
    }

    /// Calls `hook(retry_event const&)` or `hook(stop_reason)` exactly once when the operation ends without
    /// success.
    ///
    /// Cancellation counts as an end without success. A second hook replaces the first. An exception of the
    /// hook does not change the outcome; it is in the report.
    template <typename Hook>
    retry_policy on_give_up(Hook&& hook) const {
        using callable = std::decay_t<Hook>;
        if constexpr (std::invocable<callable&, retry_event const&>) {
            return with_on_give_up({"on_give_up", std::forward<Hook>(hook)});
        } else {
            constexpr bool takes_reason = std::invocable<callable&, stop_reason>;
            static_assert(takes_reason, "on_give_up: the hook must take a retry_event const& or a stop_reason");
            if constexpr (takes_reason)
                return with_reason_of_give_up({"on_give_up", std::forward<Hook>(hook)});
        }
    }

    /// Tells this observer every event of the operations. `observe(nullptr)` takes the policy's observer away.
    ///
    /// An operation with an observer measures time.
    ASIO_RETRY_DECL retry_policy observe(std::shared_ptr<retry_observer> shared) const;

    /// The name of the operations of this policy, such as "orders.get": logs, metrics, traces, hooks and
    /// reports have it.
    ///
    /// A second name replaces the first. An operation inside an attempt has the name of its own policy, or
    /// none. Without a name nothing is different. `retry_metrics` tells 64 names apart, so it is a name of a
    /// kind of operations, and not of one request.
    ///
    /// Throws std::invalid_argument unless `text` is UTF-8 of 1 to 128 bytes, without control characters and
    /// the separators of lines and paragraphs.
    ASIO_RETRY_DECL retry_policy name(std::string_view text) const;
    /// @}

    /// The fields of the policy, for reading.
    retry_settings const& settings() const& noexcept { return kept(); }
    /// A copy of the fields, because the policy is about to end.
    retry_settings settings() const&& { return settings(); }

private:
    friend class retry_machine;

    ASIO_RETRY_DECL static detail::kept_settings const& defaults() noexcept;
    detail::kept_settings const& kept() const noexcept { return settings_ ? *settings_ : defaults(); }
    template <typename Change>
    retry_policy changed(Change change) const;

    ASIO_RETRY_DECL retry_policy with_retry_if(retry_settings::predicate predicate) const;
    ASIO_RETRY_DECL retry_policy with_rule(retry_settings::predicate matches, asio_retry::backoff other) const;
    ASIO_RETRY_DECL retry_policy with_rule(retry_settings::predicate matches, std::int64_t count) const;
    ASIO_RETRY_DECL retry_policy with_classifier(retry_settings::classifier classifier) const;
    ASIO_RETRY_DECL retry_policy with_on_retry(retry_settings::hook hook) const;
    ASIO_RETRY_DECL retry_policy with_on_success(retry_settings::hook hook) const;
    ASIO_RETRY_DECL retry_policy with_on_give_up(retry_settings::hook hook) const;
    ASIO_RETRY_DECL retry_policy with_reason_of_give_up(detail::shared_function<void(stop_reason)> hook) const;
    detail::shared_value<detail::kept_settings> settings_; // null: the default settings
};

} // namespace asio_retry
