#include <asio_retry/detail/policy/retryable.hpp>

#include <asio_retry/detail/policy/policy_arguments.hpp>
#include <asio_retry/detail/policy/refuse.hpp>
#include <asio_retry/error.hpp>
#include <asio_retry/failure_class.hpp>

#include "policy/abortion.hpp"
#include "policy/known_class.hpp"
#include "policy/protocol_codes.hpp"

#include <optional>
#include <span>

namespace asio_retry::detail {
namespace {

/// The possible effect at the server: none if the attempt or its error code says so. The policy's own
/// `classify` is called only if the answer matters.
effect effect_of(retry_settings const& settings, verdict const& failure, attempt_facts const& facts) {
    if (!facts.may_have_sent)
        return effect::none;
    if (failure.own_kind() != failure_kind::none)
        return failure.own_effect();
    bool const asks = settings.classify && !settings.retry_sent;
    return (asks ? settings.classify(failure.error()) : classify(failure.error())).effect;
}

/// Like heard_kind; `classified` returns the meaning of the failure's code, or nothing if the code is unknown.
template <typename Classified>
std::optional<failure_kind> kind_by(Classified classified, verdict const& failure, bool timed_out,
                                    retry_wish wish) {
    bool const is_abort = failure.was_aborted() || (!failure.is_rejected() && is_abortion(failure.error()));
    if (failure.is_permanent() && !is_abort)
        return failure_kind::permanent;
    if (timed_out)
        return failure_kind::timeout;
    if (failure.own_kind() != failure_kind::none)
        return failure.own_kind();
    bool const is_wanted = wish == retry_wish::wanted;
    if (is_abort && (failure.is_permanent() || !(is_wanted || wish == retry_wish::asked)))
        return std::nullopt;
    std::optional<failure_class> const what = classified(failure.error());
    if (!what && wish == retry_wish::refused)
        return failure_kind::permanent;
    bool const is_none = !what || what->kind == failure_kind::none;
    return is_none || (is_abort && is_wanted && what->kind == failure_kind::permanent) ? failure_kind::transient
                                                                                       : what->kind;
}

/// The kind for hooks and observers, if gates get `heard`.
failure_kind told_kind(attempt_facts const& facts, std::optional<failure_kind> heard) noexcept {
    if (facts.stopped == interruption::cancellation || facts.wish == retry_wish::undecidable)
        return failure_kind::permanent;
    return heard.value_or(failure_kind::permanent);
}

failure_kind told_kind(retry_settings const& settings, verdict const& failure, attempt_facts const& facts) {
    return told_kind(facts, heard_kind(settings, failure, facts.is_out_of_time(), facts.wish));
}

} // namespace

retry_settings::predicate kind_predicate(std::string_view field, failure_kind const* kinds, std::size_t count) {
    retry_settings::predicate chosen;
    if (count == 0)
        refuse(field, "{}", "must have at least one kind of failure");
    for (failure_kind const kind : std::span(kinds, count)) {
        if (kind == failure_kind::permanent)
            refuse(field, "permanent", "is never retried");
        if (kind == failure_kind::none || kind > failure_kind::overloaded)
            refuse(field, "none", "must be a kind of failure");
        chosen.kinds |= static_cast<std::uint8_t>(1u << static_cast<unsigned>(kind));
    }
    return chosen;
}

retry_event event_of(verdict const& failure, attempt_facts const& facts) noexcept {
    retry_event event;
    event.attempt = facts.number;
    event.error = failure.error();
    event.exception = failure.exception();
    event.elapsed = facts.elapsed;
    event.took = facts.took;
    event.stopped = facts.stopped;
    event.sent = effect::possible;
    event.kind = told_kind(facts, heard_kind(failure, facts.is_out_of_time(), facts.wish));
    event.said = failure.said() ? failure.said() : facts.heeded;
    if (facts.is_forbidden)
        event.said = pushback::never();
    event.status = failure.status();
    event.limit = facts.limit;
    event.allowed = facts.allowed;
    return event;
}

retry_event event_of(retry_settings const& settings, verdict const& failure, attempt_facts const& facts) {
    retry_event event = event_of(failure, facts);
    event.policy = settings.name;
    event.sent = effect_of(settings, failure, facts);
    if (settings.classify && !failure.is_rejected())
        event.kind = told_kind(settings, failure, facts);
    return event;
}

bool is_retryable(retry_settings const& settings, verdict const& failure) {
    auto const& predicate = settings.retry_if;
    if (failure.is_rejected())
        return failure.own_kind() != failure_kind::permanent;
    if (predicate.by_code)
        return predicate.by_code(failure.error());
    if (predicate.by_exception)
        return predicate.by_exception(failure.exception() ? failure.exception()
                                                          : exception_of(failure.error()));
    if (predicate.by_type && failure.exception())
        if (std::optional<bool> const answer = predicate.by_type(failure.exception()))
            return *answer;
    if (!predicate.any && is_protocol_failure(failure.error()))
        return false;
    return predicate.any || !is_abortion(failure.error());
}

bool is_retryable(retry_settings const& settings, verdict const& failure, attempt_facts const& facts) {
    auto const& predicate = settings.retry_if;
    if (predicate.kinds != 0)
        return predicate.has(told_kind(settings, failure, facts));
    return predicate.by_event && !failure.is_rejected() ? predicate.by_event(event_of(settings, failure, facts))
                                                        : is_retryable(settings, failure);
}

bool may_repeat(retry_settings const& settings, verdict const& failure, attempt_facts const& facts) {
    return settings.retry_sent || effect_of(settings, failure, facts) == effect::none;
}

std::optional<failure_kind> heard_kind(retry_settings const& settings, verdict const& failure, bool timed_out,
                                       retry_wish wish) {
    if (!settings.classify)
        return heard_kind(failure, timed_out, wish);
    auto const classified = [&](error_code const& code) {
        failure_class const what = settings.classify(code);
        bool const is_known = code != error::operation_threw || what.kind != failure_kind::transient;
        return is_known ? std::optional(what) : std::nullopt;
    };
    return kind_by(classified, failure, timed_out, wish);
}

std::optional<failure_kind> heard_kind(verdict const& failure, bool timed_out, retry_wish wish) noexcept {
    return kind_by(known_class, failure, timed_out, wish);
}

bool is_refusal(verdict const& failure, shared_value<nested_marks> const& marks) noexcept {
    error_code const& code = failure.error();
    if (failure.own_kind() != failure_kind::none)
        return false;
    if (code.category() == error_category())
        return code == condition::refused;
    return marks && marks->waited && !marks->sent && code == timed_out_error();
}

bool matches(retry_settings const& settings, retry_settings::predicate const& predicate, verdict const& failure,
             attempt_facts const& facts) {
    if (predicate.by_code)
        return predicate.by_code(failure.error());
    if (predicate.by_exception)
        return predicate.by_exception(failure.exception() ? failure.exception()
                                                          : exception_of(failure.error()));
    if (predicate.by_event)
        return predicate.by_event(event_of(settings, failure, facts));
    if (predicate.by_type)
        return failure.exception() && predicate.by_type(failure.exception()).value_or(false);
    if (predicate.kinds != 0)
        return predicate.has(told_kind(settings, failure, facts));
    return predicate.any;
}

} // namespace asio_retry::detail
