#include <asio_retry/detail/scope_drain.hpp>

#include <boost/asio/execution/context.hpp>
#include <boost/asio/query.hpp>

#include <new>

namespace asio_retry::detail {

drain_timeout::drain_timeout(std::shared_ptr<scope_state> scope)
    : scope_(std::move(scope))
    , scheduler_(scheduler(boost::asio::query(scope_->executor(), boost::asio::execution::context))) {}

std::shared_ptr<drain_timeout> drain_timeout::start(std::shared_ptr<scope_state> scope, duration timeout) {
    auto const result = std::make_shared<drain_timeout>(std::move(scope));
    result->self_ = result;
    try {
        if (!result->scheduler_.schedule(*result, saturating_add(result->scheduler_.now(), timeout)))
            result->self_.reset();
    } catch (...) {
        result->self_.reset();
        throw;
    }
    return result;
}

std::size_t drain_timeout::end() noexcept {
    if (scheduler_.cancel(*this))
        self_.reset();
    return cancelled_;
}

bool drain_timeout::on_expiry() {
    cancelled_ = scope_->unfinished();
    try {
        scope_->request(scope_request::cancel);
    } catch (std::bad_alloc const&) {
        return false;
    } catch (...) { // those that could not be told begin no attempt all the same
    }
    auto const released = std::exchange(self_, nullptr);
    return true;
}

void drain_timeout::on_shutdown() noexcept {
    auto const released = std::exchange(self_, nullptr);
}

} // namespace asio_retry::detail
