#pragma once

#include <asio_retry/attempt.hpp>
#include <asio_retry/detail/attempt/bound_operation.hpp>

namespace asio_retry::detail {

/// How to call an operation later, without its type.
template <typename Result>
struct later_call {
    void* operation;
    void const* endpoint;
    Result (*function)(void* operation, void const* endpoint, attempt const& which);

    Result operator()(attempt const& which) const { return function(operation, endpoint, which); }
};

/// How to call the operation of an attempt. Refers to the operation, which lives as long as the attempt.
template <typename Form, typename Operation>
class call_target {
public:
    explicit call_target(Operation& given_operation) noexcept
        : operation_(&given_operation) {}

    template <typename... Token>
    decltype(auto) call(attempt const& which, Token&&... token) const {
        return Form::call(*operation_, which, std::forward<Token>(token)...);
    }

    template <typename Result>
    later_call<Result> later() const noexcept {
        return {operation_, nullptr, [](void* operation, void const*, attempt const& which) -> Result {
                    return Form::call(*static_cast<Operation*>(operation), which);
                }};
    }

private:
    Operation* operation_;
};

/// How to call the operation of an attempt at an endpoint. A bound_operation lasts only as long as its call, so
/// this makes one for each call.
template <typename Form, typename Operation, typename Endpoint>
class call_target<Form, bound_operation<Operation, Endpoint>> {
    using bound = bound_operation<Operation, Endpoint>;

public:
    call_target(Operation& given_operation, Endpoint const& endpoint) noexcept
        : operation_(&given_operation)
        , endpoint_(&endpoint) {}

    template <typename... Token>
    decltype(auto) call(attempt const& which, Token&&... token) const {
        bound operation(*operation_, *endpoint_);
        return Form::call(operation, which, std::forward<Token>(token)...);
    }

    template <typename Result>
    later_call<Result> later() const noexcept {
        return {operation_, endpoint_,
                [](void* operation, void const* endpoint, attempt const& which) -> Result {
                    bound target(*static_cast<Operation*>(operation), *static_cast<Endpoint const*>(endpoint));
                    return Form::call(target, which);
                }};
    }

private:
    Operation* operation_;
    Endpoint const* endpoint_;
};

/// The attempt object for a call that comes later. If the operation takes an attempt, the object lasts until
/// the attempt ends, and this refers to it. Otherwise this is a copy.
template <bool Takes>
class kept_attempt {
public:
    explicit kept_attempt(attempt const& which) noexcept
        : which_(&which) {}
    attempt const& get() const noexcept { return *which_; }

private:
    attempt const* which_;
};
template <>
class kept_attempt<false> {
public:
    explicit kept_attempt(attempt const& which) noexcept
        : which_(which) {}
    attempt const& get() const noexcept { return which_; }

private:
    attempt which_;
};

} // namespace asio_retry::detail
