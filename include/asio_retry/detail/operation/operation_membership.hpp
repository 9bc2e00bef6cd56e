#pragma once

#include <asio_retry/detail/operation/operation_core.hpp>
#include <asio_retry/detail/policy/config.hpp>
#include <asio_retry/detail/scope/scope_state.hpp>
#include <asio_retry/retry_machine.hpp>

#include <utility>

namespace asio_retry::detail {

/// The part of an operation that its scope knows.
template <typename Operation>
class basic_membership final : scope_member, cancellation_probe {
public:
    basic_membership(Operation& given_operation, scope_handle&& given_scope)
        : operation_(given_operation)
        , presence_(std::move(given_scope)) {}
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

using operation_membership = basic_membership<operation_core>;

#if ASIO_RETRY_LEAVES_INSTANTIATION
extern template class ASIO_RETRY_DECL_INSTANTIATION basic_membership<operation_core>;
#endif

} // namespace asio_retry::detail
