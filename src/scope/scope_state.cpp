#include "scope/scope_node.hpp"

#include <asio_retry/detail/handler/operation_executors.hpp>
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

scope_node::scope_node(asio::any_io_executor executor, scope_node* parent, time_point deadline)
    : scope_state(std::move(executor), parent ? std::min(deadline, parent->deadline()) : deadline)
    , parent_(parent)
    , tree_(parent_ ? parent_->tree_ : std::make_shared<scope_tree>(context())) {
    if (!parent_)
        return;
    parent_->keep();
    std::lock_guard const lock(*tree_);
    parent_->children_.push_back(*this);
}

/// Destroys a scope without owners, then its parent if that has none left, and so on. It is a loop, because
/// trees may be deep.
[[gnu::hot]] void scope_node::release(scope_node* scope) noexcept {
    while (scope && scope->give_back()) {
        scope_node* const parent = scope->parent_;
        {
            std::lock_guard const lock(*scope->tree_);
            if (parent)
                linked_list<scope_node>::erase(*scope);
            if (scope->is_asked()) // it has nobody to tell any more
                asked_scopes::erase(*scope);
            if (scope->list_hook<scope_tree>::is_linked())
                linked_list<scope_node, scope_tree>::erase(*scope);
        }
        delete scope;
        scope = parent;
    }
}

std::size_t scope_node::pending() const {
    std::lock_guard const lock(*tree_);
    return pending_;
}

void scope_node::limit_pending(std::size_t greatest) noexcept {
    std::lock_guard const lock(*tree_);
    max_pending_ = greatest;
}

void scope_node::request(scope_request what, bool again, duration spread, int steps) {
    std::shared_ptr<scope_tree> const tree = tree_; // telling a member may destroy this scope
    scope_work work;
    bool has_teller = true;
    {
        std::lock_guard const lock(*tree);
        bool const ends_waits_only = what <= scope_request::retry_now;
        if ((ends_waits_only && stopped()) || (!again && has_heard(what)))
            return;
        ask({what, spread}, again);
        tree->begin(*this, steps, work);
        has_teller = tree->leave_to_teller(tree);
    }
    std::exception_ptr failure;
    tell_all(work, failure);
    if (failure) { // the other members must still be told: another thread may rely on the request
        {
            std::lock_guard const lock(*tree);
            tree->take_steps(steps, work);
            has_teller = tree->leave_to_teller(tree);
        }
        tell_all(work, failure);
    }
    if (!has_teller)
        tree->take_rest();
    finish(work.joins); // last, because handlers may destroy the context
    if (failure)
        std::rethrow_exception(failure);
}

void scope_node::tell_all(scope_work& work, std::exception_ptr& failure) {
    std::size_t const count = std::exchange(work.count, 0);
    for (std::size_t i = 0; i != count; ++i) {
        try {
            tell(*work.members[i]);
        } catch (...) {
            failure = std::current_exception();
        }
    }
}

void scope_node::tell(scope_member& member) {
    try {
        member.on_scope_notice();
    } catch (...) {
        member.on_notice_failed();
        throw;
    }
}

bool scope_node::stands_for(scope_request what) const noexcept {
    scope_node const* scope = this;
    while (scope && scope->standing_.load(std::memory_order_acquire) < what)
        scope = scope->parent_;
    return scope != nullptr;
}

// Precondition of the functions up to `ask_first_child`: the mutex is held.

/// Whether all members, here and below, have heard this request, will hear it, or have nothing to do.
bool scope_node::has_heard(scope_request what) const noexcept {
    return what <= scope_request::retry_now ? standing_.load() >= scope_request::drain
                                            : standing_.load() >= what && !missed_;
}

void scope_node::round::append(round& other) noexcept {
    request = std::max(request, std::exchange(other.request, {}));
    to_tell.append(other.to_tell);
    to_ask.append(other.to_ask);
}

/// The current round. If it has reached all, starts the next round.
scope_node::round& scope_node::current_round() noexcept {
    if (round_.is_over()) {
        round_.request = {};
        round_.again = false;
        round_.append(next_round_);
    }
    return round_;
}

void scope_node::ask(timed_request request, bool again) noexcept {
    if (request.what > scope_request::retry_now) {
        standing_.store(std::max(standing_.load(), request.what), std::memory_order_release);
        missed_ = false;
    }
    bool const is_less = request < current_round().request;
    if (!is_less)
        round_.append(next_round_);
    round& in = is_less ? next_round_ : round_;
    in.request = std::max(in.request, request);
    in.again |= again;
    in.to_tell.append(members_);
    in.to_ask.append(children_);
}

/// Makes a step in this scope or in one below. Returns the cost of the step.
int scope_node::take_step(scope_work& work) noexcept {
    return asked_.empty() ? 1 : asked_.front().take_step(asked_, work);
}

/// Asks one child, finds one member to tell, or ends a join. The members of a scope come first, and then each
/// child with all scopes below it. Precondition: this scope is the first in `asked`.
int scope_node::take_step(asked_scopes& asked, scope_work& work) noexcept {
    int cost = 1;
    scope_node* child = nullptr;
    if (round& now = current_round(); !now.to_tell.empty()) {
        scope_member& member = now.to_tell.front();
        now.to_tell.pop_front();
        members_.push_back(member);
        find_told(member, now.request, work);
    } else if (!now.to_ask.empty()) {
        child = ask_first_child();
    } else if (has_joins_to_end()) {
        end_first_join(work.joins);
        cost = scope_tree::steps_of_turn;
    }
    if (round_.is_over() && next_round_.is_over() && !has_joins_to_end())
        asked.pop_front();
    if (child) {
        if (child->is_asked())
            asked_scopes::erase(*child);
        asked.push_front(*child);
    }
    return cost;
}

/// If the member has not yet taken an earlier request, merges the two requests.
void scope_node::find_told(scope_member& member, timed_request request, scope_work& work) noexcept {
    request = std::max(request, timed_request{member.request_, member.spread_});
    member.request_ = request.what;
    member.spread_ = request.spread;
    member.is_told_again_ = std::exchange(member.is_being_told_, true);
    if (!member.is_told_again_)
        work.members[work.count++] = &member;
}

/// Returns null if the child has heard the request already.
scope_node* scope_node::ask_first_child() noexcept {
    scope_node& child = round_.to_ask.front();
    round_.to_ask.pop_front();
    children_.push_back(child);
    if (!round_.again && child.has_heard(round_.request.what))
        return nullptr;
    child.ask(round_.request, round_.again);
    return &child;
}

[[gnu::hot]] void scope_node::link(scope_member& member) {
    std::lock_guard const lock(*tree_);
    if (!stopped())
        members_.push_back(member);
}

[[gnu::hot]] bool scope_node::unlink(scope_member& member, bool waits, bool makes_room) noexcept {
    std::lock_guard const lock(*tree_);
    if (member.is_being_told_) {
        member.waits_to_leave_ = waits;
        return false;
    }
    if (member.is_linked())
        members::erase(member);
    for (scope_node* scope = makes_room ? this : nullptr; scope; scope = scope->parent_)
        ++scope->ended_but_counted_;
    return true;
}

/// Returns the stronger of the member's request and the scope's permanent request.
timed_request scope_node::take_request(scope_member& member) noexcept {
    std::lock_guard const lock(*tree_);
    if (!std::exchange(member.is_being_told_, false))
        return {};
    member.waits_to_leave_ = false;
    member.is_told_again_ = false;
    timed_request const told{std::exchange(member.request_, scope_request::none), member.spread_};
    return std::max(told, timed_request{standing_.load(), duration::zero()});
}

bool scope_node::miss_request(scope_member& member) noexcept {
    std::lock_guard const lock(*tree_);
    member.is_being_told_ = false;
    bool const is_told_again = std::exchange(member.is_told_again_, false);
    if (std::exchange(member.waits_to_leave_, false)) {
        members::erase(member);
        return true;
    }
    if (is_told_again) { // a later step tells it the missed requests
        members::erase(member);
        current_round().to_tell.push_back(member);
        tree_->add(*this);
        return false;
    }
    member.request_ = scope_request::none;
    for (scope_node* scope = this; scope; scope = scope->parent_)
        scope->missed_ = true;
    return false;
}

/// Takes room in this scope and in all above it, or in none.
[[gnu::hot]] bool scope_node::enter(scope_member* member) {
    std::lock_guard const lock(*tree_);
    if (member && !stopped())
        members_.push_back(*member);
    bool has_room = true;
    for (scope_node* scope = this; scope; scope = scope->parent_)
        has_room = has_room && scope->pending_ - scope->ended_but_counted_ < scope->max_pending_;
    for (scope_node* scope = this; scope; scope = scope->parent_)
        ++(has_room ? scope->pending_ : scope->without_room_);
    return has_room;
}

/// Precondition: the mutex is held.
void scope_node::uncount(scope_room room) noexcept {
    --(room == scope_room::none ? without_room_ : pending_);
    ended_but_counted_ -= room == scope_room::made;
}

/// Schedules the teller before a join ends, because its handler may destroy the context.
linked_list<scope_join> scope_node::leave(scope_room room) noexcept {
    linked_list<scope_join> ended;
    std::lock_guard const lock(*tree_);
    int steps = scope_tree::steps_of_turn;
    bool is_left = false;
    for (scope_node* scope = this; scope; scope = scope->parent_) {
        scope->uncount(room);
        if (scope->pending_ + scope->without_room_ != 0)
            continue;
        ++scope->times_empty_;
        for (; steps != 0 && scope->has_joins_to_end(); --steps)
            scope->end_first_join(ended);
        if (scope->has_joins_to_end()) {
            tree_->add(*scope);
            is_left = true;
        }
    }
    if (is_left && !tree_->leave_to_teller(tree_))
        for (scope_node* scope = this; scope; scope = scope->parent_)
            while (scope->has_joins_to_end())
                scope->end_first_join(ended);
    return ended;
}

bool scope_node::leave_unjoined(scope_room room) noexcept {
    std::lock_guard const lock(*tree_);
    for (scope_node* scope = this; scope; scope = scope->parent_)
        if (!scope->joins_.empty())
            return false;
    for (scope_node* scope = this; scope; scope = scope->parent_)
        scope->uncount(room);
    return true;
}

void scope_node::count_stopped_attempt() noexcept {
    std::lock_guard const lock(*tree_);
    for (scope_node* scope = this; scope; scope = scope->parent_)
        ++scope->stopped_attempts_;
}

// Precondition of the functions up to `end_if_over`: the mutex is held.

/// Whether the scope has been empty since the first join began.
bool scope_node::has_joins_to_end() const noexcept {
    return !joins_.empty() && joins_.front().times_empty_ != times_empty_;
}

void scope_node::end_first_join(linked_list<scope_join>& ended) noexcept {
    scope_join& join = joins_.front();
    if (end_join(join, error_code()))
        ended.push_back(join);
}

/// Returns false if another thread has taken the join from the scheduler: that thread finishes it. Otherwise
/// the caller must finish it.
bool scope_node::end_join(scope_join& join, error_code const& error) noexcept {
    joins_.erase(join);
    join.has_ended_ = true;
    join.error_ = error;
    if (join.stopped_before_)
        join.cancelled_ = stopped_attempts_ - *join.stopped_before_;
    return join.scheduler_.cancel(join);
}

/// Whether the join has ended, or ends now because the scope has been empty since it began.
bool scope_node::end_if_over(scope_join& join) noexcept {
    if (!join.has_ended_ && join.times_empty_ != times_empty_)
        end_join(join, error_code());
    return join.has_ended_;
}

/// Finishes joins that need the context first: a handler may destroy it.
void scope_node::finish(linked_list<scope_join>& ended) noexcept {
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

void scope_node::begin_join(scope_join& join, duration timeout) {
    retry_scheduler& scheduler = join.scheduler_;
    {
        std::unique_lock lock(*tree_);
        if (pending_ + without_room_ != 0) {
            if (scheduler.schedule(join, saturating_add(scheduler.now(), timeout))) {
                join.times_empty_ = times_empty_;
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

// --- scope_state and scope_presence, for programs

scope_handle scope_state::create(asio::any_io_executor executor, scope_handle const& parent,
                                 time_point deadline) {
    refuse_if_empty_executor("retry_scope.executor", executor);
    scope_node* const above = parent ? &scope_node::of(*parent) : nullptr;
    return scope_handle(new scope_node(std::move(executor), above, deadline));
}

scope_state::scope_state(asio::any_io_executor executor, time_point deadline)
    : executor_(std::move(executor))
    , context_(asio::query(executor_, asio::execution::context))
    , deadline_(deadline) {}

/// The context of the executor may be destroyed from now on.
void scope_state::lose_handles() noexcept {
    executor_ = asio::any_io_executor();
    scope_node::release(&scope_node::of(*this));
}

retry_scheduler& scope_state::scheduler() const {
    return asio_retry::scheduler(context_);
}

[[gnu::hot]] bool scope_state::stopped() const noexcept {
    return static_cast<scope_node const&>(*this).stands_for(scope_request::drain);
}

bool scope_state::cancelled() const noexcept {
    return static_cast<scope_node const&>(*this).stands_for(scope_request::cancel);
}

std::size_t scope_state::pending() const {
    return static_cast<scope_node const&>(*this).pending();
}

void scope_state::limit_pending(std::size_t greatest) noexcept {
    scope_node::of(*this).limit_pending(greatest);
}

void scope_state::request(scope_request what, bool again, duration spread, int steps) {
    scope_node::of(*this).request(what, again, spread, steps);
}

[[gnu::hot]] void scope_state::link(scope_member& member) {
    scope_node::of(*this).link(member);
}

[[gnu::hot]] bool scope_state::unlink(scope_member& member, bool waits, bool makes_room) noexcept {
    return scope_node::of(*this).unlink(member, waits, makes_room);
}

timed_request scope_state::take_request(scope_member& member) noexcept {
    return scope_node::of(*this).take_request(member);
}

bool scope_state::miss_request(scope_member& member) noexcept {
    return scope_node::of(*this).miss_request(member);
}

void scope_state::count_stopped_attempt() noexcept {
    scope_node::of(*this).count_stopped_attempt();
}

void scope_state::begin_join(scope_join& join, duration timeout) {
    scope_node::of(*this).begin_join(join, timeout);
}

[[gnu::hot]] scope_presence::scope_presence(scope_handle const& given_scope, scope_member* member)
    : scope_(given_scope.get())
    , room_(scope_node::of(*scope_).enter(member) ? scope_room::taken : scope_room::none) {
    scope_node::of(*scope_).keep();
}

void scope_presence::end() noexcept {
    scope_node& node = scope_node::of(*scope_);
    auto ended = node.leave(room_);
    scope_node::release(&node);
    scope_node::finish(ended);
}

[[gnu::hot]] bool scope_presence::unlink(scope_member& member, bool waits) noexcept {
    bool const is_unlinked = scope_->unlink(member, waits, room_ == scope_room::taken);
    if (is_unlinked && room_ == scope_room::taken)
        room_ = scope_room::made;
    return is_unlinked;
}

[[gnu::hot]] bool scope_presence::end_unjoined() noexcept {
    bool const ends = scope_node::of(*scope_).leave_unjoined(room_);
    if (ends)
        scope_node::release(&scope_node::of(*std::exchange(scope_, nullptr)));
    return ends;
}

} // namespace asio_retry::detail
