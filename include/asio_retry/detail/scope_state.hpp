#pragma once

#include <asio_retry/detail/config.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/append.hpp>
#include <boost/asio/associated_allocator.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/intrusive/list.hpp>
#include <boost/system/error_code.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace asio_retry::detail {

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

    /// The scope was cancelled. Called without a lock, on any thread; the member stays until it has seen it. If
    /// it throws, `on_notice_failed` follows.
    virtual void on_scope_cancelled() = 0;

    /// The member need not stay after all, and may want to be told by the next cancellation of the scope.
    virtual void on_notice_failed() = 0;

    bool notified_ = false;
};

/// What a retry_scope shares with the operations started in it, which may outlive it.
class ASIO_RETRY_DECL scope_state : public std::enable_shared_from_this<scope_state> {
public:
    scope_state(boost::asio::any_io_executor executor, std::shared_ptr<scope_state> parent);
    ~scope_state();

    /// Must follow the construction; tells the parent.
    void attach();

    boost::asio::any_io_executor const& executor() const noexcept { return executor_; }
    bool cancelled() const noexcept { return cancelled_.load(std::memory_order_acquire); }
    std::size_t pending() const;

    /// If this throws, some members could not be told; they will be by the next call.
    void cancel();

    /// From now on the member is told of a cancellation, unless there was one already.
    void link(scope_member& member);

    /// Returns false if the member is being told of a cancellation and has to wait for that.
    bool unlink(scope_member& member) noexcept;

    /// After a notice that failed.
    void relink(scope_member& member) noexcept;

    /// Counts operations in this scope and those above it, from the initiation until the handler has run.
    void enter();
    void leave() noexcept;

    template <typename Handler>
    void async_join(Handler handler);

    bool has_been_empty_since(std::uint64_t times_empty) const;

private:
    boost::intrusive::list<scope_member> take_members();
    void tell(scope_member& member);
    std::shared_ptr<scope_state> child_before(std::size_t& index) const;

    boost::asio::any_io_executor executor_;
    std::shared_ptr<scope_state> parent_;
    std::atomic<bool> cancelled_ = false;
    mutable std::recursive_mutex mutex_; // a join that cannot begin may destroy a scope with its handler
    boost::intrusive::list<scope_member> members_;
    std::vector<std::weak_ptr<scope_state>> children_;
    std::size_t pending_ = 0;
    std::uint64_t times_empty_ = 0;
    std::optional<boost::asio::steady_timer> joiners_; // every join waits on it; destroying it ends them all
};

/// Tells the end of a wait for an empty scope from a cancellation of that wait.
template <typename Handler>
struct join_handler {
    using executor_type = boost::asio::associated_executor_t<Handler, boost::asio::any_io_executor>;
    using allocator_type = boost::asio::associated_allocator_t<Handler>;
    using cancellation_slot_type = boost::asio::associated_cancellation_slot_t<Handler>;

    std::shared_ptr<scope_state> scope;
    std::uint64_t times_empty_before;
    Handler handler;

    executor_type get_executor() const noexcept {
        return boost::asio::get_associated_executor(handler, scope->executor());
    }
    allocator_type get_allocator() const noexcept { return boost::asio::get_associated_allocator(handler); }
    cancellation_slot_type get_cancellation_slot() const noexcept {
        return boost::asio::get_associated_cancellation_slot(handler);
    }

    void operator()(boost::system::error_code) {
        boost::system::error_code result;
        if (!scope->has_been_empty_since(times_empty_before))
            result = boost::asio::error::operation_aborted;
        scope.reset();
        std::move(handler)(result);
    }
};

template <typename Handler>
void scope_state::async_join(Handler handler) {
    std::unique_lock lock(mutex_);
    if (pending_ != 0) {
        if (!joiners_)
            joiners_.emplace(executor_, boost::asio::steady_timer::time_point::max());
        joiners_->async_wait(join_handler<Handler>{shared_from_this(), times_empty_, std::move(handler)});
        return;
    }
    lock.unlock();
    boost::asio::post(executor_, boost::asio::append(std::move(handler), boost::system::error_code()));
}

/// Keeps an operation counted in its scope.
class scope_presence {
public:
    explicit scope_presence(std::shared_ptr<scope_state> scope)
        : scope_(std::move(scope)) {
        scope_->enter();
    }
    scope_presence(scope_presence&&) noexcept = default;
    scope_presence& operator=(scope_presence&&) = delete;
    ~scope_presence() {
        if (scope_)
            scope_->leave();
    }

    scope_state& scope() const noexcept { return *scope_; }

private:
    std::shared_ptr<scope_state> scope_;
};

} // namespace asio_retry::detail
