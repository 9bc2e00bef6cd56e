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

/// The state that the scopes of a tree share: a mutex, and a list of the scopes that were asked for something.
///
/// Requests are told, and joins end, in steps. The time of a step does not depend on the number of operations,
/// scopes and joins. The caller makes the first steps. The teller makes the rest, one step for each request in
/// turn. The teller is an entry of the scheduler that is due at once. Each time it is due, it makes a few steps
/// and is scheduled again.
class scope_tree final : wait_node {
public:
    static constexpr int steps_of_call = scope_state::steps_of_call;
    static constexpr int steps_of_turn = 4; ///< per turn of the teller; the end of a join uses all of them

    /// Makes the scheduler now, because a context that is being destroyed makes none.
    explicit scope_tree(boost::asio::execution_context& context);
    ~scope_tree();

    /// @name As a mutex
    /// @{
    void lock() noexcept { mutex_.lock(); }
    void unlock() noexcept { mutex_.unlock(); }
    /// @}

    /// @name Precondition: the mutex is held
    /// @{
    /// Adds a scope that has members to tell, or joins to end.
    void add(scope_node& asked) noexcept;

    /// Makes the first steps of a scope that has been asked, and puts the caller's work into `work`.
    void begin(scope_node& asked, int steps, scope_work& work) noexcept;

    /// Makes the next steps of all scopes that have been asked, one of each in turn.
    void take_steps(int steps, scope_work& work) noexcept;

    /// Leaves the other steps to the teller. Returns false if it cannot run; then `take_rest` has to follow.
    bool leave_to_teller(std::shared_ptr<scope_tree> const& tree) noexcept;
    /// @}

    /// Makes all other steps.
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

    // Guarded by the mutex.
    linked_list<scope_node, scope_tree> asked_;
    std::shared_ptr<scope_tree> teller_; // owns this tree while the teller is scheduled
};

/// Work that steps have found under the mutex. It is done without the mutex.
struct scope_work {
    std::array<scope_member*, scope_tree::steps_of_call>
        members;                   // to tell; each stays alive until it takes its request
    std::size_t count = 0;         // of the members
    linked_list<scope_join> joins; // joins that have ended
};

} // namespace asio_retry::detail
