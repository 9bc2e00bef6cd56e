#pragma once

#include <asio_retry/detail/policy/config.hpp>
#include <asio_retry/detail/policy/linked_list.hpp>
#include <asio_retry/detail/policy/operation_limits.hpp>
#include <asio_retry/duration.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/execution_context.hpp>

#include <atomic>
#include <concepts>
#include <cstddef>
#include <utility>

namespace asio_retry {
class retry_scheduler;
}

namespace asio_retry::detail {

class scope_join;
class scope_node;

/// One of the owners of an object. `add_owner(T*)` and `remove_owner(T*)`, found by argument-dependent lookup,
/// count the owners; with the last owner, `remove_owner` destroys the object.
template <typename T>
class counted_handle {
public:
    counted_handle() noexcept = default;
    explicit counted_handle(T* owned) noexcept
        : owned_(owned) {
        if (owned_)
            add_owner(owned_);
    }
    counted_handle(counted_handle const& other) noexcept
        : counted_handle(other.owned_) {}
    counted_handle(counted_handle&& other) noexcept
        : owned_(other.detach()) {}
    counted_handle& operator=(counted_handle other) noexcept {
        std::swap(owned_, other.owned_);
        return *this;
    }
    ~counted_handle() { reset(); }

    explicit operator bool() const noexcept { return owned_ != nullptr; }
    T* get() const noexcept { return owned_; }
    T* operator->() const noexcept { return owned_; }
    T& operator*() const noexcept { return *owned_; }

    void reset() noexcept {
        if (T* const owned = detach())
            remove_owner(owned);
    }

    T* detach() noexcept { return std::exchange(owned_, nullptr); } // does not change the count

private:
    T* owned_ = nullptr;
};

/// A request of a scope to its operations. Each request asks for more than the one before it.
enum class scope_request : unsigned char {
    none,
    retry_within, ///< end the wait within a time
    retry_now,    ///< end the wait
    drain,        ///< end the wait and begin no attempt
    cancel,       ///< end the wait, begin no attempt, and stop the attempt that runs
};

struct timed_request {
    scope_request what = scope_request::none;
    duration spread = duration::zero(); // of a retry_within

    friend bool operator<(timed_request const& a, timed_request const& b) noexcept {
        return a.what != b.what ? a.what < b.what : a.spread > b.spread;
    }
};

/// The room of an operation in its scope. `made`: it has ended and is still counted, but takes no room.
enum class scope_room : unsigned char { none, taken, made };

class scope_member : public list_hook<scope_member> {
protected:
    scope_member() noexcept = default;
    scope_member(scope_member const&) = delete;
    scope_member& operator=(scope_member const&) = delete;
    ~scope_member() = default;

private:
    friend class scope_node;
    friend class scope_tree;

    /// Called when there is a request to take: on any thread, without a lock. The member stays until it has
    /// taken the request. If this throws, `on_notice_failed` follows.
    virtual void on_scope_notice() = 0;

    /// Called when no turn can be queued to take the request. Then only the operation's occupant may take it.
    virtual void on_notice_failed() = 0;

    duration spread_ = duration::zero(); // of `request_`
    scope_request request_ = scope_request::none;
    bool is_being_told_ = false;  // the member must call take_request
    bool waits_to_leave_ = false; // the member does nothing else until it has been told
    bool is_told_again_ = false;  // if the member misses this request, tell it again
};

class scope_state;
using scope_handle = counted_handle<scope_state>;

/// The state that a retry_scope shares with the operations started in it. They may outlive the retry_scope and
/// its context. The last handle destroys the executor. The rest of the state is a `scope_node` of the library.
class ASIO_RETRY_DECL scope_state {
public:
    static scope_handle create(boost::asio::any_io_executor executor, scope_handle const& parent,
                               time_point deadline);

    // --- for owners of a handle
    boost::asio::any_io_executor const& executor() const noexcept { return executor_; }
    boost::asio::execution_context& context() const noexcept { return context_; }
    retry_scheduler& scheduler() const;

    time_point deadline() const noexcept { return deadline_; }

    /// Whether no attempt begins any more. Both functions look at all enclosing scopes.
    bool stopped() const noexcept;
    bool cancelled() const noexcept;

    std::size_t pending() const;
    void limit_pending(std::size_t greatest) noexcept;

    static constexpr int steps_of_call = 64;

    /// Makes a request of all members, here and in the children. A few steps are made here, and the rest in
    /// turns of the scheduler. `again`: also asks members that have been asked before. `spread`: for
    /// retry_within. If this throws, some members could not be told. The next call tells them.
    void request(scope_request what, bool again = false, duration spread = duration::zero(),
                 int steps = steps_of_call);

    // --- for the members
    void link(scope_member& member);

    /// Returns false if the member must first take a request that is on its way. `waits`: it does nothing else
    /// until then. `makes_room`: it stays counted, but takes no room any more.
    bool unlink(scope_member& member, bool waits = false, bool makes_room = false) noexcept;

    timed_request take_request(scope_member& member) noexcept;

    /// The member cannot take the request; the next one reaches it. Returns whether it only waited to leave.
    bool miss_request(scope_member& member) noexcept;

    void count_stopped_attempt() noexcept;

    /// Ends the join when the scope is empty; cancels the scope if that takes longer than `timeout`. If this
    /// throws, nothing happened.
    void begin_join(scope_join& join, duration timeout);

protected:
    scope_state(boost::asio::any_io_executor executor, time_point deadline);
    scope_state(scope_state const&) = delete;
    scope_state& operator=(scope_state const&) = delete;
    ~scope_state() = default;

private:
    friend class scope_node;
    friend void add_owner(scope_state* scope) noexcept {
        scope->handles_.fetch_add(1, std::memory_order_relaxed);
    }
    friend void remove_owner(scope_state* scope) noexcept {
        if (scope->handles_.fetch_sub(1, std::memory_order_acq_rel) == 1)
            scope->lose_handles();
    }
    void lose_handles() noexcept;

    std::atomic<std::size_t> handles_ = 0;
    boost::asio::any_io_executor executor_;
    boost::asio::execution_context& context_;
    time_point const deadline_;
};

/// Counts an operation in its scope. It keeps the scope alive, but not the executor of the scope.
class scope_presence {
public:
    ASIO_RETRY_DECL explicit scope_presence(scope_handle const& given_scope, scope_member* member = nullptr);
    scope_presence(scope_presence&& other) noexcept
        : scope_(std::exchange(other.scope_, nullptr))
        , room_(other.room_) {}
    scope_presence& operator=(scope_presence&&) = delete;
    ~scope_presence() {
        if (scope_)
            end();
    }

    /// Gives the room of an ended operation to others while the operation is still counted. Returns false if
    /// the operation must first take a request.
    ASIO_RETRY_DECL bool unlink(scope_member& member, bool waits = false) noexcept;

    /// Ends the presence, unless a join waits for its end.
    ASIO_RETRY_DECL bool end_unjoined() noexcept;

    scope_state& scope() const noexcept { return *scope_; }
    bool has_room() const noexcept { return room_ != scope_room::none; }

private:
    ASIO_RETRY_DECL void end() noexcept;

    scope_state* scope_;
    scope_room room_;
};

/// The part of an operation that its scope knows.
template <typename Operation>
class basic_membership final : scope_member, cancellation_probe {
public:
    basic_membership(Operation& given_operation, scope_handle const& given_scope)
        : operation_(given_operation)
        , presence_(given_scope) {}
    ~basic_membership() = default;

    void link() {
        presence_.scope().link(*this);
        operation_.machine().watch(*this);
        operation_.machine().inherit_deadline(presence_.scope().deadline());
    }
    bool has_room() const noexcept { return presence_.has_room(); }

    /// Returns false while a notice is under way. `is_idle`: no attempt runs, so the room becomes free now,
    /// before the handler has run.
    bool unlink(bool is_idle = true) noexcept {
        return is_idle ? presence_.unlink(*this) : presence_.scope().unlink(*this);
    }

    timed_request take_request() noexcept { return presence_.scope().take_request(*this); }
    void miss_request() noexcept { presence_.scope().miss_request(*this); }
    void count_stopped_attempt() noexcept { presence_.scope().count_stopped_attempt(); }

    bool end_unjoined() noexcept { return presence_.end_unjoined(); }
    scope_presence take_presence() noexcept { return std::move(presence_); }

private:
    bool stops(bool) const noexcept override { return presence_.scope().stopped(); }
    bool tells_attempt() const noexcept override { return presence_.scope().cancelled(); }
    time_point deadline() const noexcept override { return presence_.scope().deadline(); }
    void on_scope_notice() override { operation_.post_scope_notice(); }
    void on_notice_failed() override { operation_.on_scope_notice_failed(); }

    Operation& operation_;
    scope_presence presence_;
};

/// Whether an operation belongs to a scope. In a scope it keeps a part that the scope knows, and a presence
/// until its handler has been called.
template <typename T, typename Operation>
concept membership = std::constructible_from<typename T::template part<Operation>, Operation&, T> &&
                     requires(typename T::template part<Operation>& part) {
                         { T::is_scoped } -> std::convertible_to<bool>;
                         { part.get() } noexcept -> std::same_as<basic_membership<Operation>*>;
                         { part.take_presence() } noexcept -> std::same_as<typename T::presence>;
                     };

struct no_membership {
    static constexpr bool is_scoped = false;

    struct presence {};

    template <typename Operation>
    class part {
    public:
        part(Operation&, no_membership&&) noexcept {}
        basic_membership<Operation>* get() noexcept { return nullptr; }
        presence take_presence() noexcept { return {}; }
    };
};

struct scope_membership {
    static constexpr bool is_scoped = true;

    scope_handle scope;

    using presence = scope_presence;

    template <typename Operation>
    class part {
    public:
        part(Operation& given_operation, scope_membership&& membership)
            : member_(given_operation, membership.scope) {}
        basic_membership<Operation>* get() noexcept { return &member_; }
        presence take_presence() noexcept { return member_.take_presence(); }

    private:
        basic_membership<Operation> member_;
    };
};

} // namespace asio_retry::detail
