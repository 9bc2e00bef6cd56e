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
    , tree_(parent_ ? parent_->tree_ : std::make_shared<scope_tree>()) {
    if (!parent_)
        return;
    parent_->keep();
    std::lock_guard const lock(*tree_);
    parent_->children_.push_back(*this);
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
        {
            std::lock_guard const lock(*scope->tree_);
            if (parent)
                linked_list<scope_state>::erase(*scope);
            if (scope->is_asked()) // and has nobody to tell any more
                linked_list<scope_state, scope_tree>::erase(*scope);
        }
        delete scope;
        scope = parent;
    }
}

retry_scheduler& scope_state::scheduler() const {
    return asio_retry::scheduler(context_);
}

std::size_t scope_state::pending() const {
    std::lock_guard const lock(*tree_);
    return pending_;
}

void scope_state::limit_pending(std::size_t greatest) noexcept {
    std::lock_guard const lock(*tree_);
    max_pending_ = greatest;
}

void scope_state::request(scope_request what, bool again, duration spread, int steps) {
    std::shared_ptr<scope_tree> const tree = tree_; // who is told may be the last that needs this scope
    asio::execution_context& context = context_;
    members to_tell;
    bool is_left = false;
    {
        std::lock_guard const lock(*tree);
        bool const ends_waits_only = what <= scope_request::retry_now;
        if ((ends_waits_only && stopped()) || (!again && has_heard(what)))
            return;
        ask(what, again, spread);
        is_left = tree->begin(*this, steps, to_tell);
    }
    std::exception_ptr failure;
    tell_all(to_tell, failure);
    if (failure) { // somebody else may have relied on what could not be told
        {
            std::lock_guard const lock(*tree);
            tree->take_steps(steps, to_tell);
        }
        tell_all(to_tell, failure);
    }
    if (is_left || failure)
        scope_tree::leave_to_teller(tree, context);
    if (failure)
        std::rethrow_exception(failure);
}

void scope_state::tell_all(members& to_tell, std::exception_ptr& failure) {
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

bool scope_state::stands_for(scope_request what) const noexcept {
    scope_state const* scope = this;
    while (scope && scope->standing_.load(std::memory_order_acquire) < what)
        scope = scope->parent_;
    return scope != nullptr;
}

// Precondition for the next three: the mutex is held.

/// Whether all members, here and below, have been told or will be, or have nothing to do.
bool scope_state::has_heard(scope_request what) const noexcept {
    return what <= scope_request::retry_now ? standing_.load() >= scope_request::drain
                                            : standing_.load() >= what && !missed_;
}

void scope_state::ask(scope_request what, bool again, duration spread) noexcept {
    if (what > scope_request::retry_now) {
        standing_.store(std::max(standing_.load(), what), std::memory_order_release);
        missed_ = false;
    } else {
        bool const is_first = asking_ != scope_request::retry_within && told_within_ == 0;
        spread_.store(is_first ? spread : std::min(spread, this->spread()), std::memory_order_relaxed);
    }
    asking_ = std::max(asking_, what);
    asks_again_ = asks_again_ || again;
    to_tell_.append(members_);
    asked_children_.append(children_);
}

/// Asks one child, or finds one member to be told: those of a scope first, and then child after child with all
/// that is below it. Precondition: it is the first in this list.
void scope_state::take_step(linked_list<scope_state, scope_tree>& asked, members& to_tell) noexcept {
    if (to_tell_.empty() && std::exchange(owes_more_, false)) {
        asking_ = std::max(asking_, standing_.load());
        to_tell_.append(members_);
    }
    scope_state* child = nullptr;
    if (!to_tell_.empty()) {
        scope_member& member = to_tell_.front();
        to_tell_.pop_front();
        member.request_ = asking_;
        told_within_ += asking_ == scope_request::retry_within;
        to_tell.push_back(member);
    } else if (!asked_children_.empty()) {
        child = &asked_children_.front();
        asked_children_.pop_front();
        children_.push_back(*child);
        if (!asks_again_ && child->has_heard(asking_))
            child = nullptr;
        else
            child->ask(asking_, asks_again_, spread());
    }
    if (to_tell_.empty() && asked_children_.empty() && !owes_more_) {
        asked.pop_front();
        asking_ = scope_request::none;
        asks_again_ = false;
    }
    if (child) {
        if (child->is_asked())
            asked.erase(*child);
        asked.push_front(*child);
    }
}

void scope_state::link(scope_member& member) {
    std::lock_guard const lock(*tree_);
    if (!stopped())
        members_.push_back(member);
}

bool scope_state::unlink(scope_member& member, bool waits, bool makes_room) noexcept {
    std::lock_guard const lock(*tree_);
    if (member.request_ != scope_request::none) {
        member.waits_to_leave_ = waits;
        return false;
    }
    if (member.is_linked())
        members::erase(member);
    for (scope_state* scope = makes_room ? this : nullptr; scope; scope = scope->parent_)
        ++scope->without_need_;
    return true;
}

/// What the scope has been asked for good since then is in it.
scope_request scope_state::take_request(scope_member& member) noexcept {
    std::lock_guard const lock(*tree_);
    auto const request = std::exchange(member.request_, scope_request::none);
    if (request == scope_request::none)
        return request;
    told_within_ -= request == scope_request::retry_within;
    member.waits_to_leave_ = false;
    member.is_told_later_ = false;
    members_.push_back(member);
    return std::max(request, standing_.load());
}

bool scope_state::miss_request(scope_member& member) noexcept {
    std::lock_guard const lock(*tree_);
    auto const missed = std::exchange(member.request_, scope_request::none);
    told_within_ -= missed == scope_request::retry_within;
    bool const is_told_later = std::exchange(member.is_told_later_, false);
    if (std::exchange(member.waits_to_leave_, false))
        return true; // and is a member no more
    if (is_told_later) {
        asking_ = std::max({asking_, missed, standing_.load()});
        to_tell_.push_back(member);
        tree_->add(*this);
        return false;
    }
    owes_more_ = owes_more_ || standing_.load() > missed;
    if (owes_more_)
        tree_->add(*this);
    members_.push_back(member);
    for (scope_state* scope = this; scope; scope = scope->parent_)
        scope->missed_ = true;
    return false;
}

/// It takes room everywhere or nowhere.
bool scope_state::enter(scope_member* member) {
    std::lock_guard const lock(*tree_);
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
    std::lock_guard const lock(*tree_);
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
    std::lock_guard const lock(*tree_);
    for (scope_state* scope = this; scope; scope = scope->parent_)
        if (!scope->joins_.empty())
            return false;
    for (scope_state* scope = this; scope; scope = scope->parent_)
        scope->uncount(room);
    return true;
}

void scope_state::count_stopped_attempt() noexcept {
    std::lock_guard const lock(*tree_);
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
        std::unique_lock lock(*tree_);
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
