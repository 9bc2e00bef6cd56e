#pragma once

#include <asio_retry/attempt.hpp>

#include <functional>
#include <type_traits>
#include <utility>

namespace asio_retry::detail {

/// An operation with the endpoint of one attempt, in a form that async_retry takes.
template <typename Operation, typename Endpoint>
class [[nodiscard]] bound_operation {
public:
    bound_operation(Operation& given_operation, Endpoint const& endpoint) noexcept
        : operation_(given_operation)
        , endpoint_(endpoint) {}

    Operation& operation() const noexcept { return operation_; }
    Endpoint const& endpoint() const noexcept { return endpoint_; }

    decltype(auto) operator()()
        requires std::is_invocable_v<Operation&, Endpoint const&>
    {
        return std::invoke(operation_, endpoint_);
    }
    decltype(auto) operator()(attempt const& which)
        requires std::is_invocable_v<Operation&, attempt const&, Endpoint const&>
    {
        return std::invoke(operation_, which, endpoint_);
    }
    template <typename Token>
        requires std::is_invocable_v<Operation&, Endpoint const&, Token>
    decltype(auto) operator()(Token&& token) {
        return std::invoke(operation_, endpoint_, std::forward<Token>(token));
    }
    template <typename Token>
        requires std::is_invocable_v<Operation&, attempt const&, Endpoint const&, Token>
    decltype(auto) operator()(attempt const& which, Token&& token) {
        return std::invoke(operation_, which, endpoint_, std::forward<Token>(token));
    }

private:
    Operation& operation_;
    Endpoint const& endpoint_;
};

} // namespace asio_retry::detail
