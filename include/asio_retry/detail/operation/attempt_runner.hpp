#pragma once

#include <asio_retry/detail/attempt/completion.hpp>
#include <asio_retry/detail/attempt/operation_form.hpp>
#include <asio_retry/detail/handler/asio.hpp>
#include <asio_retry/detail/handler/coroutine_entry.hpp>
#include <asio_retry/detail/handler/late_completion.hpp>
#include <asio_retry/detail/handler/operation_executors.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/this_coro.hpp>

#include <exception>
#include <tuple>
#include <type_traits>
#include <utility>

namespace asio_retry::detail {

/// Whether attempts need a strand: an emission must not reach a coroutine while it runs. An awaitable of a
/// typed executor cannot run in a strand.
template <typename Result>
inline constexpr bool attempts_need_strand = false;
template <typename Value>
inline constexpr bool attempts_need_strand<asio::awaitable<Value, asio::any_io_executor>> = true;

/// Runs attempts that are awaitables, all in one coroutine. It is spawned for the first attempt, and renews its
/// own cancellation state for each attempt.
template <typename Awaitable, typename Signature>
class attempt_runner {
    using executor_type = typename awaitable_traits<Awaitable>::executor_type;
    using value_type = typename awaitable_traits<Awaitable>::value_type;
    using completion = detail::completion<Signature>;

public:
    using arguments = typename completion::arguments;

protected:
    attempt_runner() noexcept = default;
    attempt_runner(attempt_runner const&) = delete;
    attempt_runner& operator=(attempt_runner const&) = delete;
    ~attempt_runner() = default;

    template <typename Executor>
    void run(Executor const& executor, asio::cancellation_slot slot) {
        constexpr bool converts = std::is_convertible_v<Executor, executor_type>;
        static_assert(converts,
                      "asio_retry: the executor of the handler must be convertible to that of the awaitable");
        began_ = began_ && rests_; // a new coroutine has not begun
        stops_at_begin_ = false;   // it is set if the previous attempt was stopped, and lost before it began
        if (std::exchange(rests_, false)) {
            resume_();
        } else if constexpr (converts) {
            asio::co_spawn(executor_type(executor), run_attempts(unless_lost(this)), spawned_handler{slot});
        }
    }

    /// Stops an attempt that has not begun. Returns false if its coroutine has begun: then emit to it.
    bool stop_at_begin() noexcept {
        stops_at_begin_ = !began_; // the coroutine has no cancellation state yet
        return stops_at_begin_;
    }

    /// Lets the coroutine return after the last attempt. Destroying it instead would cost Asio memory and time.
    void end() noexcept {
        if (!std::exchange(rests_, false))
            return;
        ends_ = true;
        try {
            resume_();
        } catch (...) { // the coroutine has returned; its resumption failed, which does not matter
        }
    }

private:
    virtual Awaitable call() = 0;
    virtual bool is_cancelled() noexcept = 0;

    /// Each may destroy *this.
    virtual void on_completed(arguments&& result) = 0;
    virtual void on_dropped() noexcept = 0;
    virtual void on_lost() noexcept = 0;

    /// It has no executor: with one, Asio 1.26 would forward a cancellation through a dangling pointer.
    struct spawned_handler {
        using cancellation_slot_type = asio::cancellation_slot;
        cancellation_slot_type slot;
        cancellation_slot_type get_cancellation_slot() const noexcept { return slot; }

        void operator()(std::exception_ptr e) const {
            if (e)
                std::rethrow_exception(e);
        }
    };

    /// Owns the operation while an attempt runs, and drops it if the context destroys the coroutine.
    class owner {
    public:
        explicit owner(attempt_runner* runner) noexcept
            : runner_(runner) {}
        owner(owner&& other) noexcept
            : runner_(other.release()) {}
        owner& operator=(owner&&) = delete;
        ~owner() {
            if (runner_)
                runner_->on_dropped();
        }
        attempt_runner* release() noexcept { return std::exchange(runner_, nullptr); }

    private:
        attempt_runner* runner_;
    };

    /// If Asio has no memory to start a coroutine, it destroys the coroutine: the attempt is lost. If the user
    /// destroys a coroutine that has begun, the operation is dropped.
    class unless_lost : public owner {
    public:
        using owner::owner;
        unless_lost(unless_lost&&) noexcept = default;
        unless_lost& operator=(unless_lost&&) = delete;
        ~unless_lost() {
            if (auto* const runner = this->release())
                runner->on_lost();
        }
    };

    /// Returns false if the attempt was stopped before it began.
    bool begin() noexcept {
        began_ = true;
        return !std::exchange(stops_at_begin_, false) && !is_cancelled();
    }

    /// Makes a result of the current exception. If a value's constructor throws, returns its exception.
    static std::exception_ptr put_failure(maybe<arguments>& result) noexcept {
        try {
            result.emplace(completion::from_exception(std::current_exception()));
            return nullptr;
        } catch (...) {
            return std::current_exception();
        }
    }

    static arguments taken_from(arguments& result) {
        try {
            return std::move(result);
        } catch (...) {
            return completion::from_exception(std::current_exception());
        }
    }

    asio::awaitable<void, executor_type> run_attempts(unless_lost first) {
        maybe<owner> owned;
        owned.emplace(std::move(first));
        for (;;) {
            co_await asio::this_coro::reset_cancellation_state();
            co_await asio::this_coro::throw_if_cancelled(true);
            maybe<arguments> result;
            std::exception_ptr thrown_by_value; // set if there is no result
            try {
                if (!begin()) {
                    result.emplace(completion::failed(aborted_error(), nullptr));
                } else if constexpr (std::is_void_v<value_type>) {
                    co_await call();
                    result.emplace();
                } else {
                    result.emplace(awaited<value_type>::arguments(co_await call()));
                }
            } catch (...) {
                thrown_by_value = put_failure(result);
            }
            // A cancellation of this attempt, or a late one, must not end the wait for the next attempt.
            co_await asio::this_coro::throw_if_cancelled(false);
            // No callable of the policy may be called on another executor.
            if (!executor_home(co_await asio::this_coro::executor).is_here())
                co_await asio::dispatch(asio::deferred);
            // Another thread may be emitting to the state of this attempt.
            co_await asio::this_coro::reset_cancellation_state();
            // The report may destroy this coroutine, so it moves the values out of the frame first. Only the
            // report may end the operation: when a coroutine throws, Asio goes on to use its slot.
            auto report = [&] {
                arguments reported = [&] {
                    try {
                        if (thrown_by_value)
                            std::rethrow_exception(thrown_by_value);
                        return taken_from(*result);
                    } catch (...) { // no result can be made
                        auto* const runner = owned->release();
                        runner->end();
                        runner->on_dropped();
                        throw;
                    }
                }();
                result.reset();
                owned->release()->on_completed(std::move(reported));
            };
            auto rest_and_report = [&](auto resume) {
                resume_.hold(std::move(resume));
                rests_ = true;
                report();
            };
            co_await asio::async_initiate<asio::deferred_t const, void()>(rest_and_report, asio::deferred);
            if (ends_)
                co_return;
            owned.emplace(this);
        }
    }

    resumption resume_;  // resumes the coroutine
    bool rests_ = false; // between two attempts; `resume_` holds a handler then
    bool began_ = false;
    bool stops_at_begin_ = false;
    bool ends_ = false;
};

} // namespace asio_retry::detail
