#pragma once

#include <asio_retry/attempt.hpp>
#include <asio_retry/detail/policy/config.hpp>
#include <asio_retry/detail/policy/shared_function.hpp>
#include <asio_retry/detail/policy/shared_value.hpp>
#include <asio_retry/duration.hpp>
#include <asio_retry/retry_gate.hpp>
#include <asio_retry/retry_policy.hpp>
#include <asio_retry/traffic/latency_quantile.hpp>

#include <concepts>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

namespace asio_retry {

/// The fields of a hedge_policy, to look at.
struct hedge_settings {
    /// Given the number of the attempt.
    using hook = detail::shared_function<void(std::uint64_t)>;

    /// What there is of it is what a hedge and a retry have in common.
    retry_policy common;
    asio_retry::duration delay{};               ///< without `observed`
    std::shared_ptr<latency_quantile> observed; ///< null: `delay` is fixed
    bool deliver_at_once = false;               ///< see the setter
    hook on_hedge;                              ///< none: nobody is told

    /// That of `common`.
    std::uint64_t max_attempts() const noexcept { return common.settings().max_attempts.value_or(1); }
};

/// When an operation that has no result yet is begun once more, beside what runs already.
///
/// An immutable value, as retry_policy: every setter returns a changed copy and throws std::invalid_argument,
/// naming the field, the value and the rule, for what makes no sense, an empty std::function or function
/// pointer included. The default is 2 attempts, no limit of time and no gate; what is retried is as in
/// retry_policy. Copying shares the settings and never allocates; a policy that was moved from is unchanged.
/// Thread safety: one policy may serve any number of operations on any threads. A user's callables are called
/// on the executor of their operation, without a lock. If one throws, the operation ends with that exception
/// or, where it completes with an error code, with the `asio_retry::error` that names it.
class [[nodiscard("a policy is never changed: its setters return a changed copy")]] hedge_policy {
public:
    /// Another attempt begins each time that `delay` has passed since the last one began without a result. Of
    /// zero all attempts begin at once. Throws std::invalid_argument if negative.
    ASIO_RETRY_DECL explicit hedge_policy(saturating_duration delay);

    /// What takes longer than the quantile is hedged, and the quantile learns from each operation: how long the
    /// attempt that won has taken, and how long those that lost, or that a limit of time ended, had run when
    /// they were told to stop. Those that failed, or that the caller cancelled, say nothing. Throws
    /// std::invalid_argument if it is null.
    ASIO_RETRY_DECL explicit hedge_policy(std::shared_ptr<latency_quantile> observed);

    /// Copies share the settings.
    hedge_policy(hedge_policy const&) noexcept = default;
    /// The same.
    hedge_policy& operator=(hedge_policy const&) noexcept = default;
    ~hedge_policy() = default;

    /// At most `count` attempts however they begin, as hedges or because one has failed, the first one
    /// included; from 1 to 16.
    ASIO_RETRY_DECL hedge_policy max_attempts(std::int64_t count) const;

    /// Asked for every attempt but the first whether it may be made, as a retry after a `transient` failure,
    /// and for every attempt whether it may begin; null takes the gate away. Where it refuses, no further
    /// attempt of the operation begins, and those that run go on. It is told that the attempt that won
    /// succeeded, that those that lost were abandoned, and of the others how they failed.
    ASIO_RETRY_DECL hedge_policy gate(std::shared_ptr<retry_gate> shared) const;

    /// As retry_policy::retry_if. What the predicate will not retry ends the operation; after what it retries
    /// the next attempt begins at once. A predicate of a retry_event is told the attempt's number, error and
    /// exception, no times, and of `sent` what the error says.
    template <typename E = void, typename Predicate>
        requires(!detail::names_kinds<Predicate>)
    hedge_policy retry_if(Predicate&& predicate) const {
        return with_common(settings().common.retry_if<E>(std::forward<Predicate>(predicate)));
    }
    /// The same for failures of these kinds.
    hedge_policy retry_if(failure_kind first, std::same_as<failure_kind> auto... others) const {
        return with_common(settings().common.retry_if(first, others...));
    }

    /// The operation ends with `timed_out` when this much time has passed since its initiation, unless an
    /// attempt succeeds all the same while it is being told to stop. Throws std::invalid_argument if negative.
    ASIO_RETRY_DECL hedge_policy total_timeout(saturating_duration greatest) const;

    /// The same for a point in time; if it is not in the future at the initiation, no attempt is made.
    ASIO_RETRY_DECL hedge_policy deadline(saturating_time_point when) const;

    /// The operation completes as soon as its result is known, also where that is `timed_out` or
    /// `operation_aborted`. Attempts that have been told to stop end later, unseen: this is for operations
    /// that own whatever they use, buffers among it. The callable that starts them lives until the last has
    /// ended, as do the executors. By default the operation completes when all of its attempts have.
    ASIO_RETRY_DECL hedge_policy deliver_at_once() const;

    /// `hook(std::uint64_t number)` is called before each attempt but the first. A second hook replaces the
    /// first. If it throws, the operation ends as where `retry_policy::on_retry` throws.
    template <typename Hook>
    hedge_policy on_hedge(Hook&& hook) const {
        constexpr bool takes_number = std::invocable<std::decay_t<Hook>&, std::uint64_t>;
        static_assert(takes_number, "on_hedge: the hook must take a std::uint64_t");
        if constexpr (takes_number)
            return with_on_hedge({"on_hedge", std::forward<Hook>(hook)});
    }

    /// How long a peer may ask to be left alone, by `attempt::heed` or the judgement of a predicate of
    /// `fail_if`: up to that no attempt begins earlier than it said. Where it asks for more, or for no retry at
    /// all, no further attempt begins. One minute by default. Throws std::invalid_argument if negative.
    ASIO_RETRY_DECL hedge_policy pushback_limit(saturating_duration greatest) const;

    /// The policy for a hedge inside the attempt `outer` of a retry: it has no more time than that
    /// attempt, and makes a single attempt unless that attempt is the first, so that the attempts of both are
    /// a sum and never a product. It passes on a permanent error with its mark, and what a peer said that wants
    /// no retry. Precondition: the attempt is running.
    ASIO_RETRY_DECL hedge_policy nested_in(attempt const& outer) const;

    /// The fields.
    hedge_settings const& settings() const noexcept { return *settings_.get(); }

private:
    template <typename Change>
    hedge_policy changed(Change change) const;

    ASIO_RETRY_DECL hedge_policy with_common(retry_policy const& common) const;
    ASIO_RETRY_DECL hedge_policy with_on_hedge(hedge_settings::hook hook) const;

    detail::shared_value<hedge_settings> settings_; // never null
};

} // namespace asio_retry
