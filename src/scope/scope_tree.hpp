#pragma once

#include <asio_retry/detail/policy/linked_list.hpp>
#include <asio_retry/detail/scope/scope_state.hpp>
#include <asio_retry/detail/time/brief_mutex.hpp>
#include <asio_retry/detail/time/wait_node.hpp>

#include <boost/asio/execution_context.hpp>

#include <array>
#include <cstddef>
#include <exception>
#include <memory>

namespace asio_retry {
class retry_scheduler;
}

namespace asio_retry::detail {

struct scope_work;

/// What the scopes of a tree share: a mutex, and a list of the scopes that were asked for something.
///
/// A request is told in steps, and so do joins end. A step takes the same time, however many operations, scopes
/// and joins there are. The caller makes the first steps, and the teller makes the rest: one for each request,
/// in turn. The teller is a wait of the scheduler, which is over at once: each time that the scheduler ends it,
/// it makes a few steps and is scheduled again.
class scope_tree final : wait_node {
public:
    static constexpr int steps_of_call = scope_state::steps_of_call;
    static constexpr int steps_of_turn = 4; ///< each time that the scheduler ends a wait; a join takes all

    /// Makes the scheduler, which cannot be made when the context is being destroyed.
    explicit scope_tree(boost::asio::execution_context& context);
    ~scope_tree();

    /// @name As a mutex
    /// @{
    void lock() noexcept { mutex_.lock(); }
    void unlock() noexcept { mutex_.unlock(); }
    /// @}

    /// @name Precondition: the mutex is held
    /// @{
    /// The scope has somebody to tell, or joins to end.
    void add(scope_node& asked) noexcept;

    /// Makes the first steps of a scope that has been asked, and finds what the caller has to do.
    void begin(scope_node& asked, int steps, scope_work& work) noexcept;

    /// The same of all scopes that have been asked, a step of each in turn.
    void take_steps(int steps, scope_work& work) noexcept;

    /// Leaves the steps that are left to the teller. Returns false if it cannot run: `take_rest` has to follow.
    bool leave_to_teller(std::shared_ptr<scope_tree> const& itself) noexcept;
    /// @}

    /// Makes all steps that are left.
    void take_rest() noexcept;

private:
    void list(scope_node& asked) noexcept;
    bool schedule() noexcept;
    bool tell_later(scope_work& work, std::exception_ptr& thrown);
    void go_on(std::shared_ptr<scope_tree>& keeps) noexcept;

    bool on_expiry() override;
    void on_shutdown() noexcept override;

    boost::asio::execution_context& context_;
    retry_scheduler& scheduler_; // of the context
    brief_mutex mutex_;

    // Guarded by it.
    linked_list<scope_node, scope_tree> asked_;
    std::shared_ptr<scope_tree> teller_; // itself, while it is scheduled
};

/// What steps have found under the mutex, to be done without it.
struct scope_work {
    std::array<scope_member*, scope_tree::steps_of_call> members; // to be told: each stays, and its scope
    std::size_t count = 0;                                        // of those
    linked_list<scope_join> joins;                                // have ended
};

} // namespace asio_retry::detail
