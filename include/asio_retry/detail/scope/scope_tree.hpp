#pragma once

#include <asio_retry/detail/policy/config.hpp>
#include <asio_retry/detail/time/brief_mutex.hpp>
#include <asio_retry/detail/time/linked_list.hpp>
#include <asio_retry/detail/time/wait_node.hpp>

#include <boost/asio/execution_context.hpp>

#include <exception>
#include <memory>

namespace asio_retry {
class retry_scheduler;
}

namespace asio_retry::detail {

class scope_member;
class scope_state;

/// What the scopes of a tree share: a mutex, and a list of the scopes that have somebody to tell.
///
/// A request is told in steps. A step takes the same time, however many operations and scopes there are. The
/// caller makes the first steps, and the teller makes the rest. The teller is a wait of the scheduler, which is
/// over at once: each time that the scheduler ends it, it makes a few steps and is scheduled again.
class ASIO_RETRY_DECL scope_tree final : wait_node {
public:
    using members = linked_list<scope_member>;

    static constexpr int steps_of_call = 64;
    static constexpr int steps_of_turn = 4; ///< each time that the scheduler ends a wait

    scope_tree() noexcept;
    ~scope_tree();

    /// @name As a mutex
    /// @{
    void lock() noexcept { mutex_.lock(); }
    void unlock() noexcept { mutex_.unlock(); }
    /// @}

    /// @name Precondition: the mutex is held
    /// @{
    /// The scope has somebody to tell.
    void add(scope_state& asked) noexcept;

    /// Makes the first steps of a scope that has been asked, and finds those that the caller has to tell.
    /// Returns whether steps are left.
    bool begin(scope_state& asked, int steps, members& to_tell) noexcept;

    /// The same of all scopes.
    void take_steps(int steps, members& to_tell) noexcept;
    /// @}

    /// Leaves the steps that are left to the teller, which is to run on `context`. Where it cannot run, makes
    /// them here.
    static void leave_to_teller(std::shared_ptr<scope_tree> const& tree,
                                boost::asio::execution_context& context) noexcept;

private:
    using asked_scopes = linked_list<scope_state, scope_tree>;

    static void take_steps(asked_scopes& asked, int steps, members& to_tell) noexcept;
    bool has_work_for_teller() const noexcept { return !asked_.empty() && !teller_; }
    bool schedule(retry_scheduler& scheduler) noexcept;
    bool tell_later(members& to_tell, std::exception_ptr& thrown);
    void go_on(std::shared_ptr<scope_tree>& keeps) noexcept;
    void tell_rest() noexcept;

    bool on_expiry() override;
    void on_shutdown() noexcept override;

    brief_mutex mutex_;

    // Guarded by it.
    asked_scopes asked_;
    std::shared_ptr<scope_tree> teller_; // itself, while it is scheduled
    retry_scheduler* scheduler_ = nullptr;
};

} // namespace asio_retry::detail
