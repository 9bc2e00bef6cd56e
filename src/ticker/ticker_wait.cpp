#include <asio_retry/detail/ticker/ticker_state.hpp>

namespace asio_retry::detail {

void ticker_wait::on_cancelled(boost::asio::cancellation_type_t type) {
    if (type == boost::asio::cancellation_type::none)
        return;
    auto const state = state_; // outlives the wait
    state->cancel(*this);
}

bool ticker_wait::on_expiry() {
    return state_->on_expiry(*this);
}

void ticker_wait::on_shutdown() noexcept {
    state_->forget(*this);
    dissolve();
}

} // namespace asio_retry::detail
