#include <asio_retry/detail/scope_join.hpp>

#include <asio_retry/detail/scope_state.hpp>
#include <asio_retry/retry_scheduler.hpp>

#include <atomic>
#include <mutex>
#include <new>
#include <utility>

namespace asio_retry::detail {

scope_join::scope_join(std::shared_ptr<scope_state> scope) noexcept
    : scope_(std::move(scope))
    , id_(scope_->joins_begun_.fetch_add(1, std::memory_order_relaxed)) {}

scope_join::~scope_join() = default;

boost::asio::any_io_executor const& scope_join::scope_executor() const noexcept {
    return scope_->executor();
}

/// Without memory for the turn the scheduler tries again, and again. Precondition: it has ended.
void scope_join::finish() noexcept {
    retry_scheduler& waits = scope_->waits();
    try {
        return post();
    } catch (...) { // no turn is queued
    }
    try {
        if (!waits.schedule(*this, waits.now()))
            dissolve();
    } catch (...) { // there is nowhere else to go on
        end();
    }
}

bool scope_join::on_expiry() {
    if (auto const scope = scope_) {
        std::unique_lock lock(scope->mutex_);
        if (!has_ended_) { // the time for a drain is up
            if (!stopped_before_)
                stopped_before_ = scope->stopped_attempts_;
            lock.unlock();
            try {
                scope->request(scope_request::cancel);
            } catch (std::bad_alloc const&) {
                return false;
            } catch (...) { // those that could not be told begin no attempt all the same
            }
            lock.lock();
        }
        if (!has_ended_) {
            if (scope->waits().schedule(*this, time_point::max()))
                return true;
            scope->joins_.erase(scope->joins_.iterator_to(*this));
            lock.unlock();
            dissolve();
            return true;
        }
    }
    try {
        post();
    } catch (std::bad_alloc const&) {
        return false;
    } catch (...) { // the executor takes nothing
        end();
    }
    return true;
}

void scope_join::on_shutdown() noexcept {
    if (auto const scope = scope_) {
        std::lock_guard const lock(scope->mutex_);
        if (!has_ended_)
            scope->joins_.erase(scope->joins_.iterator_to(*this));
    }
    dissolve();
}

} // namespace asio_retry::detail
