#pragma once

#include <asio_retry/attempt.hpp>
#include <asio_retry/detail/attempt/bound_operation.hpp>
#include <asio_retry/detail/attempt/operation_form.hpp>
#include <asio_retry/detail/inject/injected_calls.hpp>
#include <asio_retry/detail/inject/injecting_form.hpp>
#include <asio_retry/fault_plan.hpp>

#include <memory>
#include <utility>

namespace asio_retry::detail {

/// An operation whose attempts have faults. Made by `inject`.
template <typename Operation>
class [[nodiscard("this starts nothing: give it to async_retry or retry")]] injected_operation
    : public wrapping_operation<Operation> {
public:
    /// For `inject`.
    injected_operation(Operation given_operation, std::shared_ptr<fault_plan> faults)
        : wrapping_operation<Operation>(std::move(given_operation))
        , faults_(std::move(faults)) {}

private:
    template <typename>
    friend struct operation_form;

    std::shared_ptr<fault_plan> faults_;
};

template <typename Operation>
struct operation_form<injected_operation<Operation>>
    : wrapping_form<Operation, injecting_form<operation_form<Operation>>> {
    template <typename... Token>
    static decltype(auto) call(injected_operation<Operation>& operation, attempt const& which,
                               Token&&... token) {
        return operation_form::inject(call_target<operation_form<Operation>, Operation>(operation.operation_),
                                      operation.faults_, which, std::forward<Token>(token)...);
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
