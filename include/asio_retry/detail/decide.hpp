#pragma once

#include <asio_retry/detail/asio.hpp>
#include <asio_retry/error.hpp>
#include <asio_retry/retry_machine.hpp>
#include <asio_retry/retry_scheduler.hpp>

#include <exception>
#include <memory>
#include <optional>
#include <utility>

namespace asio_retry::detail {

/// The scheduler of an operation and its stream of random numbers: looked up when first needed, which is after
/// the first failure, unless there is a time limit. `Executors` says where the operation waits.
template <typename Executors>
class lazy_scheduler {
public:
    template <typename... Args>
    explicit lazy_scheduler(Args&&... args)
        : executors_(std::forward<Args>(args)...) {}
    lazy_scheduler(lazy_scheduler const&) = delete;
    lazy_scheduler& operator=(lazy_scheduler const&) = delete;

    Executors const& executors() const noexcept { return executors_; }

    retry_scheduler& get() {
        if (!scheduler_) {
            retry_scheduler& found = scheduler(asio::query(executors_.waits_on(), asio::execution::context));
            std::construct_at(&random_, found.next_random());
            scheduler_ = &found;
        }
        return *scheduler_;
    }

    time_point now() { return get().now(); }

    random& get_random() {
        get();
        return random_;
    }

    /// With a seed, streams go to the operations in the order of their initiation.
    void take_seeded_stream() {
        if (retry_scheduler::any_seeded())
            get();
    }

    /// The time, for a machine that needs it even if nothing fails.
    time_point time_for(retry_machine const& machine) { return machine.measures_time() ? now() : time_point(); }

private:
    Executors executors_;
    retry_scheduler* scheduler_ = nullptr;
    union {
        random random_; // there if the scheduler is
    };
};

/// What follows from the result of an attempt. A wait begins at `now`. Time and randomness come from `source`,
/// such as a lazy_scheduler.
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
