#pragma once

#include "scope/scope_tree.hpp"
#include <asio_retry/detail/policy/linked_list.hpp>
#include <asio_retry/detail/scope/scope_join.hpp>
#include <asio_retry/detail/scope/scope_state.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/execution_context.hpp>

#include <atomic>
#include <cstddef>
#include <exception>
#include <memory>

namespace asio_retry::detail {

/// A scope. It owns its parent, and knows its children as long as they exist. One mutex guards a whole tree. A
/// thread that holds it frees no memory, destroys no executor and calls no code of the user.
class scope_node final : public scope_state,
                         public list_hook<scope_node>,
                         public list_hook<scope_request>,
                         public list_hook<scope_tree> {
public:
    static scope_node& of(scope_state& scope) noexcept { return static_cast<scope_node&>(scope); }

    bool stands_for(scope_request what) const noexcept;
    std::size_t pending() const;
    void limit_pending(std::size_t greatest) noexcept;
    void request(scope_request what, bool again, duration spread, int steps);

    void link(scope_member& member);
    bool unlink(scope_member& member, bool waits, bool makes_room) noexcept;
    timed_request take_request(scope_member& member) noexcept;
    bool miss_request(scope_member& member) noexcept;
    void count_stopped_attempt() noexcept;

    /// Counts an operation in this scope and in those above it, from the initiation until the handler has run.
    /// Links `member`, if it is not null. Returns false if one of the scopes has no room.
    bool enter(scope_member* member = nullptr);

    /// Ends the count of an operation. Returns joins that end with it; the teller ends the rest.
    linked_list<scope_join> leave(scope_room room) noexcept;

    /// Like `leave`, but returns false and does nothing if a join waits for the operation.
    bool leave_unjoined(scope_room room) noexcept;

    void begin_join(scope_join& join, duration timeout);
    static void finish(linked_list<scope_join>& ended) noexcept;

private:
    friend class scope_join;
    friend class scope_presence;
    friend class scope_state;
    friend class scope_tree;
    using members = linked_list<scope_member>;
    using children = linked_list<scope_node>;
    using asked_scopes = linked_list<scope_node, scope_request>;

    /// A request under way, and the members and children that it has not reached yet.
    struct round {
        timed_request request;
        bool again = false; // a cancel also for members that have been asked before
        members to_tell;
        children to_ask;

        bool is_over() const noexcept { return to_tell.empty() && to_ask.empty(); }
        void append(round& other) noexcept;
    };

    scope_node(boost::asio::any_io_executor executor, scope_node* parent, time_point deadline);
    ~scope_node() = default;

    void keep() noexcept { owners_.fetch_add(1, std::memory_order_relaxed); }
    bool give_back() noexcept { return owners_.fetch_sub(1, std::memory_order_acq_rel) == 1; }
    static void release(scope_node* scope) noexcept;

    bool is_asked() const noexcept { return list_hook<scope_request>::is_linked(); }
    bool has_heard(scope_request what) const noexcept;
    round& current_round() noexcept;
    void ask(timed_request request, bool again) noexcept;
    int take_step(scope_work& work) noexcept;
    int take_step(asked_scopes& asked, scope_work& work) noexcept;
    void find_told(scope_member& member, timed_request request, scope_work& work) noexcept;
    scope_node* ask_first_child() noexcept;
    static void tell_all(scope_work& work, std::exception_ptr& failure);
    static void tell(scope_member& member);
    bool has_joins_to_end() const noexcept;
    void end_first_join(linked_list<scope_join>& ended) noexcept;
    bool end_join(scope_join& join, error_code const& error) noexcept;
    bool end_if_over(scope_join& join) noexcept;
    void uncount(scope_room room) noexcept;

    std::atomic<std::size_t> owners_ = 1; // all handles together, presences and children
    scope_node* const parent_;
    std::shared_ptr<scope_tree> const tree_;
    std::atomic<scope_request> standing_ = scope_request::none; // the permanent request: none, drain or cancel

    // Guarded by the mutex.
    members members_;   // members without a request to come
    children children_; // children without a request to come
    round round_;
    round next_round_;   // a weaker request, to members that `round_` has reached or that came later
    asked_scopes asked_; // after a request to this scope: this scope and scopes below with steps left

    linked_list<scope_join> joins_; // oldest first
    std::size_t times_empty_ = 0;
    std::size_t max_pending_ = std::size_t(-1);
    std::size_t pending_ = 0;
    std::size_t ended_but_counted_ = 0; // they take no room
    std::size_t without_room_ = 0;      // operations that found no room, and are about to end
    std::size_t stopped_attempts_ = 0;
    bool missed_ = false; // a member here or below has missed a request
};

} // namespace asio_retry::detail
