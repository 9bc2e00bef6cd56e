#pragma once

#include <asio_retry/detail/policy/config.hpp>
#include <asio_retry/duration.hpp>
#include <asio_retry/failure_class.hpp>
#include <asio_retry/interruption.hpp>
#include <asio_retry/pushback.hpp>
#include <asio_retry/retry_event.hpp>
#include <asio_retry/retry_settings.hpp>
#include <asio_retry/verdict.hpp>

#include <cstdint>
#include <optional>

namespace asio_retry::detail {

/// The answer of `retry_if` to a failure. For an unknown code the answer also decides the kind of the failure.
enum class retry_wish : unsigned char {
    asked,       ///< it is being asked
    unasked,     ///< it was not asked, or could not answer
    refused,     ///< it refuses a retry
    wanted,      ///< it wants a retry
    undecidable, ///< there is no failure to ask it about
};

/// Facts about an attempt that ended, beside its failure.
struct attempt_facts {
    std::uint64_t number = 0;
    duration elapsed{};
    duration took{};
    interruption stopped = interruption::none;
    bool may_have_sent = true; ///< false only if the attempt says so
    time_limit limit = time_limit::none;
    duration allowed{};        ///< how long that limit is
    pushback heeded{};         ///< what the attempt reported of its server
    bool is_forbidden = false; ///< the server has forbidden a nested operation to retry
    retry_wish wish = retry_wish::asked;

    bool is_out_of_time() const noexcept {
        return stopped == interruption::attempt_timeout || stopped == interruption::deadline;
    }
};

inline constexpr attempt_facts no_facts{};

/// The event for hooks and predicates. Uses the library's own `classify`; `sent` is always `possible`.
ASIO_RETRY_DECL retry_event event_of(verdict const& failure, attempt_facts const& facts) noexcept;

/// The event for hooks and predicates. Uses the policy's own `classify`, and throws its exceptions.
ASIO_RETRY_DECL retry_event event_of(retry_settings const& settings, verdict const& failure,
                                     attempt_facts const& facts);

/// Whether `retry_if` wants a retry after a failure that is not permanent; for policies without predicates on
/// events or kinds. Throws the exceptions of the predicate.
ASIO_RETRY_DECL bool is_retryable(retry_settings const& settings, verdict const& failure);

/// Whether `retry_if` wants a retry, for policies that need all facts. Throws the exceptions of the predicate.
ASIO_RETRY_DECL bool is_retryable(retry_settings const& settings, verdict const& failure,
                                  attempt_facts const& facts);

/// Whether `retry_sent` allows a retry. Throws the exceptions of the policy's own `classify`.
ASIO_RETRY_DECL bool may_repeat(retry_settings const& settings, verdict const& failure,
                                attempt_facts const& facts);

/// The kind for gates, whether the failure is retried or not. If the failure says nothing about the server,
/// there is none: gates hear an abandoned attempt, hooks and observers a permanent failure. `timed_out`: a
/// limit had stopped the attempt; `failure` is then the attempt's own, or `verdict::timed_out` of it. Throws
/// the exceptions of the policy's own `classify`.
ASIO_RETRY_DECL std::optional<failure_kind> heard_kind(retry_settings const& settings, verdict const& failure,
                                                       bool timed_out, retry_wish wish);

/// The kind for gates after the policy's own `classify` has thrown.
ASIO_RETRY_DECL std::optional<failure_kind> heard_kind(verdict const& failure, bool timed_out,
                                                       retry_wish wish) noexcept;

/// Whether a gate of a nested operation has refused the attempt, or has delayed it until a limit before
/// anything was sent. Then gates hear an abandoned attempt; hooks and observers still hear the failure.
/// Precondition: no limit of the attempt itself has ended it.
ASIO_RETRY_DECL bool is_refusal(verdict const& failure, shared_value<nested_marks> const& marks) noexcept;

/// Whether a rule's predicate matches a failure that is not permanent. Throws the exceptions of the predicate.
ASIO_RETRY_DECL bool matches(retry_settings const& settings, retry_settings::predicate const& predicate,
                             verdict const& failure, attempt_facts const& facts);

} // namespace asio_retry::detail
