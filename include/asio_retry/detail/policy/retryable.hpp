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

/// What `retry_if` says of a failure. Where nobody knows its code, that decides what kind of failure it is.
enum class retry_wish : unsigned char {
    asked,       ///< it is being asked
    unasked,     ///< it was not asked, or could not answer
    refused,     ///< no retry
    wanted,      ///< a retry
    undecidable, ///< there is no failure that it could be asked about
};

/// What is known of an attempt that ended, beside its failure.
struct attempt_facts {
    std::uint64_t number = 0;
    duration elapsed{};
    duration took{};
    interruption stopped = interruption::none;
    bool may_have_sent = true; ///< as far as it has said itself
    time_limit limit = time_limit::none;
    duration allowed{};        ///< by that limit
    pushback heeded{};         ///< what it said that it was told
    bool is_forbidden = false; ///< what is nested in it was told not to try again
    retry_wish wish = retry_wish::asked;
};

/// What the hooks and predicates are told, but that the attempt may have done anything at its peer, and that
/// the kind is not by the policy's own `classify`.
ASIO_RETRY_DECL retry_event event_of(verdict const& failure, attempt_facts const& facts) noexcept;

/// The same, and by the policy's own. Throws what the policy's own `classify` throws.
ASIO_RETRY_DECL retry_event event_of(retry_settings const& settings, verdict const& failure,
                                     attempt_facts const& facts);

/// Whether `retry_if` wants a retry after a failure that is not permanent, where it asks for no more than the
/// failure. Throws what the predicate throws.
ASIO_RETRY_DECL bool is_retryable(retry_settings const& settings, verdict const& failure);

/// The same for any policy.
ASIO_RETRY_DECL bool is_retryable(retry_settings const& settings, verdict const& failure,
                                  attempt_facts const& facts);

/// Whether `retry_sent` allows a retry. Throws what the policy's own `classify` throws.
ASIO_RETRY_DECL bool may_repeat(retry_settings const& settings, verdict const& failure,
                                attempt_facts const& facts);

/// The kind that gates hear, whether the failure is retried or not. None if the failure says nothing of the
/// server: then the attempt is abandoned, which is `permanent` for everybody else. `timed_out`: a limit had
/// told the attempt to stop; `failure` is what the attempt made of that, or `timed_out` of it. Throws what the
/// policy's own `classify` throws.
ASIO_RETRY_DECL std::optional<failure_kind> heard_kind(retry_settings const& settings, verdict const& failure,
                                                       bool timed_out, retry_wish wish);

/// The same where the policy's own `classify` has thrown.
ASIO_RETRY_DECL std::optional<failure_kind> heard_kind(verdict const& failure, bool timed_out,
                                                       retry_wish wish) noexcept;

/// What the predicate of a rule says of any failure, permanent ones apart. Throws what it throws.
ASIO_RETRY_DECL bool matches(retry_settings const& settings, retry_settings::predicate const& predicate,
                             verdict const& failure, attempt_facts const& facts);

} // namespace asio_retry::detail
