#pragma once

#include <asio_retry/error.hpp>
#include <asio_retry/random.hpp>
#include <asio_retry/retry_machine.hpp>

#include <exception>

namespace asio_retry::detail {

/// What follows from the result of an attempt. A wait begins at `now`. Time and randomness come from `source`,
/// such as an operation's scheduler.
template <typename Completion, typename Form, typename Callable, typename Source>
retry_action decide(retry_machine& machine, Callable& callable, typename Completion::arguments const& result,
                    Source& source, time_point& now) {
    bool succeeded = !Completion::is_failure(result);
    if constexpr (Form::judges_results) {
        try {
            succeeded = succeeded && !Completion::template rejects<Form>(callable, result);
        } catch (...) {
            return machine.on_exception(error::predicate_threw, std::current_exception(),
                                        source.time_for(machine));
        }
    }
    if (succeeded)
        return machine.on_success(source.time_for(machine));
    now = source.now();
    return machine.on_failure(Completion::verdict_on(result), now, source.get_random());
}

} // namespace asio_retry::detail
