#include <asio_retry/detail/policy/retryable.hpp>

#include <asio_retry/error.hpp>
#include <asio_retry/failure_class.hpp>

#include <boost/system/errc.hpp>

#include <optional>
#include <variant>

namespace asio_retry::detail {
namespace {

bool is_retryable_by_default(verdict const& failure) {
    return failure.error() != boost::system::errc::operation_canceled;
}

struct ask {
    retry_settings const& settings;
    verdict const& failure;
    attempt_facts const& facts;

    bool operator()(std::monostate) const { return is_retryable_by_default(failure); }
    bool operator()(any_failure_t) const { return true; }
    bool operator()(retry_settings::code_predicate const& by_code) const { return by_code(failure.error()); }
    bool operator()(retry_settings::exception_predicate const& by_exception) const {
        return by_exception(failure.exception() ? failure.exception() : exception_of(failure.error()));
    }
    bool operator()(retry_settings::event_predicate const& by_event) const {
        return by_event(event_of(settings, failure, facts));
    }
    bool operator()(retry_settings::typed_predicate const& by_type) const {
        std::optional<bool> answer;
        if (failure.exception())
            answer = by_type(failure.exception());
        return answer ? *answer : is_retryable_by_default(failure);
    }
};

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

retry_event event_of(retry_settings const& settings, verdict const& failure, attempt_facts const& facts) {
    retry_event event;
    event.attempt = facts.number;
    event.error = failure.error();
    event.exception = failure.exception();
    event.elapsed = facts.elapsed;
    event.took = facts.took;
    event.stopped = facts.stopped;
    event.sent = effect_of(settings, failure, facts);
    return event;
}

bool is_retryable(retry_settings const& settings, verdict const& failure, attempt_facts const& facts) {
    bool const is_worth_it = failure.is_rejected()
                                 ? failure.rejected_as() != failure_kind::permanent
                                 : std::visit(ask{settings, failure, facts}, settings.retry_if);
    return is_worth_it && (settings.retry_sent || effect_of(settings, failure, facts) == effect::none);
}

} // namespace asio_retry::detail
