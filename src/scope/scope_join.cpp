#include <asio_retry/detail/scope/scope_join.hpp>

#include "scope/scope_node.hpp"
#include <asio_retry/retry_scheduler.hpp>

#include <mutex>
#include <new>
#include <utility>

namespace asio_retry::detail {

scope_join::scope_join(scope_handle scope)
    : scope_(std::move(scope))
    , scheduler_(scope_->scheduler())
    , tree_(scope_node::of(*scope_).tree_) {}

scope_join::~scope_join() = default;

boost::asio::any_io_executor const& scope_join::scope_executor() const noexcept {
    return scope_->executor();
}

void scope_join::release_scope() noexcept {
    scope_.reset();
}

void scope_join::on_cancelled(boost::asio::cancellation_type_t type) noexcept {
    if (type == boost::asio::cancellation_type::none)
        return;
    {
        std::lock_guard const lock(*tree_);
        if (has_ended_ || !scope_node::of(*scope_).end_join(*this, aborted_error()))
            return;
    }
    finish();
}

/// Queues the turn of a join that has ended. Without memory the scheduler retries until there is memory.
void scope_join::finish() noexcept {
    retry_scheduler& scheduler = scheduler_;
    try {
        return post();
    } catch (...) { // no turn is queued
    }
    try {
        if (!scheduler.schedule(*this, scheduler.now()))
            dissolve();
    } catch (...) { // there is nowhere else to go on
        end();
    }
}

bool scope_join::on_expiry() {
    if (auto const scope = scope_) {
        std::unique_lock lock(*tree_);
        if (!scope_node::of(*scope).end_if_over(*this)) { // the time is up: cancel
            bool const is_first = !stopped_before_;       // later expiries repeat a cancel that had no memory
            if (is_first)
                stopped_before_.emplace(scope_node::of(*scope).stopped_attempts_);
            lock.unlock();
            try {
                scope->request(scope_request::cancel, is_first, {}, scope_tree::steps_of_turn);
            } catch (std::bad_alloc const&) {
                return false;
            } catch (...) { // operations that could not be told begin no attempt either
            }
            lock.lock();
        }
        if (!scope_node::of(*scope).end_if_over(*this)) {
            if (scheduler_.schedule(*this, time_point::max()))
                return true;
            has_ended_ = true;
            scope_node::of(*scope).joins_.erase(*this);
            lock.unlock();
            dissolve();
            return true;
        }
    }
    return post_or_end([this] { post(); }, [this] { end(); });
}

void scope_join::on_shutdown() noexcept {
    if (auto const scope = scope_) {
        std::unique_lock lock(*tree_);
        if (!scope_node::of(*scope).end_if_over(*this)) {
            has_ended_ = true;
            scope_node::of(*scope).joins_.erase(*this);
            lock.unlock();
            return dissolve();
        }
    }
    finish();
}

} // namespace asio_retry::detail
