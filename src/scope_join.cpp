#include <asio_retry/detail/scope_join.hpp>

#include <asio_retry/detail/scope_state.hpp>
#include <asio_retry/retry_scheduler.hpp>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <new>
#include <utility>

namespace asio_retry::detail {

scope_join::scope_join(std::shared_ptr<scope_state> scope) noexcept
    : scope_(std::move(scope))
    , id_(scope_->joins_begun_.fetch_add(1, std::memory_order_relaxed)) {}

scope_join::~scope_join() = default;

/// What belongs to the scope goes before the turn can come.
void scope_join::release_and_post() {
    auto scope = std::exchange(scope_, nullptr);
    try {
        post(scope->executor());
    } catch (...) {
        scope_ = std::move(scope);
        throw;
    }
}

/// Without memory for the turn the scheduler tries again, and again. Precondition: it has ended.
void scope_join::finish() {
    try {
        return release_and_post();
    } catch (...) { // nothing happened
    }
    retry_scheduler& waits = scope_->waits();
    if (!waits.schedule(*this, waits.now()))
        dissolve();
}

bool scope_join::on_expiry() {
    auto const scope = scope_;
    {
        std::unique_lock lock(scope->mutex_);
        if (!has_ended_) { // the time for a drain is up
            lock.unlock();
            std::size_t const unfinished = scope->unfinished();
            try {
                scope->request(scope_request::cancel);
            } catch (std::bad_alloc const&) {
                cancelled_ = std::max(cancelled_, unfinished);
                return false;
            } catch (...) { // those that could not be told begin no attempt all the same
            }
            lock.lock();
            cancelled_ = std::max(cancelled_, unfinished);
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
        release_and_post();
    } catch (std::bad_alloc const&) {
        return false;
    } catch (...) { // the executor takes nothing
        end();
    }
    return true;
}

void scope_join::on_shutdown() noexcept {
    auto const scope = scope_;
    {
        std::lock_guard const lock(scope->mutex_);
        if (!has_ended_)
            scope->joins_.erase(scope->joins_.iterator_to(*this));
    }
    dissolve();
}

} // namespace asio_retry::detail
