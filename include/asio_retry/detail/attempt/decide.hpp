#pragma once

#include <asio_retry/error.hpp>
#include <asio_retry/random.hpp>
#include <asio_retry/retry_machine.hpp>

#include <concepts>
#include <exception>

namespace asio_retry::detail {

/// Where a retry has its time and its randomness from. `time_for` need not look unless the machine measures
/// time.
template <typename T>
concept time_source = requires(T& source, retry_machine const& machine) {
    { source.now() } -> std::same_as<time_point>;
    { source.time_for(machine) } -> std::same_as<time_point>;
    { source.get_random() } -> std::same_as<random&>;
};

/// What follows from the result of an attempt. A wait begins at `now`.
template <typename Completion, typename Form, typename Callable, time_source Source>
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
