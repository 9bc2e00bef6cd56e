#pragma once

#include <asio_retry/detail/config.hpp>
#include <asio_retry/detail/scope_join.hpp>
#include <asio_retry/duration.hpp>
#include <asio_retry/retry_scheduler.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/intrusive/list.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

namespace asio_retry::detail {

/// What a scope may ask of its operations; each asks for more than the one before it.
enum class scope_request : unsigned char {
    none,
    retry_now, ///< end the wait
    drain,     ///< end the wait and begin no attempt
    cancel,    ///< the same, and stop the attempt
};

/// An operation as its scope sees it.
class scope_member
    : public boost::intrusive::list_base_hook<boost::intrusive::link_mode<boost::intrusive::safe_link>> {
protected:
    scope_member() noexcept = default;
    scope_member(scope_member const&) = delete;
    scope_member& operator=(scope_member const&) = delete;
    ~scope_member() = default;

private:
    friend class scope_state;

    /// There is a request to take. Called without a lock, on any thread; the member stays until it has taken
    /// it. If it throws, `on_notice_failed` follows.
    virtual void on_scope_notice() = 0;

    /// Nobody will come to take the request, unless somebody who is there already.
    virtual void on_notice_failed() = 0;

    scope_request request_ = scope_request::none;
};

/// What a retry_scope shares with the operations started in it, which may outlive it.
class ASIO_RETRY_DECL scope_state
    : public std::enable_shared_from_this<scope_state>,
      public boost::intrusive::list_base_hook<boost::intrusive::link_mode<boost::intrusive::safe_link>> {
public:
    scope_state(boost::asio::any_io_executor executor, std::shared_ptr<scope_state> parent,
                time_point deadline);
    ~scope_state();

    /// Must follow the construction; tells the parent.
    void attach();

    boost::asio::any_io_executor const& executor() const noexcept { return executor_; }
    time_point deadline() const noexcept { return deadline_; }
    retry_scheduler& waits() const;

    /// Whether no attempt begins any more.
    bool stopped() const noexcept { return stopped_.load(std::memory_order_acquire); }
    bool cancelled() const;

    std::size_t pending() const;
    void limit_pending(std::size_t greatest) noexcept;

    /// Asks it of all members, here and in the children. If this throws, some could not be told; they will be
    /// by the next call.
    void request(scope_request what);

    /// @name For the members
    /// @{
    void link(scope_member& member);

    /// Returns false if there is a request, which the member has to wait for and to take.
    bool unlink(scope_member& member) noexcept;

    scope_request take_request(scope_member& member) noexcept;

    /// Counts an operation in this scope and those above it, from the initiation until the handler has run.
    /// Returns false if one of them has no room for it.
    bool enter();

    /// Returns the joins that this ends.
    boost::intrusive::list<scope_join> leave(bool had_room) noexcept;

    /// The scope made the member stop an attempt.
    void count_stopped_attempt() noexcept;
    /// @}

    /// Ends the join when the scope is empty; cancels the scope if that takes longer than `timeout`. If this
    /// throws, nothing happened.
    void begin_join(scope_join& join, duration timeout);

    /// Ends the join before that, if it has not ended.
    static void abandon_join(std::shared_ptr<scope_state> scope, std::uint64_t id) noexcept;

    static void finish(boost::intrusive::list<scope_join>& ended) noexcept;

private:
    friend class scope_join;
    using members = boost::intrusive::list<scope_member>;

    void mark_members(scope_request what);
    bool end_join(scope_join& join, error_code const& error) noexcept;
    scope_member* next_to_tell();
    void tell(scope_member& member);
    std::shared_ptr<scope_state> child_after(scope_state const* child) const;

    boost::asio::any_io_executor const executor_;
    std::shared_ptr<scope_state> const parent_;
    time_point const deadline_;
    std::atomic<bool> stopped_ = false;
    mutable std::mutex mutex_;
    members members_; // without a request
    members to_tell_;
    members told_;                                 // and yet to take the request
    boost::intrusive::list<scope_state> children_; // as long as they exist
    boost::intrusive::list<scope_join> joins_;
    std::size_t max_pending_ = std::size_t(-1);
    std::size_t pending_ = 0;
    std::size_t without_room_ = 0; // and about to end
    std::size_t stopped_attempts_ = 0;
    bool cancelled_ = false;
    std::atomic<std::uint64_t> joins_begun_ = 0;
};

/// Keeps an operation counted in its scope.
class scope_presence {
public:
    explicit scope_presence(std::shared_ptr<scope_state> scope)
        : scope_(std::move(scope))
        , has_room_(scope_->enter()) {}
    scope_presence(scope_presence&&) noexcept = default;
    scope_presence& operator=(scope_presence&&) = delete;
    ~scope_presence() {
        if (!scope_)
            return;
        auto ended = scope_->leave(has_room_);
        scope_.reset(); // who joins may destroy its context
        scope_state::finish(ended);
    }

    scope_state& scope() const noexcept { return *scope_; }
    bool has_room() const noexcept { return has_room_; }

private:
    std::shared_ptr<scope_state> scope_;
    bool has_room_;
};

} // namespace asio_retry::detail
