#include <asio_retry/detail/scope/scope_state.hpp>

#include <asio_retry/detail/handler/empty_executor.hpp>
#include <asio_retry/retry_scheduler.hpp>

#include <boost/asio/execution/context.hpp>
#include <boost/asio/query.hpp>

#include <algorithm>
#include <exception>
#include <memory>
#include <mutex>
#include <utility>

namespace asio_retry::detail {

namespace asio = boost::asio;

scope_handle scope_state::create(asio::any_io_executor executor, scope_handle const& parent,
                                 time_point deadline) {
    refuse_if_empty_executor("retry_scope.executor", executor);
    return scope_handle(new scope_state(std::move(executor), parent.get(), deadline));
}

scope_state::scope_state(asio::any_io_executor executor, scope_state* parent, time_point deadline)
    : executor_(std::move(executor))
    , context_(asio::query(executor_, asio::execution::context))
    , parent_(parent)
    , deadline_(parent_ ? std::min(deadline, parent_->deadline_) : deadline)
    , mutex_(parent_ ? parent_->mutex_ : std::make_shared<brief_mutex>()) {
    if (!parent_)
        return;
    parent_->keep();
    std::lock_guard const lock(*mutex_);
    parent_->children_.push_back(*this);
    standing_.store(parent_->standing_.load());
}

/// The context of the executor may be destroyed from now on.
void scope_state::lose_handles() noexcept {
    executor_ = asio::any_io_executor();
    release(this);
}

/// And its parent, if it was the last that owned it, and so on: not inside one another, since trees may be
/// deep.
void scope_state::release(scope_state* scope) noexcept {
    while (scope && scope->give_back()) {
        scope_state* const parent = scope->parent_;
        if (parent) {
            std::lock_guard const lock(*scope->mutex_);
            parent->children_.erase(*scope);
        }
        delete scope;
        scope = parent;
    }
}

retry_scheduler& scope_state::scheduler() const {
    return asio_retry::scheduler(context_);
}

std::size_t scope_state::pending() const {
    std::lock_guard const lock(*mutex_);
    return pending_;
}

void scope_state::limit_pending(std::size_t greatest) noexcept {
    std::lock_guard const lock(*mutex_);
    max_pending_ = greatest;
}

void scope_state::request(scope_request what, bool again) {
    std::exception_ptr failure;
    tell_all(mark(what, again), failure);
    if (!failure)
        return;
    tell_all(mark_owed(), failure);
    std::rethrow_exception(failure);
}

void scope_state::tell_all(members to_tell, std::exception_ptr& failure) {
    while (!to_tell.empty()) { // each stays, and its scope, until it has been told
        scope_member& member = to_tell.front();
        to_tell.pop_front();
        try {
            tell(member);
        } catch (...) {
            failure = std::current_exception();
        }
    }
}

void scope_state::tell(scope_member& member) {
    try {
        member.on_scope_notice();
    } catch (...) {
        member.on_notice_failed();
        throw;
    }
}

/// All at once, while nobody makes or destroys a scope. Returns the members that have to be told.
scope_state::members scope_state::mark(scope_request what, bool again) noexcept {
    members to_tell;
    std::lock_guard const lock(*mutex_);
    for (scope_state* scope = this; scope;) {
        bool const heard = !again && scope->has_heard(what);
        if (!heard)
            scope->mark_own(what, to_tell);
        scope = scope->next_below(*this, heard);
    }
    return to_tell;
}

/// Those whom somebody else has asked for more meanwhile, who relied on what could not be told.
scope_state::members scope_state::mark_owed() noexcept {
    members to_tell;
    std::lock_guard const lock(*mutex_);
    for (scope_state* scope = this; scope; scope = scope->next_below(*this, false))
        if (std::exchange(scope->owes_more_, false))
            scope->mark_own(scope->standing_.load(), to_tell);
    return to_tell;
}

// Precondition for the next three: the mutex is held.

/// Whether all members, here and below, have been told, or have nothing to do.
bool scope_state::has_heard(scope_request what) const noexcept {
    return what == scope_request::retry_now ? stopped() : standing_.load() >= what && !missed_;
}

void scope_state::mark_own(scope_request what, members& to_tell) noexcept {
    if (what != scope_request::retry_now) {
        standing_.store(std::max(standing_.load(), what), std::memory_order_release);
        missed_ = false;
    }
    members_.for_each([what](scope_member& member) { member.request_ = what; });
    to_tell.append(members_);
}

/// The scope after this one in the tree below `top`; null after the last.
scope_state* scope_state::next_below(scope_state const& top, bool skips_children) noexcept {
    if (!skips_children && !children_.empty())
        return &children_.front();
    for (scope_state* scope = this; scope != &top; scope = scope->parent_) {
        if (scope_state* const sibling = scope->parent_->children_.after(*scope))
            return sibling;
    }
    return nullptr;
}

void scope_state::link(scope_member& member) {
    std::lock_guard const lock(*mutex_);
    if (!stopped())
        members_.push_back(member);
}

bool scope_state::unlink(scope_member& member, bool waits, bool makes_room) noexcept {
    std::lock_guard const lock(*mutex_);
    if (member.request_ != scope_request::none) {
        member.waits_to_leave_ = waits;
        return false;
    }
    if (member.is_linked())
        members_.erase(member);
    for (scope_state* scope = makes_room ? this : nullptr; scope; scope = scope->parent_)
        ++scope->without_need_;
    return true;
}

/// What the scope has been asked for good since then is in it.
scope_request scope_state::take_request(scope_member& member) noexcept {
    std::lock_guard const lock(*mutex_);
    auto const request = std::exchange(member.request_, scope_request::none);
    if (request == scope_request::none)
        return request;
    member.waits_to_leave_ = false;
    members_.push_back(member);
    return std::max(request, standing_.load());
}

bool scope_state::miss_request(scope_member& member) noexcept {
    std::lock_guard const lock(*mutex_);
    auto const missed = std::exchange(member.request_, scope_request::none);
    if (std::exchange(member.waits_to_leave_, false))
        return true; // and is a member no more
    owes_more_ = owes_more_ || standing_.load() > missed;
    members_.push_back(member);
    for (scope_state* scope = this; scope; scope = scope->parent_)
        scope->missed_ = true;
    return false;
}

/// It takes room everywhere or nowhere.
bool scope_state::enter(scope_member* member) {
    std::lock_guard const lock(*mutex_);
    if (member && !stopped())
        members_.push_back(*member);
    bool has_room = true;
    for (scope_state* scope = this; scope; scope = scope->parent_)
        has_room = has_room && scope->pending_ - scope->without_need_ < scope->max_pending_;
    for (scope_state* scope = this; scope; scope = scope->parent_)
        ++(has_room ? scope->pending_ : scope->without_room_);
    return has_room;
}

/// Precondition: the mutex is held.
void scope_state::uncount(scope_room room) noexcept {
    --(room == scope_room::none ? without_room_ : pending_);
    without_need_ -= room == scope_room::made;
}

linked_list<scope_join> scope_state::leave(scope_room room) noexcept {
    linked_list<scope_join> ended;
    std::lock_guard const lock(*mutex_);
    for (scope_state* scope = this; scope; scope = scope->parent_) {
        scope->uncount(room);
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

bool scope_state::leave_unjoined(scope_room room) noexcept {
    std::lock_guard const lock(*mutex_);
    for (scope_state* scope = this; scope; scope = scope->parent_)
        if (!scope->joins_.empty())
            return false;
    for (scope_state* scope = this; scope; scope = scope->parent_)
        scope->uncount(room);
    return true;
}

void scope_state::count_stopped_attempt() noexcept {
    std::lock_guard const lock(*mutex_);
    for (scope_state* scope = this; scope; scope = scope->parent_)
        ++scope->stopped_attempts_;
}

/// Precondition: the mutex is held. Returns true if the join is the caller's to finish, and false if somebody
/// has found it due, who will.
bool scope_state::end_join(scope_join& join, error_code const& error) noexcept {
    joins_.erase(join);
    join.has_ended_ = true;
    join.error_ = error;
    if (join.stopped_before_)
        join.cancelled_ = stopped_attempts_ - *join.stopped_before_;
    return join.scheduler_.cancel(join);
}

/// A handler may destroy the context as soon as its join is finished: that of those who need it comes first.
void scope_state::finish(linked_list<scope_join>& ended) noexcept {
    linked_list<scope_join> here;
    linked_list<scope_join> elsewhere;
    while (!ended.empty()) {
        scope_join& join = ended.front();
        ended.pop_front();
        (join.let_go() ? elsewhere : here).push_back(join);
    }
    here.append(elsewhere);
    while (!here.empty()) {
        scope_join& join = here.front();
        here.pop_front();
        join.finish();
    }
}

void scope_state::begin_join(scope_join& join, duration timeout) {
    retry_scheduler& scheduler = join.scheduler_;
    {
        std::unique_lock lock(*mutex_);
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

} // namespace asio_retry::detail
