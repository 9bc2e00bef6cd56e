#include <asio_retry/detail/policy/retryable.hpp>

#include <asio_retry/error.hpp>
#include <asio_retry/failure_class.hpp>

#include "policy/abortion.hpp"
#include "policy/protocol_codes.hpp"

#include <optional>
#include <variant>

namespace asio_retry::detail {
namespace {

/// The kind of a failure where `classified` says what its code means.
failure_kind kind_of(verdict const& failure, attempt_facts const& facts,
                     failure_class const& classified) noexcept {
    bool const is_late =
        facts.stopped == interruption::attempt_timeout || facts.stopped == interruption::deadline;
    if (failure.is_permanent())
        return failure_kind::permanent;
    if (is_late)
        return failure_kind::timeout;
    if (failure.is_rejected())
        return failure.rejected_as();
    return classified.kind == failure_kind::none ? failure_kind::transient : classified.kind;
}

/// What the attempt may have done at the peer: nothing if it says so, or if its error does. The policy's own
/// function is asked where the answer decides.
effect effect_of(retry_settings const& settings, verdict const& failure, attempt_facts const& facts) {
    if (!facts.may_have_sent)
        return effect::none;
    if (failure.is_rejected())
        return failure.rejected_effect();
    bool const asks = settings.classify && !settings.retry_sent;
    return (asks ? settings.classify(failure.error()) : classify(failure.error())).effect;
}

} // namespace

retry_event event_of(verdict const& failure, attempt_facts const& facts) noexcept {
    retry_event event;
    event.attempt = facts.number;
    event.error = failure.error();
    event.exception = failure.exception();
    event.elapsed = facts.elapsed;
    event.took = facts.took;
    event.stopped = facts.stopped;
    event.sent = effect::possible;
    event.kind = kind_of(failure, facts, classify(failure.error()));
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
    event.sent = effect_of(settings, failure, facts);
    if (settings.classify && !failure.is_rejected())
        event.kind = kind_of(failure, facts, settings.classify(failure.error()));
    return event;
}

bool is_retryable(retry_settings const& settings, verdict const& failure) {
    auto const& predicate = settings.retry_if;
    if (failure.is_rejected())
        return failure.rejected_as() != failure_kind::permanent;
    if (auto const* by_code = std::get_if<retry_settings::code_predicate>(&predicate))
        return (*by_code)(failure.error());
    if (auto const* by_exception = std::get_if<retry_settings::exception_predicate>(&predicate))
        return (*by_exception)(failure.exception() ? failure.exception() : exception_of(failure.error()));
    if (auto const* by_type = std::get_if<retry_settings::typed_predicate>(&predicate);
        by_type && failure.exception())
        if (std::optional<bool> const answer = (*by_type)(failure.exception()))
            return *answer;
    if (!std::holds_alternative<any_failure_t>(predicate) && is_protocol_failure(failure.error()))
        return false;
    return std::holds_alternative<any_failure_t>(predicate) || !is_abortion(failure.error());
}

bool is_retryable(retry_settings const& settings, verdict const& failure, attempt_facts const& facts) {
    auto const* const by_event = std::get_if<retry_settings::event_predicate>(&settings.retry_if);
    bool const is_worth_it = by_event && !failure.is_rejected()
                                 ? (*by_event)(event_of(settings, failure, facts))
                                 : is_retryable(settings, failure);
    return is_worth_it && (settings.retry_sent || effect_of(settings, failure, facts) == effect::none);
}

bool matches(retry_settings const& settings, retry_settings::predicate const& predicate, verdict const& failure,
             attempt_facts const& facts) {
    if (auto const* by_code = std::get_if<retry_settings::code_predicate>(&predicate))
        return (*by_code)(failure.error());
    if (auto const* by_exception = std::get_if<retry_settings::exception_predicate>(&predicate))
        return (*by_exception)(failure.exception() ? failure.exception() : exception_of(failure.error()));
    if (auto const* by_event = std::get_if<retry_settings::event_predicate>(&predicate))
        return (*by_event)(event_of(settings, failure, facts));
    if (auto const* by_type = std::get_if<retry_settings::typed_predicate>(&predicate))
        return failure.exception() && (*by_type)(failure.exception()).value_or(false);
    return std::holds_alternative<any_failure_t>(predicate);
}

} // namespace asio_retry::detail
