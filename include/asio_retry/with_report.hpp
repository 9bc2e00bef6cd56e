#pragma once

#include <asio_retry/detail/attempt/observation_at_exit.hpp>
#include <asio_retry/detail/attempt/operation_form.hpp>
#include <asio_retry/detail/policy/refuse.hpp>
#include <asio_retry/detail/policy/report_recorder.hpp>
#include <asio_retry/failure_class.hpp>
#include <asio_retry/retry_report.hpp>

#include <type_traits>
#include <utility>

namespace asio_retry::detail {

/// An operation with a retry_report. Made by `with_report`.
template <typename Operation>
class [[nodiscard("this starts nothing: give it to async_retry or retry")]] reported_operation {
public:
    /// For `with_report`.
    reported_operation(Operation given_operation, retry_report& given_report)
        : operation_(std::move(given_operation))
        , recorder_(given_report) {}

private:
    friend struct operation_form<reported_operation>;

    Operation operation_;
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

template <typename Operation>
struct detail::operation_form<detail::reported_operation<Operation>> : detail::operation_form<Operation> {
    using inner = detail::operation_form<Operation>;
    using reported = reported_operation<Operation>;

    template <typename... Token>
    static decltype(auto) call(reported& operation, attempt const& which, Token&&... token) {
        return inner::call(operation.operation_, which, std::forward<Token>(token)...);
    }

    template <typename... Values>
    static judgement rejects(reported& operation, Values const&... values) {
        return inner::rejects(operation.operation_, values...);
    }

    static constexpr bool is_reported = true;
    static constexpr bool prepares = true;
    static_assert(!inner::is_reported, "with_report: the operation has a report already");

    static machine_observer* chooser_of(reported& operation) noexcept {
        return inner::chooser_of(operation.operation_);
    }
    static void prepare(reported& operation, retry_machine& machine) {
        observation_at_exit const recorded(machine, operation.recorder_);
        operation.recorder_.clear();
        inner::prepare(operation.operation_, machine);
        operation.recorder_.make_room();
    }
};

} // namespace asio_retry
