#pragma once

#include <asio_retry/detail/policy/config.hpp>
#include <asio_retry/detail/policy/linked_list.hpp>
#include <asio_retry/detail/scope/counted_handle.hpp>
#include <asio_retry/detail/scope/scope_join.hpp>
#include <asio_retry/detail/scope/scope_tree.hpp>
#include <asio_retry/duration.hpp>
#include <asio_retry/random.hpp>
#include <asio_retry/retry_scheduler.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/execution_context.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <memory>
#include <utility>

namespace asio_retry::detail {

/// What a scope may ask of its operations; each asks for more than the one before it.
enum class scope_request : unsigned char {
    none,
    retry_within, ///< end the wait within a time
    retry_now,    ///< end the wait
    drain,        ///< end the wait and begin no attempt
    cancel,       ///< the same, and stop the attempt
};

/// A request, and the time of a retry_within.
struct timed_request {
    scope_request what = scope_request::none;
    duration spread = duration::zero();

    /// Whether it asks for less.
    friend bool operator<(timed_request const& a, timed_request const& b) noexcept {
        return a.what != b.what ? a.what < b.what : a.spread > b.spread;
    }
};

/// When a wait ends that is to end within `spread`.
inline time_point time_within(duration spread, time_point now, random& source) {
    return saturating_add(now, source.uniform(duration::zero(), (std::max)(spread, duration(1)) - duration(1)));
}

/// Of an operation: `made` for others, when it has ended and is still counted.
enum class scope_room : unsigned char { none, taken, made };

/// An operation as its scope sees it.
class scope_member : public list_hook<scope_member> {
protected:
    scope_member() noexcept = default;
    scope_member(scope_member const&) = delete;
    scope_member& operator=(scope_member const&) = delete;
    ~scope_member() = default;

private:
    friend class scope_state;
    friend class scope_tree;

    /// There is a request to take. Called without a lock, on any thread; the member stays until it has taken
    /// it. If it throws, `on_notice_failed` follows.
    virtual void on_scope_notice() = 0;

    /// Nobody will come to take the request, unless somebody who is there already.
    virtual void on_notice_failed() = 0;

    duration spread_ = duration::zero(); // of the request
    scope_request request_ = scope_request::none;
    bool is_being_told_ = false;  // so it has to take the request
    bool waits_to_leave_ = false; // until it has been told
    bool is_told_again_ = false;  // if it cannot be told now
};

/// What a retry_scope shares with the operations started in it, which may outlive it, and its context.
///
/// Handles keep the executor too, which goes with the last of them. A scope owns its parent and knows its
/// children, as long as they exist. One mutex guards a whole tree; under it nothing is given back, no executor
/// destroyed and nothing called that is the user's.
class ASIO_RETRY_DECL scope_state : public list_hook<scope_state>,
                                    public list_hook<scope_request>,
                                    public list_hook<scope_tree> {
public:
    static scope_handle create(boost::asio::any_io_executor executor, scope_handle const& parent,
                               time_point deadline);

    /// @name For those who have a handle
    /// @{
    boost::asio::any_io_executor const& executor() const noexcept { return executor_; }
    /// That of the executor.
    boost::asio::execution_context& context() const noexcept { return context_; }
    retry_scheduler& scheduler() const;
    /// @}

    time_point deadline() const noexcept { return deadline_; }

    /// Whether no attempt begins any more. This and the next are known here as soon as they were asked for
    /// above.
    bool stopped() const noexcept { return stands_for(scope_request::drain); }
    bool cancelled() const noexcept { return stands_for(scope_request::cancel); }

    std::size_t pending() const;
    void limit_pending(std::size_t greatest) noexcept;

    /// Asks it of all members, here and in the children: of the first in so many steps, and of the rest in
    /// turns of the scheduler. `again`: also of those that have been asked before. `spread`: of a retry_within.
    /// If this throws, some could not be told; they will be by the next call.
    void request(scope_request what, bool again = false, duration spread = duration::zero(),
                 int steps = scope_tree::steps_of_call);

    /// @name For the members
    /// @{
    void link(scope_member& member);

    /// Returns false if there is a request, which the member has to wait for and to take. `waits`: it does
    /// nothing else until then. `makes_room`: it stays counted, but takes no room any more.
    bool unlink(scope_member& member, bool waits = false, bool makes_room = false) noexcept;

    timed_request take_request(scope_member& member) noexcept;

    /// The member cannot take the request; it will be told again by the next one. Returns whether it does
    /// nothing but wait for that.
    bool miss_request(scope_member& member) noexcept;

    /// Counts an operation in this scope and those above it, from the initiation until the handler has run; and
    /// links it, if it is given. Returns false if one of them has no room for it.
    bool enter(scope_member* member = nullptr);

    /// Returns joins that this ends; the teller ends the rest.
    linked_list<scope_join> leave(scope_room room) noexcept;

    /// Returns false, and does nothing, if a join waits for it.
    bool leave_unjoined(scope_room room) noexcept;

    /// The scope made the member stop an attempt.
    void count_stopped_attempt() noexcept;
    /// @}

    /// Ends the join when the scope is empty; cancels the scope if that takes longer than `timeout`. If this
    /// throws, nothing happened.
    void begin_join(scope_join& join, duration timeout);

    static void finish(linked_list<scope_join>& ended) noexcept;

private:
    friend class scope_join;
    friend class scope_presence;
    friend class scope_tree;
    using members = linked_list<scope_member>;
    using children = linked_list<scope_state>;
    using asked_scopes = linked_list<scope_state, scope_request>;

    /// A request under way, and the members and children that it has not reached.
    struct round {
        timed_request request;
        bool again = false; // also of those that have been asked before: a cancel, which no request puts off
        members to_tell;
        children to_ask;

        bool is_over() const noexcept { return to_tell.empty() && to_ask.empty(); }
        void append(round& other) noexcept;
    };

    friend void add_owner(scope_state* scope) noexcept {
        scope->handles_.fetch_add(1, std::memory_order_relaxed);
    }
    friend void remove_owner(scope_state* scope) noexcept {
        if (scope->handles_.fetch_sub(1, std::memory_order_acq_rel) == 1)
            scope->lose_handles();
    }

    scope_state(boost::asio::any_io_executor executor, scope_state* parent, time_point deadline);
    ~scope_state() = default;

    void keep() noexcept { owners_.fetch_add(1, std::memory_order_relaxed); }
    bool give_back() noexcept { return owners_.fetch_sub(1, std::memory_order_acq_rel) == 1; }
    void lose_handles() noexcept;
    static void release(scope_state* scope) noexcept;

    bool stands_for(scope_request what) const noexcept;
    bool is_asked() const noexcept { return list_hook<scope_request>::is_linked(); }
    bool has_heard(scope_request what) const noexcept;
    round& current_round() noexcept;
    void ask(timed_request request, bool again) noexcept;
    int take_step(scope_work& work) noexcept;
    int take_step(asked_scopes& asked, scope_work& work) noexcept;
    void find_told(scope_member& member, timed_request request, scope_work& work) noexcept;
    scope_state* ask_first_child() noexcept;
    static void tell_all(scope_work& work, std::exception_ptr& failure);
    static void tell(scope_member& member);
    bool has_joins_to_end() const noexcept;
    void end_first_join(linked_list<scope_join>& ended) noexcept;
    bool end_join(scope_join& join, error_code const& error) noexcept;
    bool end_if_over(scope_join& join) noexcept;
    void uncount(scope_room room) noexcept;

    std::atomic<std::size_t> handles_ = 0;
    std::atomic<std::size_t> owners_ = 1; // all handles together, presences and children
    boost::asio::any_io_executor executor_;
    boost::asio::execution_context& context_;
    scope_state* const parent_;
    time_point const deadline_;
    std::shared_ptr<scope_tree> const tree_;
    std::atomic<scope_request> standing_ = scope_request::none; // for good, of this scope: drain or cancel

    // Guarded by the mutex.
    members members_;   // that no request has to reach
    children children_; // the same
    round round_;
    round next_round_;   // asks for less, of those who have been reached, or have come since
    asked_scopes asked_; // this and those below that have steps left, where this was the one to be asked

    linked_list<scope_join> joins_; // in their order
    std::size_t times_empty_ = 0;
    std::size_t max_pending_ = std::size_t(-1);
    std::size_t pending_ = 0;
    std::size_t without_need_ = 0; // of those: they have ended, and take no room
    std::size_t without_room_ = 0; // and about to end
    std::size_t stopped_attempts_ = 0;
    bool missed_ = false; // a member here or below has missed a request
};

/// Keeps an operation counted in its scope, which it owns without its executor.
class scope_presence {
public:
    explicit scope_presence(scope_handle const& given_scope, scope_member* member = nullptr)
        : scope_(given_scope.get())
        , room_(scope_->enter(member) ? scope_room::taken : scope_room::none) {
        scope_->keep();
    }
    scope_presence(scope_presence&& other) noexcept
        : scope_(std::exchange(other.scope_, nullptr))
        , room_(other.room_) {}
    scope_presence& operator=(scope_presence&&) = delete;
    ~scope_presence() {
        if (!scope_)
            return;
        auto ended = scope_->leave(room_);
        scope_state::release(scope_);
        scope_state::finish(ended);
    }

    /// The operation has ended, though something of it is still there: others may have its room. Returns false
    /// if there is a request for it first.
    bool unlink(scope_member& member, bool waits = false) noexcept {
        bool const is_unlinked = scope_->unlink(member, waits, room_ == scope_room::taken);
        if (is_unlinked && room_ == scope_room::taken)
            room_ = scope_room::made;
        return is_unlinked;
    }

    /// Ends it, unless a join waits for that.
    bool end_unjoined() noexcept {
        bool const ends = scope_->leave_unjoined(room_);
        if (ends)
            scope_state::release(std::exchange(scope_, nullptr));
        return ends;
    }

    scope_state& scope() const noexcept { return *scope_; }
    bool has_room() const noexcept { return room_ != scope_room::none; }

private:
    scope_state* scope_;
    scope_room room_;
};

} // namespace asio_retry::detail
