#pragma once

#include <asio_retry/detail/attempt/operation_form.hpp>
#include <asio_retry/detail/attempt/operation_hooks.hpp>
#include <asio_retry/detail/policy/refuse.hpp>
#include <asio_retry/detail/policy/report_recorder.hpp>
#include <asio_retry/retry_machine.hpp>
#include <asio_retry/retry_report.hpp>

#include <type_traits>
#include <utility>

namespace asio_retry::detail {

/// An operation with a retry_report. Made by `with_report`.
template <typename Operation>
class [[nodiscard("this starts nothing: give it to async_retry or retry")]] reported_operation
    : public wrapping_operation<Operation> {
public:
    /// For `with_report`.
    reported_operation(Operation given_operation, retry_report& given_report)
        : wrapping_operation<Operation>(std::move(given_operation))
        , recorder_(given_report) {}

private:
    friend struct operation_form<reported_operation>;

    report_recorder recorder_;
};

} // namespace asio_retry::detail

namespace asio_retry {

/// Fills in `report` while the operation runs: `async_retry(with_report(operation, report), policy)`.
///
/// `operation` is of any form that `async_retry` takes; the completion does not change.
///
/// Lifetimes: the report is referred to until the operation has completed. When the next operation with this
/// report starts, the facts of an earlier one are cleared.
///
/// Thread safety: it is written where the operation runs, without a lock.
template <typename Operation>
detail::wrapper<detail::reported_operation, Operation> with_report(Operation&& operation,
                                                                   retry_report& report) {
    detail::refuse_if_empty("with_report.operation", operation);
    return {std::forward<Operation>(operation), report};
}

/// Explains in a compiler error that an argument is an overloaded function.
ASIO_RETRY_REFUSES_OVERLOADED(
    "with_report: it takes an operation and a retry_report, and no overloaded function")
void with_report(...) ASIO_RETRY_REFUSED;

template <typename Operation>
struct detail::operation_form<detail::reported_operation<Operation>> : detail::wrapping_form<Operation> {
    static_assert(!detail::operation_form<Operation>::is_reported,
                  "with_report: the operation has a report already");
    static constexpr bool is_reported = true;
    static constexpr bool prepares = true;

    static void prepare(reported_operation<Operation>& operation, retry_machine& machine) {
        observation_at_exit const recorded(machine, operation.recorder_);
        operation.recorder_.clear();
        detail::wrapping_form<Operation>::prepare(operation, machine);
        operation.recorder_.make_room(machine.policy().settings().name);
    }
};

} // namespace asio_retry
