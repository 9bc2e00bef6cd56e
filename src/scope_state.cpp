#include <asio_retry/detail/scope_state.hpp>

#include <asio_retry/retry_scheduler.hpp>

#include <boost/asio/execution/context.hpp>
#include <boost/asio/query.hpp>

#include <algorithm>
#include <exception>
#include <iterator>
#include <new>
#include <utility>

namespace asio_retry::detail {

namespace asio = boost::asio;

scope_state::scope_state(asio::any_io_executor executor, std::shared_ptr<scope_state> parent,
                         time_point deadline)
    : executor_(std::move(executor))
    , parent_(std::move(parent))
    , deadline_(parent_ ? std::min(deadline, parent_->deadline_) : deadline) {}

scope_state::~scope_state() {
    if (!parent_ || !is_linked())
        return;
    std::lock_guard const lock(parent_->mutex_);
    parent_->children_.erase(parent_->children_.iterator_to(*this));
}

void scope_state::attach() {
    if (!parent_)
        return;
    {
        std::lock_guard const lock(parent_->mutex_);
        parent_->children_.push_back(*this);
    }
    if (parent_->cancelled())
        request(scope_request::cancel);
    else if (parent_->stopped())
        request(scope_request::drain);
}

retry_scheduler& scope_state::waits() const {
    return scheduler(asio::query(executor_, asio::execution::context));
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
    for (auto child = child_after(nullptr); child; child = child_after(child.get()))
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

/// The next child that is not being destroyed. Precondition: `child` is null, for the first, or alive.
std::shared_ptr<scope_state> scope_state::child_after(scope_state const* child) const {
    std::lock_guard const lock(mutex_);
    auto next = child ? std::next(children_.iterator_to(*child)) : children_.begin();
    for (; next != children_.end(); ++next)
        if (auto alive = std::const_pointer_cast<scope_state>(next->weak_from_this().lock()))
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

boost::intrusive::list<scope_join> scope_state::leave(bool had_room) noexcept {
    boost::intrusive::list<scope_join> ended;
    for (scope_state* scope = this; scope; scope = scope->parent_.get()) {
        std::lock_guard const lock(scope->mutex_);
        --(had_room ? scope->pending_ : scope->without_room_);
        if (scope->pending_ + scope->without_room_ != 0)
            continue;
        while (!scope->joins_.empty()) {
            scope_join& join = scope->joins_.front();
            if (scope->end_join(join, error_code()))
                ended.push_back(join);
        }
    }
    return ended;
}

void scope_state::count_stopped_attempt() noexcept {
    for (scope_state* scope = this; scope; scope = scope->parent_.get()) {
        std::lock_guard const lock(scope->mutex_);
        ++scope->stopped_attempts_;
    }
}

/// Precondition: the mutex is held. Returns true if the join is the caller's to finish, and false if somebody
/// has found it due, who will.
bool scope_state::end_join(scope_join& join, error_code const& error) noexcept {
    joins_.erase(joins_.iterator_to(join));
    join.has_ended_ = true;
    join.error_ = error;
    if (join.stopped_before_)
        join.cancelled_ = stopped_attempts_ - *join.stopped_before_;
    return waits().cancel(join);
}

void scope_state::finish(boost::intrusive::list<scope_join>& ended) noexcept {
    while (!ended.empty()) {
        scope_join& join = ended.front();
        ended.pop_front();
        join.finish();
    }
}

void scope_state::begin_join(scope_join& join, duration timeout) {
    retry_scheduler& scheduler = waits(); // may have to be made
    {
        std::unique_lock lock(mutex_);
        if (pending_ + without_room_ != 0) {
            if (scheduler.schedule(join, saturating_add(scheduler.now(), timeout))) {
                joins_.push_back(join);
                return;
            }
            lock.unlock();
            return join.dissolve();
        }
        join.has_ended_ = true;
    }
    join.post();
}

void scope_state::abandon_join(std::shared_ptr<scope_state> scope, std::uint64_t id) noexcept {
    scope_join* mine = nullptr;
    {
        std::lock_guard const lock(scope->mutex_);
        for (scope_join& join : scope->joins_)
            if (join.id_ == id) {
                if (scope->end_join(join, aborted_error()))
                    mine = &join;
                break;
            }
    }
    scope.reset(); // who joins may destroy its context
    if (mine)
        mine->finish();
}

} // namespace asio_retry::detail
