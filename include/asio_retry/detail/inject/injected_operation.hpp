#pragma once

#include <asio_retry/attempt.hpp>
#include <asio_retry/detail/attempt/bound_operation.hpp>
#include <asio_retry/detail/attempt/operation_form.hpp>
#include <asio_retry/detail/inject/injected_calls.hpp>
#include <asio_retry/detail/inject/injecting_form.hpp>
#include <asio_retry/detail/policy/machine_observer.hpp>
#include <asio_retry/failure_class.hpp>
#include <asio_retry/fault_plan.hpp>
#include <asio_retry/retry_machine.hpp>

#include <memory>
#include <utility>

namespace asio_retry::detail {

/// An operation whose attempts have faults. Made by `inject`.
template <typename Operation>
class [[nodiscard("this starts nothing: give it to async_retry or retry")]] injected_operation {
public:
    /// For `inject`.
    injected_operation(Operation given_operation, std::shared_ptr<fault_plan> faults)
        : operation_(std::move(given_operation))
        , faults_(std::move(faults)) {}

private:
    template <typename>
    friend struct operation_form;

    Operation operation_;
    std::shared_ptr<fault_plan> faults_;
};

template <typename Operation>
struct operation_form<injected_operation<Operation>> : injecting_form<operation_form<Operation>> {
    using inner = operation_form<Operation>;
    using injected = injected_operation<Operation>;

    template <typename... Token>
    static decltype(auto) call(injected& operation, attempt const& which, Token&&... token) {
        return operation_form::inject(call_target<inner, Operation>(operation.operation_), operation.faults_,
                                      which, std::forward<Token>(token)...);
    }

    static void prepare(injected& operation, retry_machine& machine) {
        inner::prepare(operation.operation_, machine);
    }
    static machine_observer* chooser_of(injected& operation) noexcept {
        return inner::chooser_of(operation.operation_);
    }

    template <typename... Values>
    static judgement rejects(injected& operation, Values const&... values) {
        return inner::rejects(operation.operation_, values...);
    }
};

/// The same with the endpoint of one attempt.
template <typename Operation, typename Endpoint>
struct operation_form<bound_operation<injected_operation<Operation>, Endpoint>>
    : injecting_form<operation_form<bound_operation<Operation, Endpoint>>> {
    using target = bound_operation<Operation, Endpoint>;
    using inner = operation_form<target>;
    using bound = bound_operation<injected_operation<Operation>, Endpoint>;

    template <typename... Token>
    static decltype(auto) call(bound& operation, attempt const& which, Token&&... token) {
        injected_operation<Operation>& injected = operation.operation();
        return operation_form::inject(call_target<inner, target>(injected.operation_, operation.endpoint()),
                                      injected.faults_, which, std::forward<Token>(token)...);
    }
};

} // namespace asio_retry::detail
