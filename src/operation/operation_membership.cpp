#include <asio_retry/detail/operation/operation_membership.hpp>

namespace asio_retry::detail {

void operation_membership::link() {
    presence_.scope().link(*this);
    operation_.machine().watch(*this);
    operation_.machine().inherit_deadline(presence_.scope().deadline());
}

bool operation_membership::stops(bool) const noexcept {
    return presence_.scope().stopped();
}

bool operation_membership::tells_attempt() const noexcept {
    return presence_.scope().cancelled();
}

void operation_membership::on_scope_notice() {
    operation_.post_scope_notice();
}

void operation_membership::on_notice_failed() {
    operation_.on_scope_notice_failed();
}

} // namespace asio_retry::detail
