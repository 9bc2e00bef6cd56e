#include <asio_retry/detail/policy/retryable.hpp>

#include <asio_retry/detail/policy/failure_predicate.hpp>
#include <asio_retry/detail/policy/refuse.hpp>
#include <asio_retry/error.hpp>
#include <asio_retry/failure_class.hpp>

#include "policy/abortion.hpp"

#include <optional>
#include <variant>

namespace asio_retry::detail {
namespace {

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

/// What a failure says about the peer.
failure_kind kind_of(retry_settings const& settings, verdict const& failure, attempt_facts const& facts) {
    if (facts.stopped == interruption::attempt_timeout || facts.stopped == interruption::deadline)
        return failure_kind::timeout;
    if (failure.is_rejected())
        return failure.rejected_as();
    auto const& own = settings.classify;
    failure_kind const kind = (own ? own(failure.error()) : classify(failure.error())).kind;
    return kind == failure_kind::none ? failure_kind::transient : kind;
}

bool is_wanted(retry_settings const& settings, verdict const& failure, attempt_facts const& facts) {
    if (auto const* by_kind = std::get_if<retry_settings::kind_predicate>(&settings.retry_if))
        return by_kind->has(kind_of(settings, failure, facts));
    auto const* const by_event = std::get_if<retry_settings::event_predicate>(&settings.retry_if);
    return by_event && !failure.is_rejected() ? (*by_event)(event_of(settings, failure, facts))
                                              : is_retryable(settings, failure);
}

} // namespace

retry_settings::predicate kind_predicate(std::string_view field, std::span<failure_kind const> kinds) {
    retry_settings::kind_predicate chosen;
    if (kinds.empty())
        refuse(field, "{}", "must have at least one kind of failure");
    for (failure_kind const kind : kinds) {
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
    return event;
}

retry_event event_of(retry_settings const& settings, verdict const& failure, attempt_facts const& facts) {
    retry_event event = event_of(failure, facts);
    event.sent = effect_of(settings, failure, facts);
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
    return std::holds_alternative<any_failure_t>(predicate) || !is_abortion(failure.error());
}

bool is_retryable(retry_settings const& settings, verdict const& failure, attempt_facts const& facts) {
    return is_wanted(settings, failure, facts) &&
           (settings.retry_sent || effect_of(settings, failure, facts) == effect::none);
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
    if (auto const* by_kind = std::get_if<retry_settings::kind_predicate>(&predicate))
        return by_kind->has(kind_of(settings, failure, facts));
    return std::holds_alternative<any_failure_t>(predicate);
}

} // namespace asio_retry::detail
