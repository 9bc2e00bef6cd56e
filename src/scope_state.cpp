#include <asio_retry/detail/scope_state.hpp>

#include <algorithm>
#include <exception>

namespace asio_retry::detail {

namespace asio = boost::asio;

scope_state::scope_state(asio::any_io_executor executor, std::shared_ptr<scope_state> parent,
                         time_point deadline)
    : executor_(std::move(executor))
    , parent_(std::move(parent))
    , deadline_(parent_ ? std::min(deadline, parent_->deadline_) : deadline) {}

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
        request(scope_request::cancel);
    else if (parent_->stopped())
        request(scope_request::drain);
}

bool scope_state::cancelled() const {
    std::lock_guard const lock(mutex_);
    return cancelled_;
}

std::size_t scope_state::pending() const {
    std::lock_guard const lock(mutex_);
    return pending_;
}

void scope_state::limit_pending(std::size_t greatest) noexcept {
    std::lock_guard const lock(mutex_);
    max_pending_ = greatest;
}

std::size_t scope_state::unfinished() const {
    std::size_t result = 0;
    {
        std::lock_guard const lock(mutex_);
        result = members_.size() + to_tell_.size() + told_.size();
    }
    auto index = std::size_t(-1);
    while (auto const child = child_before(index))
        result += child->unfinished();
    return result;
}

void scope_state::request(scope_request what) {
    auto const keep_alive = shared_from_this();
    std::exception_ptr failure;
    auto const note_failure_of = [&](auto action) {
        try {
            action();
        } catch (...) {
            failure = std::current_exception();
        }
    };
    mark_members(what);
    while (scope_member* const member = next_to_tell())
        note_failure_of([&] { tell(*member); });
    auto index = std::size_t(-1);
    while (auto const child = child_before(index))
        note_failure_of([&] { child->request(what); });
    if (failure)
        std::rethrow_exception(failure);
}

void scope_state::mark_members(scope_request what) {
    std::lock_guard const lock(mutex_);
    if (what != scope_request::retry_now)
        stopped_.store(true, std::memory_order_release);
    if (what == scope_request::cancel)
        cancelled_ = true;
    for (members* const list : {&members_, &to_tell_, &told_})
        for (scope_member& member : *list)
            member.request_ = std::max(member.request_, what);
    to_tell_.splice(to_tell_.end(), members_);
}

scope_member* scope_state::next_to_tell() {
    std::lock_guard const lock(mutex_);
    if (to_tell_.empty())
        return nullptr;
    scope_member& member = to_tell_.front();
    told_.splice(told_.end(), to_tell_, to_tell_.begin());
    return &member;
}

void scope_state::tell(scope_member& member) {
    try {
        member.on_scope_notice();
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

void scope_state::link(scope_member& member) {
    std::lock_guard const lock(mutex_);
    if (!stopped())
        members_.push_back(member);
}

bool scope_state::unlink(scope_member& member) noexcept {
    std::lock_guard const lock(mutex_);
    if (member.request_ != scope_request::none)
        return false;
    if (member.is_linked())
        members_.erase(members_.iterator_to(member));
    return true;
}

scope_request scope_state::take_request(scope_member& member) noexcept {
    std::lock_guard const lock(mutex_);
    auto const result = std::exchange(member.request_, scope_request::none);
    if (result != scope_request::none)
        members_.splice(members_.end(), told_, told_.iterator_to(member));
    return result;
}

bool scope_state::enter() {
    scope_state const* full = nullptr;
    for (scope_state* scope = this; scope; scope = scope->parent_.get()) {
        std::lock_guard const lock(scope->mutex_);
        if (!full && scope->pending_ >= scope->max_pending_)
            full = scope;
        ++(full ? scope->without_room_ : scope->pending_);
    }
    for (scope_state* scope = this; full && scope != full; scope = scope->parent_.get()) {
        std::lock_guard const lock(scope->mutex_);
        --scope->pending_;
        ++scope->without_room_;
    }
    return !full;
}

void scope_state::leave(bool had_room) noexcept {
    for (scope_state* scope = this; scope; scope = scope->parent_.get()) {
        std::lock_guard const lock(scope->mutex_);
        --(had_room ? scope->pending_ : scope->without_room_);
        if (scope->pending_ + scope->without_room_ == 0) {
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
