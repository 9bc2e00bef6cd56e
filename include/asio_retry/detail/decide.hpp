#pragma once

#include <asio_retry/detail/asio.hpp>
#include <asio_retry/error.hpp>
#include <asio_retry/retry_machine.hpp>
#include <asio_retry/retry_scheduler.hpp>

#include <exception>
#include <optional>

namespace asio_retry::detail {

/// The scheduler of an operation and its stream of random numbers: looked up when first needed, which is after
/// the first failure, unless there is a time limit.
template <typename Executor>
class lazy_scheduler {
public:
    explicit lazy_scheduler(Executor const& executor)
        : executor_(executor) {}

    retry_scheduler& get() {
        if (!scheduler_)
            scheduler_ = &scheduler(asio::query(executor_, asio::execution::context));
        return *scheduler_;
    }

    time_point now() { return get().now(); }

    random& get_random() {
        if (!random_)
            random_.emplace(get().next_random());
        return *random_;
    }

    /// With a seed, streams go to the operations in the order of their initiation.
    void take_seeded_stream() {
        if (retry_scheduler::any_seeded())
            get_random();
    }

    /// The time, for a machine that needs it even if nothing fails.
    time_point time_for(retry_machine const& machine) { return machine.measures_time() ? now() : time_point(); }

    Executor const& executor() const noexcept { return executor_; }

private:
    Executor executor_;
    retry_scheduler* scheduler_ = nullptr;
    std::optional<random> random_;
};

/// What follows from the result of an attempt. A wait begins at `now`. Time and randomness come from `source`,
/// such as a lazy_scheduler.
template <typename Completion, typename Form, typename Callable, typename Source>
retry_action decide(retry_machine& machine, Callable& callable, typename Completion::arguments const& result,
                    Source& source, time_point& now) {
    std::optional<verdict> judged;
    try {
        judged.emplace(Completion::template judge<Form>(callable, result));
    } catch (...) {
        return machine.on_exception(error::predicate_threw, std::current_exception(), source.time_for(machine));
    }
    if (judged->succeeded())
        return machine.on_success(source.time_for(machine));
    now = source.now();
    return machine.on_failure(*judged, now, source.get_random());
}

} // namespace asio_retry::detail
