#pragma once

#include <asio_retry/detail/operation/operation_membership.hpp>
#include <asio_retry/detail/scope/scope_state.hpp>

#include <concepts>
#include <utility>

namespace asio_retry::detail {

// This header only chooses types; the code is in operation_membership.hpp.

/// Whether an operation belongs to a scope. In a scope it keeps a part that the scope knows, and a presence
/// until its handler has been called.
template <typename T, typename Operation = operation_core>
concept membership = std::constructible_from<typename T::template part<Operation>, Operation&, T> &&
                     requires(typename T::template part<Operation>& part) {
                         { T::is_scoped } -> std::convertible_to<bool>;
                         { part.get() } noexcept -> std::same_as<basic_membership<Operation>*>;
                         { part.take_presence() } noexcept -> std::same_as<typename T::presence>;
                     };

/// An operation outside any scope.
struct no_membership {
    static constexpr bool is_scoped = false;

    struct presence {};

    template <typename Operation>
    class part {
    public:
        part(Operation&, no_membership&&) noexcept {}
        basic_membership<Operation>* get() noexcept { return nullptr; }
        presence take_presence() noexcept { return {}; }
    };
};

/// An operation started in a retry_scope.
struct scope_membership {
    static constexpr bool is_scoped = true;

    scope_handle scope;

    using presence = scope_presence;

    template <typename Operation>
    class part {
    public:
        part(Operation& given_operation, scope_membership&& membership)
            : member_(given_operation, std::move(membership.scope)) {}
        basic_membership<Operation>* get() noexcept { return &member_; }
        presence take_presence() noexcept { return member_.take_presence(); }

    private:
        basic_membership<Operation> member_;
    };
};

} // namespace asio_retry::detail
