#include <asio_retry/retry_scope.hpp>

#include <boost/asio/append.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>

namespace asio_retry::detail {

using boost::system::error_code;
namespace asio = boost::asio;

/// Tells the end of a wait for an empty scope from a cancellation of that wait.
struct scope_state::join_handler {
    using executor_type = asio::any_completion_executor;
    using allocator_type = asio::any_completion_handler_allocator<void, void(error_code)>;
    using cancellation_slot_type = asio::cancellation_slot;

    std::shared_ptr<scope_state> scope;
    std::uint64_t times_empty_before;
    asio::any_completion_handler<void(error_code)> handler;

    executor_type get_executor() const noexcept {
        return asio::get_associated_executor(handler, asio::any_completion_executor(scope->executor_));
    }
    allocator_type get_allocator() const noexcept { return asio::get_associated_allocator(handler); }
    cancellation_slot_type get_cancellation_slot() const noexcept {
        return asio::get_associated_cancellation_slot(handler);
    }

    void operator()(error_code) {
        bool const became_empty = [&] {
            std::lock_guard const lock(scope->mutex_);
            return scope->times_empty_ != times_empty_before;
        }();
        scope.reset();
        std::move(handler)(became_empty ? error_code() : error_code(asio::error::operation_aborted));
    }
};

scope_state::scope_state(asio::any_io_executor executor, std::shared_ptr<scope_state> parent)
    : executor_(std::move(executor))
    , parent_(std::move(parent)) {}

scope_state::~scope_state() = default;

void scope_state::attach() {
    if (!parent_)
        return;
    {
        std::lock_guard const lock(parent_->mutex_);
        std::erase_if(parent_->children_, [](auto const& child) { return child.expired(); });
        parent_->children_.push_back(weak_from_this());
    }
    if (parent_->cancelled())
        cancel();
}

std::size_t scope_state::pending() const {
    std::lock_guard const lock(mutex_);
    return pending_;
}

bool scope_state::cancel_here(boost::intrusive::list<scope_member>& members,
                              std::vector<std::shared_ptr<scope_state>>& children) {
    std::lock_guard const lock(mutex_);
    if (cancelled_.exchange(true, std::memory_order_acq_rel))
        return false;
    for (scope_member& member : members_)
        member.notified_ = true;
    members.swap(members_);
    for (auto const& child : children_)
        if (auto alive = child.lock())
            children.push_back(std::move(alive));
    return true;
}

void scope_state::cancel() {
    boost::intrusive::list<scope_member> members;
    std::vector<std::shared_ptr<scope_state>> children;
    auto const keep_alive = shared_from_this();
    if (!cancel_here(members, children))
        return;
    // A member that is being told cannot end before it has been, so those still in the list are there.
    while (!members.empty()) {
        scope_member& member = members.front();
        members.pop_front();
        member.on_scope_cancelled();
    }
    for (auto const& child : children)
        child->cancel();
}

void scope_state::link(scope_member& member) {
    std::lock_guard const lock(mutex_);
    if (!cancelled())
        members_.push_back(member);
}

bool scope_state::unlink(scope_member& member) noexcept {
    std::lock_guard const lock(mutex_);
    if (member.notified_)
        return false;
    if (member.is_linked())
        members_.erase(members_.iterator_to(member));
    return true;
}

void scope_state::enter() {
    for (scope_state* scope = this; scope; scope = scope->parent_.get()) {
        std::lock_guard const lock(scope->mutex_);
        ++scope->pending_;
    }
}

void scope_state::leave() noexcept {
    for (scope_state* scope = this; scope; scope = scope->parent_.get()) {
        std::lock_guard const lock(scope->mutex_);
        if (--scope->pending_ == 0) {
            ++scope->times_empty_;
            scope->joiners_.reset();
        }
    }
}

void scope_state::async_join(asio::any_completion_handler<void(error_code)> handler) {
    std::unique_lock lock(mutex_);
    if (pending_ != 0) {
        if (!joiners_)
            joiners_.emplace(executor_, asio::steady_timer::time_point::max());
        joiners_->async_wait(join_handler{shared_from_this(), times_empty_, std::move(handler)});
        return;
    }
    lock.unlock();
    asio::post(executor_, asio::append(std::move(handler), error_code()));
}

} // namespace asio_retry::detail
