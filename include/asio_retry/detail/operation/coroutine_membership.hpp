#pragma once

#include <asio_retry/detail/handler/asio.hpp>
#include <asio_retry/detail/operation/coroutine_notice.hpp>
#include <asio_retry/detail/scope/scope_state.hpp>
#include <asio_retry/retry_machine.hpp>

#include <boost/asio/post.hpp>

#include <memory>
#include <optional>
#include <thread>
#include <utility>

namespace asio_retry::detail {

/// Keeps an operation that a coroutine awaits counted in its scope; empty outside a scope.
template <typename Executor, typename WaitsOn>
class awaited_presence {};

/// In a scope: counted until the coroutine that receives the result waits for something else.
template <typename Executor>
class awaited_presence<Executor, scope_handle> {
public:
    awaited_presence() noexcept = default;
    awaited_presence(awaited_presence&&) noexcept = default;
    awaited_presence& operator=(awaited_presence&&) = delete;
    ~awaited_presence() {
        if (!ended_on_ || presence_->end_unjoined())
            return;
        try {
            asio::post(*ended_on_, [counted = std::move(*presence_)] {});
        } catch (...) { // it counts as ended here
        }
    }

    void begin(scope_handle const& scope, scope_member& member) { presence_.emplace(scope, &member); }
    scope_state& scope() const noexcept { return presence_->scope(); }
    bool has_room() const noexcept { return presence_->has_room(); }
    bool unlink(scope_member& member, bool waits) noexcept { return presence_->unlink(member, waits); }

    /// The operation has ended, and its caller goes on there: in the strand, if there is one.
    void end_on(Executor const& executor, std::unique_ptr<Executor> strand) noexcept {
        strand_ = std::move(strand);
        if (presence_)
            ended_on_ = strand_ ? strand_.get() : &executor;
    }

private:
    std::optional<scope_presence> presence_;
    std::unique_ptr<Executor> strand_;
    Executor const* ended_on_ = nullptr; // null if the coroutine is being destroyed
};

/// The part of an operation that its scope knows, inside the frame of the coroutine; empty outside a scope.
template <typename Retry, typename Executor, typename WaitsOn>
class coroutine_membership {
public:
    static constexpr bool is_scoped = false;

    coroutine_membership(Retry&, awaited_presence<Executor, WaitsOn>&) noexcept {}
};

/// In a scope: it tells `Retry` of requests on its executor, in `on_scope_notice()`, or in
/// `on_scope_notice_lost()` if the executor takes no function.
template <typename Retry, typename Executor>
class coroutine_membership<Retry, Executor, scope_handle> final : scope_member, cancellation_probe {
public:
    static constexpr bool is_scoped = true;

    coroutine_membership(Retry& retry, awaited_presence<Executor, scope_handle>& presence) noexcept
        : retry_(retry)
        , presence_(presence) {}

    ~coroutine_membership() {
        while (!leave()) {
            if (notice_.abandon())
                take_request(); // after it there may be another
            else
                std::this_thread::yield(); // another thread is about to queue the notice, or fails to
        }
    }

    void begin(scope_handle const& scope, retry_machine& machine) {
        presence_.begin(scope, *this);
        is_in_ = true;
        machine.watch(*this);
        machine.inherit_deadline(scope->deadline());
    }
    bool has_room() const noexcept { return presence_.has_room(); }

    /// The operation has ended, in the strand if it has one.
    void end(std::unique_ptr<Executor> strand) noexcept {
        presence_.end_on(retry_.executor(), std::move(strand));
    }

    /// Returns false while a notice is under way.
    bool leave() noexcept { return leave(false); }

    /// The same, for a coroutine that then only waits for the notice.
    bool leave_or_wait() noexcept { return leave(true); }

    timed_request take_request() noexcept { return scope().take_request(*this); }
    void count_stopped_attempt() noexcept { scope().count_stopped_attempt(); }

private:
    scope_state& scope() const noexcept { return presence_.scope(); }

    bool leave(bool waits) noexcept {
        if (is_in_ && presence_.unlink(*this, waits))
            is_in_ = false;
        return !is_in_;
    }

    bool stops(bool) const noexcept override { return scope().stopped(); }
    bool tells_attempt() const noexcept override { return scope().cancelled(); }
    time_point deadline() const noexcept override { return scope().deadline(); }

    void on_scope_notice() override { notice_.post(*this, retry_.executor()); }

    friend coroutine_notice<coroutine_membership>;
    void on_notice() { retry_.on_scope_notice(); }
    void on_notice_lost() noexcept { retry_.on_scope_notice_lost(); }

    void on_notice_failed() override {
        if (scope().miss_request(*this))
            retry_.on_scope_notice_failed();
    }

    Retry& retry_;
    awaited_presence<Executor, scope_handle>& presence_;
    coroutine_notice<coroutine_membership> notice_;
    bool is_in_ = false;
};

} // namespace asio_retry::detail
