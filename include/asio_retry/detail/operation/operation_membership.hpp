#pragma once

#include <asio_retry/detail/operation/operation_core.hpp>
#include <asio_retry/detail/scope/scope_state.hpp>
#include <asio_retry/retry_machine.hpp>

#include <utility>

namespace asio_retry::detail {

/// The part of an operation that its scope knows.
class ASIO_RETRY_DECL operation_membership final : scope_member, cancellation_probe {
public:
    operation_membership(operation_core& operation, scope_handle&& scope)
        : operation_(operation)
        , presence_(std::move(scope)) {}
    ~operation_membership() = default;

    void link();
    bool has_room() const noexcept { return presence_.has_room(); }

    /// Returns false while a notice is under way.
    bool unlink() noexcept { return presence_.scope().unlink(*this); }

    scope_request take_request() noexcept { return presence_.scope().take_request(*this); }
    void miss_request() noexcept { presence_.scope().miss_request(*this); }
    void count_stopped_attempt() noexcept { presence_.scope().count_stopped_attempt(); }

    scope_presence take_presence() noexcept { return std::move(presence_); }

private:
    bool stops(bool total_counts) const noexcept override;
    bool tells_attempt() const noexcept override;
    void on_scope_notice() override;
    void on_notice_failed() override;

    operation_core& operation_;
    scope_presence presence_;
};

} // namespace asio_retry::detail
