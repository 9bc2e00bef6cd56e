#pragma once

#include <asio_retry/error.hpp>
#include <asio_retry/failure_class.hpp>
#include <asio_retry/random.hpp>
#include <asio_retry/retry_machine.hpp>
#include <asio_retry/verdict.hpp>

#include <concepts>
#include <exception>

namespace asio_retry::detail {

/// Time and randomness of a retry. If the machine measures no time, `time_for` need not read the clock.
template <typename T>
concept time_source = requires(T& source, retry_machine const& machine) {
    { source.now() } -> std::same_as<time_point>;
    { source.time_for(machine) } -> std::same_as<time_point>;
    { source.get_random() } -> std::same_as<random&>;
};

template <time_source Source>
retry_action begin(retry_machine& machine, Source& source, time_point now) {
    return machine.waits_when_refused() ? machine.start(now, source.get_random()) : machine.start(now);
}

/// Decides after a wait that is over at `now`.
template <time_source Source>
retry_action decide_after_wait(retry_machine& machine, Source& source, time_point now) {
    return machine.waits_when_refused() ? machine.on_wait_over(now, source.get_random())
                                        : machine.on_wait_over(now);
}

/// Decides after an attempt. If it has not `failed`, `rejects` may still judge it a failure. After a failure
/// sets `now`, because a wait begins then.
template <typename Rejects, typename Judge, time_source Source>
retry_action decide(retry_machine& machine, bool failed, Rejects rejects, Judge judge, Source& source,
                    time_point& now) {
    judgement judged;
    if (!failed) {
        try {
            judged = rejects();
        } catch (...) {
            return machine.on_exception(error::predicate_threw, std::current_exception(), source.now());
        }
    }
    if (!failed && !judged.failed)
        return machine.on_success(machine.is_observed() ? source.now() : time_point());
    now = source.now();
    return machine.on_failure(failed ? judge() : verdict::rejected(judged), now, source.get_random());
}

/// Decides after an attempt whose result has a known type.
template <typename Completion, typename Form, typename Callable, time_source Source>
retry_action decide_on(retry_machine& machine, [[maybe_unused]] Callable& callable,
                       typename Completion::arguments const& result, Source& source, time_point& now) {
    return decide(
        machine, Completion::is_failure(result),
        [&] {
            if constexpr (Form::judges_results)
                return Completion::template rejects<Form>(callable, result);
            else
                return judgement();
        },
        [&] { return Completion::verdict_on(result); }, source, now);
}

} // namespace asio_retry::detail
