#pragma once

#include <asio_retry/detail/policy/config.hpp>
#include <asio_retry/detail/policy/machine_observer.hpp>
#include <asio_retry/detail/scope/scope_state.hpp>

#include <concepts>
#include <utility>

namespace asio_retry::detail {

/// The part of an operation that its scope knows.
template <typename Operation>
class basic_membership final : scope_member, cancellation_probe {
public:
    basic_membership(Operation& given_operation, scope_handle const& given_scope)
        : operation_(given_operation)
        , presence_(given_scope) {}
    ~basic_membership() = default;

    void link() {
        presence_.scope().link(*this);
        operation_.machine().watch(*this);
        operation_.machine().inherit_deadline(presence_.scope().deadline());
    }
    bool has_room() const noexcept { return presence_.has_room(); }

    /// Returns false while a notice is under way. If the operation is idle, no attempt of it runs, and the
    /// scope may give its room to another operation before its handler has run.
    bool unlink(bool is_idle = true) noexcept {
        return is_idle ? presence_.unlink(*this) : presence_.scope().unlink(*this);
    }

    timed_request take_request() noexcept { return presence_.scope().take_request(*this); }
    void miss_request() noexcept { presence_.scope().miss_request(*this); }
    void count_stopped_attempt() noexcept { presence_.scope().count_stopped_attempt(); }

    /// Ends the presence, unless a join waits for that.
    bool end_unjoined() noexcept { return presence_.end_unjoined(); }
    scope_presence take_presence() noexcept { return std::move(presence_); }

private:
    bool stops(bool) const noexcept override { return presence_.scope().stopped(); }
    bool tells_attempt() const noexcept override { return presence_.scope().cancelled(); }
    time_point deadline() const noexcept override { return presence_.scope().deadline(); }
    void on_scope_notice() override { operation_.post_scope_notice(); }
    void on_notice_failed() override { operation_.on_scope_notice_failed(); }

    Operation& operation_;
    scope_presence presence_;
};

/// Whether an operation belongs to a scope. In a scope it keeps a part that the scope knows, and a presence
/// until its handler has been called.
template <typename T, typename Operation>
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
            : member_(given_operation, membership.scope) {}
        basic_membership<Operation>* get() noexcept { return &member_; }
        presence take_presence() noexcept { return member_.take_presence(); }

    private:
        basic_membership<Operation> member_;
    };
};

} // namespace asio_retry::detail
