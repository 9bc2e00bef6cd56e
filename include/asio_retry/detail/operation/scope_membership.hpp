#pragma once

#include <asio_retry/detail/operation/operation_membership.hpp>
#include <asio_retry/detail/scope/scope_state.hpp>

#include <boost/asio/consign.hpp>

#include <concepts>
#include <utility>

namespace asio_retry::detail {

// Chooses types, no more: what happens is in operation_membership.cpp.

/// Whether an operation belongs to a scope, and what it keeps of that: a part, and a presence until its handler
/// has been called.
template <typename T>
concept membership =
    std::constructible_from<typename T::part, operation_core&, T> && requires(typename T::part& part) {
        { T::is_scoped } -> std::convertible_to<bool>;
        { part.get() } noexcept -> std::same_as<operation_membership*>;
        { part.take_presence() } noexcept -> std::same_as<typename T::presence>;
    };

/// An operation outside any scope.
struct no_membership {
    static constexpr bool is_scoped = false;

    struct presence {
        template <typename Handler>
        Handler&& until_called(Handler&& handler) const noexcept {
            return std::move(handler);
        }
    };

    class part {
    public:
        part(operation_core&, no_membership&&) noexcept {}
        operation_membership* get() noexcept { return nullptr; }
        presence take_presence() noexcept { return {}; }
    };
};

/// An operation started in a retry_scope.
struct scope_membership {
    static constexpr bool is_scoped = true;

    scope_handle scope;

    struct presence {
        scope_presence in;

        template <typename Handler>
        auto until_called(Handler&& handler) {
            return boost::asio::consign(std::move(handler), std::move(in));
        }
    };

    class part {
    public:
        part(operation_core& operation, scope_membership&& membership)
            : member_(operation, std::move(membership.scope)) {}
        operation_membership* get() noexcept { return &member_; }
        presence take_presence() noexcept { return {member_.take_presence()}; }

    private:
        operation_membership member_;
    };
};

} // namespace asio_retry::detail
