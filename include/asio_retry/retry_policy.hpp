#pragma once

#include <asio_retry/attempt.hpp>
#include <asio_retry/detail/policy/config.hpp>
#include <asio_retry/detail/policy/failure_predicate.hpp>
#include <asio_retry/detail/policy/shared_function.hpp>
#include <asio_retry/detail/policy/shared_value.hpp>
#include <asio_retry/detail/policy/wrong_kind.hpp>
#include <asio_retry/retry_settings.hpp>

#include <concepts>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

namespace asio_retry {

/// When, how often and how long after a failure an operation is tried again.
///
/// An immutable value: every setter returns a changed copy. For a value that makes no sense, an empty
/// std::function or function pointer included, a setter throws std::invalid_argument, whose message names the
/// field, the value and the rule. The default is `exponential(100ms).cap(20s)` with `full_jitter()` and 3
/// attempts. Every failure is retried except `operation_aborted`, certificate and protocol failures, and
/// permanent errors. Copying shares the settings and never allocates. Thread safety: one policy may serve any
/// number of operations on any threads. A user's callables are then called on all of those threads, each on the
/// executor of its operation and without a lock. A callable may cancel the operation, start another or destroy
/// what it owns. If it throws, the operation completes with that exception or, where it completes with an error
/// code, with the `asio_retry::error` that names the callable.
class [[nodiscard("a policy is never changed: its setters return a changed copy")]] retry_policy {
public:
    retry_policy() noexcept {}
    /// Copies share the settings.
    retry_policy(retry_policy const& other) noexcept
        : settings_(other.settings_) {}
    /// Leaves `other` the default policy.
    retry_policy(retry_policy&& other) noexcept
        : settings_(std::move(other.settings_)) {}
    /// The same.
    retry_policy& operator=(retry_policy const&) noexcept = default;
    /// The same.
    retry_policy& operator=(retry_policy&&) noexcept = default;
    ~retry_policy() = default;

    /// @name How long to wait
    /// @{
    /// How the longest possible delay grows.
    ASIO_RETRY_DECL retry_policy backoff(asio_retry::backoff shape) const;
    /// How the delay is drawn under that.
    ASIO_RETRY_DECL retry_policy jitter(asio_retry::jitter kind) const;

    /// For what is neither: says what is wrong.
    template <typename Other>
        requires(!std::convertible_to<Other, asio_retry::backoff>)
    retry_policy backoff(Other&&) const {
        detail::explain_backoff<Other>();
        return {};
    }
    /// The same.
    template <typename Other>
        requires(!std::convertible_to<Other, asio_retry::jitter>)
    retry_policy jitter(Other&&) const {
        detail::explain_jitter<Other>();
        return {};
    }

    /// For operations that last, such as a connection. A failure after at least `stable_for` of health counts
    /// as the first one: the shortest delay follows, and all attempts and all of max_elapsed are left again. A
    /// failure that comes sooner resets nothing. An operation that takes an `attempt` says when it is healthy,
    /// by `attempt::mark_healthy`. Any other counts as healthy from its beginning, unless attempt_timeout ends
    /// it. With zero every failure after `mark_healthy` counts as the first; an operation that cannot say so
    /// then never counts as healthy, because it would be tried for ever. It must not be negative.
    ASIO_RETRY_DECL retry_policy reset_after(saturating_duration stable_for) const;
    /// @}

    /// @name When to stop
    /// @{
    /// Makes at most `count` attempts, the first one included. Throws std::invalid_argument below 1: zero does
    /// not mean unlimited.
    ASIO_RETRY_DECL retry_policy max_attempts(std::int64_t count) const;
    /// As often as it takes, within the limits of time.
    ASIO_RETRY_DECL retry_policy unlimited_attempts() const;

    /// No wait begins that would end later than this after the initiation: the operation then ends at once with
    /// its last error. A wait that would end exactly then does begin. A running attempt is not interrupted.
    /// Less than the first delay is accepted; there is then a retry only if the delay is drawn short enough.
    ASIO_RETRY_DECL retry_policy max_elapsed(saturating_duration greatest) const;

    /// Limits the sum of the waits, as long as they were to be: one that ends early counts in full. A wait that
    /// would exceed it does not begin: the operation then ends at once with its last error, reason `elapsed`.
    ASIO_RETRY_DECL retry_policy max_waited(saturating_duration greatest) const;

    /// Cancels an attempt that takes longer. Unless it succeeds all the same, it then counts as failed with
    /// `timed_out`, whatever its own error, and may be retried. An attempt that keeps its thread, as that of a
    /// plain function does, cannot be interrupted, nor may its limit be noticed: it counts with its own result.
    ASIO_RETRY_DECL retry_policy attempt_timeout(saturating_duration greatest) const;

    /// The same for an attempt that has not called `attempt::mark_healthy` by then.
    ASIO_RETRY_DECL retry_policy set_up_within(saturating_duration greatest) const;
    /// The same for an attempt that is silent for so long, from its beginning or its last `attempt::progress`
    /// or `mark_healthy`. An operation that takes no `attempt` has neither this limit nor set_up_within.
    ASIO_RETRY_DECL retry_policy idle_timeout(saturating_duration greatest) const;

    /// Ends the operation when this much time has passed since its initiation: a running attempt is cancelled,
    /// and the operation completes with `timed_out`. A wait that would end later does not begin: the operation
    /// then ends at once with its last error. After a wait that ends later all the same, because the context
    /// was busy, no attempt begins: it ends with `timed_out`; but for the last one that `clamp` makes.
    ASIO_RETRY_DECL retry_policy total_timeout(saturating_duration greatest) const;

    /// The same for a point in time. If it has passed at the initiation already, no attempt is made.
    ASIO_RETRY_DECL retry_policy deadline(saturating_time_point when) const;

    /// Shortens a wait that would end after max_elapsed, total_timeout or the deadline, or exceed max_waited,
    /// so that one last attempt is made, even if that wait ends too late. With max_elapsed and max_waited,
    /// which interrupt nothing, that attempt begins at the limit. With the others every wait ends early enough
    /// to leave time for the attempt after it: what the longest attempt took so far, or up to twice that, but
    /// at least a tenth and at most half of the time left. With reset_after it does not count how long attempts
    /// took.
    ASIO_RETRY_DECL retry_policy clamp() const;

    /// Waits for no attempt that has been told to stop, by a time limit, the caller or a scope. The attempt
    /// counts as ended then, with `operation_aborted`: the operation completes, or the next attempt follows.
    /// The attempt that was left behind runs on until it obeys. Nobody sees its result, so a success is lost.
    /// It may still send its request, so it counts as having sent, for `retry_sent` and `retry_event::sent`.
    ///
    /// Preconditions: an attempt owns its buffers, or they outlive it, because attempts may overlap. Lifetimes:
    /// the operation's callable lives until the last attempt has ended, and a join of its scope waits for that.
    /// Memory: the library's own, and not of the handler's allocator, which may go with the handler. At most
    /// 126 attempts of an operation are left behind at a time; the operation waits for one more. The blocking
    /// `retry` can stop no attempt and ignores this setting.
    ASIO_RETRY_DECL retry_policy deliver_at_once() const;
    /// @}

    /// @name What to retry
    /// @{
    /// `predicate(error_code)`, `predicate(std::exception_ptr)` or `predicate(retry_event const&)` says whether
    /// a failure is to be retried. The first kind is given the code inside a `system_error`, or
    /// `error::operation_threw` for any other exception; what could be called in several ways counts as this
    /// kind. The second is given a `system_error` where the failure is an error code. The third is told all
    /// that hooks are told but the delay. With `retry_if<E>` it is `predicate(E const&)`, about exceptions of
    /// type E or derived from it, but for those nested in others, and everything else is as by default.
    /// Permanent errors are never retried, and no predicate is asked. A second predicate replaces the first.
    /// A gate hears the same of a failure whatever the predicate says, unless nothing is known of the failure:
    /// see `attempt_end::kind`.
    ///
    /// If a time limit ended the attempt, the predicate is asked about `timed_out`. What the attempt itself
    /// threw is nested in that exception (std::rethrow_if_nested), so that an attempt can still say that it has
    /// done its work.
    ///
    /// By default every failure is retried, with two exceptions. `operation_aborted` is not, because a program
    /// ends an operation by closing its socket. Failures of TLS, HTTP and WebSocket that `classify` calls
    /// permanent are not, such as a certificate that is not trusted: the next attempt would fail in the same
    /// way. `retry_if(any_failure)` retries both. Some libraries report a lost connection as
    /// `operation_aborted`, such as Boost.Redis from `async_exec`. To cancel the operation or its scope ends it
    /// whatever the predicate says.
    template <typename E = void, typename Predicate>
        requires(!detail::names_kinds<Predicate>)
    retry_policy retry_if(Predicate&& predicate) const {
        static_assert(detail::judges_failures<E, Predicate> || detail::is_error_itself<E, Predicate>,
                      "retry_if: the predicate must take an error_code, a std::exception_ptr or a "
                      "retry_event const&, or as retry_if<E> an E const&, and return bool");
        return with_retry_if(detail::failure_predicate<E>("retry_if", std::forward<Predicate>(predicate)));
    }

    /// Only failures of these kinds are retried: `retry_if(failure_kind::timeout, failure_kind::overloaded)`. A
    /// failure's kind is `timeout` if a time limit ended the attempt. The judgement of a predicate of `fail_if`
    /// names the kind of a value. Of anything else `classify` says the kind, or the policy's own function.
    /// Throws std::invalid_argument for `permanent`, which is never retried, and for `none`.
    retry_policy retry_if(failure_kind first, std::same_as<failure_kind> auto... others) const {
        failure_kind const kinds[] = {first, others...};
        return retry_if(std::span<failure_kind const>(kinds));
    }
    /// The same for a list of at least one.
    ASIO_RETRY_DECL retry_policy retry_if(std::span<failure_kind const> kinds) const;

    /// With false a failure is retried only while the attempt has sent nothing, whatever ended it: see
    /// `attempt::mark_sent`. A failure whose error says that the peer has done nothing, as `classify` has it,
    /// counts as not sent. For what must not be done twice.
    ASIO_RETRY_DECL retry_policy retry_sent(bool allowed) const;

    /// Lets a `total` cancellation end the operation after a failed attempt too; it is ignored there by
    /// default, because a failed attempt may have had side effects.
    ASIO_RETRY_DECL retry_policy allow_total_cancellation() const;

    /// Keeps max_attempts in a nested retry, which otherwise makes one attempt.
    ASIO_RETRY_DECL retry_policy retry_when_nested() const;

    /// The policy for a nested retry inside the attempt `outer`. It has no more time than that attempt, as
    /// `attempt::deadline` says. It passes on a permanent error with its mark, and a peer's wish that there be
    /// no retry, so that the outer retry ends too. Precondition: the attempt is running.
    ASIO_RETRY_DECL retry_policy nested_in(attempt const& outer) const;
    /// @}

    /// @name What to do otherwise after some failures
    /// @{
    /// After a failure that `predicate`, of any kind that retry_if takes, says yes to, `other` says how long to
    /// wait in place of the policy's backoff. Its failures are counted apart, and so are those that no `when`
    /// matches; the limits hold for all together, and a reset (reset_after) resets all counts. Where several
    /// match, the first that was given counts: a second one with the same predicate changes nothing.
    ///
    /// Asked is about failures that are to be retried, a rejected value (`error::result_rejected`) among them,
    /// and not about the ticks of a backoff_ticker. The jitter is the policy's, and remembers the last delay of
    /// each apart. For the counts an operation allocates at the first failure that matches; without memory for
    /// that all its failures count as if they did.
    template <typename E = void, typename Predicate>
        requires(!detail::names_kinds<Predicate>)
    retry_policy when(Predicate&& predicate, asio_retry::backoff other) const {
        static_assert(detail::judges_failures<E, Predicate> || detail::is_error_itself<E, Predicate>,
                      "when: the predicate must take an error_code, a std::exception_ptr or a "
                      "retry_event const&, or as when<E> an E const&, and return bool");
        return with_rule(detail::failure_predicate<E>("when", std::forward<Predicate>(predicate)), other);
    }

    /// The same after a failure of this kind, as of `retry_if`: `when(failure_kind::throttled,
    /// exponential(1s))`.
    ASIO_RETRY_DECL retry_policy when(failure_kind kind, asio_retry::backoff other) const;

    /// At most `count` attempts, at least 1, may fail so that `predicate`, as of `when`, says yes: the
    /// operation ends with the last of these failures, reason `attempts`. Of several every one holds that
    /// matches.
    template <typename E = void, typename Predicate>
        requires(!detail::names_kinds<Predicate>)
    retry_policy max_attempts_when(Predicate&& predicate, std::int64_t count) const {
        static_assert(detail::judges_failures<E, Predicate> || detail::is_error_itself<E, Predicate>,
                      "max_attempts_when: the predicate must take an error_code, a std::exception_ptr "
                      "or a retry_event const&, or as max_attempts_when<E> an E const&, and return bool");
        return with_rule(detail::failure_predicate<E>("max_attempts_when", std::forward<Predicate>(predicate)),
                         count);
    }
    /// The same for failures of this kind, as of `retry_if`.
    ASIO_RETRY_DECL retry_policy max_attempts_when(failure_kind kind, std::int64_t count) const;
    /// @}

    /// @name What the peer says, and those who guard it
    /// @{
    /// The gate is asked before every attempt and every retry, and told how attempts end; `all_gates` makes one
    /// of several. `gate(nullptr)` takes the policy's gate away, and so does `all_gates({})`, which is null. If
    /// it grants no retry the operation ends with its last error, reason `budget`. If it lets an attempt not
    /// begin the operation ends with reason `refused` and its last error, or, before the first attempt and
    /// after a rejected value, with the code that the gate gives, which is `condition::refused`.
    ASIO_RETRY_DECL retry_policy gate(std::shared_ptr<retry_gate> shared) const;

    /// If the gate refuses, the operation does not end: it waits and asks again, as often as it takes within
    /// the limits of time. That suits a client that reconnects. The wait is the next delay, counted from the
    /// time that the gate names, if it names one. A refusal spends no attempt of max_attempts, but the backoff
    /// counts it as a failure. A budget that only the successes of this client fill would never grant another
    /// retry: give it `retry_budget_options::per_second`.
    ASIO_RETRY_DECL retry_policy wait_when_refused() const;

    /// `f(error_code const&)` says what a failure means to the gate, the observer and `retry_event::kind`, in
    /// place of the function `asio_retry::classify`. It may be asked several times about one failure. Whether
    /// the failure is retried does not matter, see `attempt_end::kind`. An attempt that took too long is a
    /// `timeout` whatever it says; a kind `none` is `transient`. If it throws, that is as if the predicate had
    /// thrown.
    template <typename F>
    retry_policy classify(F&& f) const {
        constexpr bool classifies = std::is_invocable_r_v<failure_class, std::decay_t<F>&, error_code const&>;
        static_assert(classifies, "classify: it must take an error_code const& and return a failure_class");
        if constexpr (classifies)
            return with_classifier({"classify", std::forward<F>(f)});
    }

    /// How long a server may ask to be left alone, by `attempt::heed` or by the judgement of a predicate of
    /// `fail_if`. Up to that its wish is obeyed: the wait is the later of the wish and the delay of backoff and
    /// jitter. To the wish a random share of it is added (pushback_spread), so that clients that were told the
    /// same do not come together. Where only the wish fits into the limits of time it counts alone, with as
    /// much of its share as fits; but a wish of no time never replaces a delay. If the server asks for more
    /// than `greatest`, `then` says what to do. `over_limit::stop` ends the operation with its last error,
    /// reason `pushback`; so does a peer that wants no retry at all. By default one minute, and to stop. Throws
    /// std::invalid_argument if negative.
    ASIO_RETRY_DECL retry_policy pushback_limit(saturating_duration greatest,
                                                over_limit then = over_limit::stop) const;

    /// That share, of which a part is drawn: 0.1 by default. Throws std::invalid_argument unless in [0, 1].
    ASIO_RETRY_DECL retry_policy pushback_spread(double share) const;
    /// @}

    /// @name Whom to tell
    /// @{
    /// `hook(retry_event const&)` is called after the decision to retry and before the wait, only if a retry
    /// follows. A second hook replaces the first. If it throws, the operation ends with a `system_error` of
    /// `error::hook_threw` that says what the hook's exception says; the failure of the attempt is nested in
    /// it. The hook's exception is in the report (`retry_report::hook_exception`).
    template <typename Hook>
    retry_policy on_retry(Hook&& hook) const {
        constexpr bool takes_event = std::invocable<std::decay_t<Hook>&, retry_event const&>;
        static_assert(takes_event, "on_retry: the hook must take a retry_event const&");
        if constexpr (takes_event)
            return with_on_retry({"on_retry", std::forward<Hook>(hook)});
    }

    /// `hook(retry_event const&)` is called exactly once when the operation succeeds, reason `succeeded`. A
    /// second hook replaces the first. What it throws does not change the outcome; it is in the report
    /// (`retry_report::hook_exceptions`).
    template <typename Hook>
    retry_policy on_success(Hook&& hook) const {
        constexpr bool takes_event = std::invocable<std::decay_t<Hook>&, retry_event const&>;
        static_assert(takes_event, "on_success: the hook must take a retry_event const&");
        if constexpr (takes_event)
            return with_on_success({"on_success", std::forward<Hook>(hook)});
    }

    /// `hook(retry_event const&)` or `hook(stop_reason)` is called exactly once when the operation ends without
    /// success, cancellation included. A second hook replaces the first. What it throws does not change the
    /// outcome; it is in the report.
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

    /// Told what happens to the operations. `observe(nullptr)` takes the policy's observer away. It measures
    /// time.
    ASIO_RETRY_DECL retry_policy observe(std::shared_ptr<retry_observer> shared) const;
    /// @}

    /// The fields; of a policy that is about to go, a copy.
    retry_settings const& settings() const& noexcept { return settings_.get() ? *settings_.get() : defaults(); }
    /// The same, a copy.
    retry_settings settings() const&& { return settings(); }

private:
    ASIO_RETRY_DECL static retry_settings const& defaults() noexcept;
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
    detail::shared_value<retry_settings> settings_; // null: the default settings
};

} // namespace asio_retry
