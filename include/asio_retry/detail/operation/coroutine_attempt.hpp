#pragma once

#include <asio_retry/detail/handler/asio.hpp>
#include <asio_retry/detail/handler/queued_turn.hpp>
#include <asio_retry/detail/handler/resumption.hpp>
#include <asio_retry/error.hpp>

#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/this_coro.hpp>

#include <boost/system/system_error.hpp>

#include <cassert>
#include <exception>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace asio_retry::detail {

/// The attempts of a coroutine that can be cancelled: each in a coroutine of its own, because Asio forgets a
/// cancellation when an attempt resets the state of the coroutine that it runs in, or lets less through.
/// `Retry` calls its operation in `call()`, and is given the values that it ended with.
template <typename Retry, typename T, typename Executor>
class coroutine_attempt {
public:
    explicit coroutine_attempt(Retry& retry) noexcept
        : retry_(retry) {}

    auto async_run() {
        return asio::async_initiate<asio::deferred_t const, void()>(
            [this](auto handler) {
                resume_.hold(std::move(handler));
                begun_ = false;
                running_ = true;
                try {
                    asio::co_spawn(retry_.executor(), run{this}, completion_handler(this));
                } catch (...) { // the handler, which was destroyed, has seen to it
                }
            },
            asio::deferred);
    }

    bool running() const noexcept { return running_; }

    /// What the attempt failed with, once.
    std::exception_ptr take_failure() noexcept { return std::exchange(failure_, nullptr); }

    /// Precondition: running(). What completes meanwhile goes on later: the slot of the attempt is being used.
    void stop(asio::cancellation_type_t type) {
        assert(running_);
        if (!begun_)
            return;                                               // and will not begin
        bool const tells_already = std::exchange(telling_, true); // and what it tells has cancelled again
        std::exception_ptr thrown;
        try {
            signal_.emit(type);
        } catch (...) {
            thrown = std::current_exception();
        }
        telling_ = tells_already;
        if (!telling_ && !running_)
            go_on_later();
        if (thrown)
            std::rethrow_exception(thrown);
    }

    struct turn {};
    template <typename>
    using turn_allocator = std::allocator<void>;
    turn_allocator<turn> get_turn_allocator(turn) const noexcept { return {}; }
    void on_turn(turn) { resume_(); }
    void on_turn_dropped(turn) noexcept { resume_.drop(); }

private:
    struct run {
        coroutine_attempt* self;
        auto operator()() const { return self->make_attempt(); }
    };

    asio::awaitable<void, Executor> make_attempt() {
        begun_ = true;
        try {
            if (retry_.is_cancelled())
                throw boost::system::system_error(aborted_error());
            if constexpr (std::is_void_v<T>) {
                co_await retry_.call();
                retry_.on_result();
            } else {
                retry_.on_result(co_await retry_.call());
            }
        } catch (...) {
            failure_ = std::current_exception();
        }
        // Asio's way out of a coroutine that was cancelled and has never waited would throw.
        co_await asio::this_coro::throw_if_cancelled(false);
    }

    /// Without an executor of its own: Asio 1.26 would forward a cancellation through a dangling pointer.
    class completion_handler {
    public:
        explicit completion_handler(coroutine_attempt* self) noexcept
            : self_(self) {}
        completion_handler(completion_handler&& other) noexcept
            : self_(std::exchange(other.self_, nullptr)) {}
        completion_handler& operator=(completion_handler&&) = delete;
        ~completion_handler() {
            if (self_)
                self_->on_lost();
        }

        using cancellation_slot_type = asio::cancellation_slot;
        cancellation_slot_type get_cancellation_slot() const noexcept { return self_->signal_.slot(); }

        void operator()(std::exception_ptr const& thrown) { std::exchange(self_, nullptr)->on_ended(thrown); }

    private:
        coroutine_attempt* self_;
    };

    void on_ended(std::exception_ptr const& thrown) {
        if (thrown)
            failure_ = thrown;
        running_ = false;
        if (!telling_)
            resume_();
    }

    /// Asio destroys a coroutine that it has no memory to begin. One that has begun is the user's to lose, and
    /// the retry with it.
    void on_lost() noexcept {
        if (begun_)
            return resume_.drop();
        failure_ = std::make_exception_ptr(std::bad_alloc());
        running_ = false;
        go_on_later();
    }

    void go_on_later() {
        try {
            post_turn<turn>(retry_.executor(), retry_.executor(), *this);
        } catch (...) { // nowhere else to go on
            resume_();
        }
    }

    Retry& retry_;
    resumption resume_;
    asio::cancellation_signal signal_;
    std::exception_ptr failure_;
    bool begun_ = false;
    bool running_ = false;
    bool telling_ = false;
};

} // namespace asio_retry::detail
