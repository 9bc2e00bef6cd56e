#include <asio_retry/detail/scope/scope_tree.hpp>

#include <asio_retry/detail/scope/scope_state.hpp>
#include <asio_retry/duration.hpp>
#include <asio_retry/retry_scheduler.hpp>

#include <algorithm>
#include <exception>
#include <mutex>
#include <new>
#include <utility>

namespace asio_retry::detail {

scope_tree::scope_tree() noexcept = default;
scope_tree::~scope_tree() = default;

void scope_tree::add(scope_state& asked) noexcept {
    if (!asked.is_asked())
        asked_.push_back(asked);
}

/// Whoever has been asked before and has steps left goes on with it after those.
bool scope_tree::begin(scope_state& asked, int steps, members& to_tell) noexcept {
    asked_scopes own;
    if (asked.is_asked())
        asked_scopes::erase(asked);
    own.push_back(asked);
    take_steps(own, steps, to_tell);
    bool const is_left = !own.empty();
    asked_.append(own);
    return is_left;
}

void scope_tree::take_steps(int steps, members& to_tell) noexcept {
    take_steps(asked_, steps, to_tell);
}

void scope_tree::take_steps(asked_scopes& asked, int steps, members& to_tell) noexcept {
    for (; steps != 0 && !asked.empty(); --steps)
        asked.front().take_step(asked, to_tell);
}

void scope_tree::leave_to_teller(std::shared_ptr<scope_tree> const& tree,
                                 boost::asio::execution_context& context) noexcept {
    {
        std::lock_guard const lock(*tree);
        if (!tree->has_work_for_teller())
            return;
    }
    retry_scheduler* found = nullptr;
    try {
        found = &asio_retry::scheduler(context); // which may have to be made
    } catch (...) {
    }
    {
        std::lock_guard const lock(*tree);
        if (!tree->has_work_for_teller())
            return;
        if (found && tree->schedule(*found)) {
            tree->teller_ = tree;
            return;
        }
    }
    tree->tell_rest();
}

/// Precondition: the mutex is held, without which the teller does not begin.
bool scope_tree::schedule(retry_scheduler& scheduler) noexcept {
    scheduler_ = &scheduler;
    try {
        return scheduler.schedule_early(*this);
    } catch (...) {
        return false;
    }
}

bool scope_tree::on_expiry() {
    members to_tell;
    {
        std::lock_guard const lock(*this);
        take_steps(steps_of_turn, to_tell);
    }
    std::exception_ptr thrown;
    if (!tell_later(to_tell, thrown) && !thrown)
        return false;
    std::shared_ptr<scope_tree> keeps;
    go_on(keeps);
    if (thrown)
        std::rethrow_exception(thrown);
    return true;
}

/// The next steps, or the end of the teller.
void scope_tree::go_on(std::shared_ptr<scope_tree>& keeps) noexcept {
    {
        std::lock_guard const lock(*this);
        if (!asked_.empty() && schedule(*scheduler_))
            return;
        keeps = std::move(teller_);
    }
    tell_rest();
}

/// There is no caller to throw to. Whoever cannot be told for want of memory is told later: returns false then.
/// `thrown`: by a handler, of an operation that this has ended.
bool scope_tree::tell_later(members& to_tell, std::exception_ptr& thrown) {
    bool has_memory = true;
    while (!to_tell.empty()) {
        scope_member& member = to_tell.front();
        to_tell.pop_front();
        try {
            try {
                member.on_scope_notice();
            } catch (std::bad_alloc const&) {
                has_memory = false;
                {
                    std::lock_guard const lock(*this);
                    member.is_told_later_ = true;
                }
                member.on_notice_failed(); // which may be the end of it
            } catch (...) {
                member.on_notice_failed();
            }
        } catch (...) {
            thrown = std::current_exception();
        }
    }
    return has_memory;
}

void scope_tree::tell_rest() noexcept {
    for (;;) {
        members to_tell;
        {
            std::lock_guard const lock(*this);
            if (asked_.empty())
                return;
            take_steps(steps_of_call, to_tell);
        }
        std::exception_ptr nobody_takes_it;
        scope_state::tell_all(to_tell, nobody_takes_it);
    }
}

void scope_tree::on_shutdown() noexcept {
    std::shared_ptr<scope_tree> keeps;
    {
        std::lock_guard const lock(*this);
        keeps = std::move(teller_);
    }
    tell_rest();
}

} // namespace asio_retry::detail
