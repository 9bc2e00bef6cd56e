#include "scope/scope_tree.hpp"

#include "scope/scope_node.hpp"
#include <asio_retry/duration.hpp>
#include <asio_retry/retry_scheduler.hpp>

#include <algorithm>
#include <exception>
#include <mutex>
#include <new>
#include <utility>

namespace asio_retry::detail {

scope_tree::scope_tree(boost::asio::execution_context& context)
    : context_(context)
    , scheduler_(asio_retry::scheduler(context)) {}

scope_tree::~scope_tree() = default;

void scope_tree::add(scope_node& asked) noexcept {
    if (!asked.is_asked())
        asked.asked_.push_back(asked);
    list(asked);
}

void scope_tree::list(scope_node& asked) noexcept {
    if (!asked.asked_.empty() && !asked.list_hook<scope_tree>::is_linked())
        asked_.push_back(asked);
}

/// Moves the scope from the list of a scope above it to the front of its own list, and makes the first steps.
void scope_tree::begin(scope_node& asked, int steps, scope_work& work) noexcept {
    if (asked.is_asked())
        scope_node::asked_scopes::erase(asked);
    asked.asked_.push_front(asked);
    while (steps > 0 && !asked.asked_.empty())
        steps -= asked.take_step(work);
    list(asked);
}

void scope_tree::take_steps(int steps, scope_work& work) noexcept {
    while (steps > 0 && !asked_.empty()) {
        scope_node& asked = asked_.front();
        asked_.pop_front();
        steps -= asked.take_step(work);
        list(asked);
    }
}

bool scope_tree::leave_to_teller(std::shared_ptr<scope_tree> const& tree) noexcept {
    if (asked_.empty() || teller_)
        return true;
    bool const may_run =
        boost::asio::has_service<retry_scheduler>(context_); // otherwise the context is being destroyed
    if (!may_run || !schedule())
        return false;
    teller_ = tree;
    return true;
}

/// Schedules the teller, which needs the mutex to begin. Precondition: the mutex is held.
bool scope_tree::schedule() noexcept {
    try {
        return scheduler_.schedule_early(*this);
    } catch (...) {
        return false;
    }
}

bool scope_tree::on_expiry() {
    scope_work work;
    {
        std::lock_guard const lock(*this);
        take_steps(steps_of_turn, work);
    }
    std::exception_ptr thrown;
    if (!tell_later(work, thrown) && !thrown)
        return false;
    std::shared_ptr<scope_tree> keeps;
    go_on(keeps);
    if (thrown)
        std::rethrow_exception(thrown);
    return true;
}

/// Makes the next steps, or ends the teller.
void scope_tree::go_on(std::shared_ptr<scope_tree>& keeps) noexcept {
    {
        std::lock_guard const lock(*this);
        if (!asked_.empty() && schedule())
            return;
        keeps = std::move(teller_);
    }
    take_rest();
}

/// Like tell_all, for the teller. Returns false if a member could not be told for want of memory; the member is
/// told later. `thrown`: an exception of the handler of an ended operation.
bool scope_tree::tell_later(scope_work& work, std::exception_ptr& thrown) {
    bool has_memory = true;
    for (std::size_t i = 0; i != work.count; ++i) {
        scope_member& member = *work.members[i];
        try {
            try {
                member.on_scope_notice();
            } catch (std::bad_alloc const&) {
                has_memory = false;
                {
                    std::lock_guard const lock(*this);
                    member.is_told_again_ = true;
                }
                member.on_notice_failed(); // this may end the member
            } catch (...) {
                member.on_notice_failed();
            }
        } catch (...) {
            thrown = std::current_exception();
        }
    }
    scope_node::finish(work.joins);
    return has_memory;
}

void scope_tree::take_rest() noexcept {
    for (;;) {
        scope_work work;
        {
            std::lock_guard const lock(*this);
            if (asked_.empty())
                return;
            take_steps(steps_of_call, work);
        }
        std::exception_ptr nobody_takes_it;
        scope_node::tell_all(work, nobody_takes_it);
        scope_node::finish(work.joins);
    }
}

void scope_tree::on_shutdown() noexcept {
    std::shared_ptr<scope_tree> keeps;
    {
        std::lock_guard const lock(*this);
        keeps = std::move(teller_);
    }
    take_rest();
}

} // namespace asio_retry::detail
