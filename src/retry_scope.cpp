#include <asio_retry/retry_scope.hpp>

#include <algorithm>
#include <exception>

namespace asio_retry::detail {

namespace asio = boost::asio;

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

boost::intrusive::list<scope_member> scope_state::take_members() {
    std::lock_guard const lock(mutex_);
    cancelled_.store(true, std::memory_order_release);
    for (scope_member& member : members_)
        member.notified_ = true;
    return std::exchange(members_, {});
}

void scope_state::tell(scope_member& member) {
    try {
        member.on_scope_cancelled();
    } catch (...) {
        member.on_notice_failed();
        throw;
    }
}

/// From the last to the first: an expired child that is removed meanwhile makes none be left out.
std::shared_ptr<scope_state> scope_state::child_before(std::size_t& index) const {
    std::lock_guard const lock(mutex_);
    for (index = std::min(index, children_.size()); index != 0;)
        if (auto alive = children_[--index].lock())
            return alive;
    return nullptr;
}

void scope_state::cancel() {
    auto const keep_alive = shared_from_this();
    std::exception_ptr failure;
    auto const note_failure_of = [&](auto action) {
        try {
            action();
        } catch (...) {
            failure = std::current_exception();
        }
    };
    auto members = take_members();
    // A member that is being told cannot end before it has been, so those still in the list are there.
    while (!members.empty()) {
        scope_member& member = members.front();
        members.pop_front();
        note_failure_of([&] { tell(member); });
    }
    auto index = std::size_t(-1);
    while (auto const child = child_before(index))
        note_failure_of([&] { child->cancel(); });
    if (failure)
        std::rethrow_exception(failure);
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

void scope_state::relink(scope_member& member) noexcept {
    std::lock_guard const lock(mutex_);
    member.notified_ = false;
    members_.push_back(member);
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

bool scope_state::has_been_empty_since(std::uint64_t times_empty) const {
    std::lock_guard const lock(mutex_);
    return times_empty_ != times_empty;
}

} // namespace asio_retry::detail
