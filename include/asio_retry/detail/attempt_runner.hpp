#pragma once

#include <asio_retry/detail/asio.hpp>
#include <asio_retry/detail/completion.hpp>
#include <asio_retry/detail/operation_form.hpp>

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/this_coro.hpp>

#include <exception>
#include <optional>
#include <tuple>
#include <utility>

namespace asio_retry::detail {

/// Runs the attempts of an operation whose attempts are awaitables: in one coroutine for all of them, spawned
/// for the first, with a cancellation state of its own that every attempt finds fresh.
template <typename Form, bool IsAwaitable = Form::returns_awaitable>
class attempt_runner {
public:
    static constexpr bool needs_strand = false;
    void end() noexcept {}
};

template <typename Form>
class attempt_runner<Form, true> {
    using executor_type = typename awaitable_traits<typename Form::result_type>::executor_type;
    using value_type = typename awaitable_traits<typename Form::result_type>::value_type;
    using completion = detail::completion<typename Form::signature>;
    using arguments = typename completion::arguments;

public:
    /// Telling a coroutine to stop must not meet its running; a strand keeps them apart on every executor. An
    /// awaitable of a typed executor leaves no room for one.
    static constexpr bool needs_strand = std::is_same_v<executor_type, asio::any_io_executor>;

    /// Initiates an attempt of `operation`.
    template <typename Operation, typename AttemptHandler>
    void run(Operation& operation, AttemptHandler&& handler) {
        constexpr bool converts = std::is_convertible_v<typename Operation::operation_executor, executor_type>;
        static_assert(converts,
                      "async_retry: the executor of the handler must be convertible to that of the awaitable");
        began_ = began_ && resume_;
        if (resume_) {
            handler.release(); // the coroutine takes the operation over
            auto resume = std::exchange(resume_, nullptr);
            std::move(resume)();
        } else if constexpr (converts) {
            spawned_handler spawned{operation.attempt_slot()};
            asio::co_spawn(executor_type(operation.get_operation_executor()),
                           run_attempts(&operation, unless_lost<AttemptHandler>(std::move(handler))),
                           std::move(spawned));
        }
    }

    /// The attempt is to stop. Returns false if its coroutine has begun, which has to be told.
    bool stop_at_begin() noexcept {
        stops_at_begin_ = !began_; // its cancellation state is not there yet
        return stops_at_begin_;
    }

    /// For the coroutine: returns false if the attempt was told to stop before it began.
    bool begin() noexcept {
        began_ = true;
        return !std::exchange(stops_at_begin_, false);
    }

    /// Lets the coroutine return, after the last attempt. To destroy it Asio would need memory, and time.
    void end() noexcept {
        if (!resume_)
            return;
        ends_ = true;
        try {
            std::exchange(resume_, nullptr)();
        } catch (...) { // it has returned; that it could not be told so does not matter
        }
    }

private:
    /// Without an executor of its own: Asio 1.26 would forward a cancellation through a dangling pointer.
    struct spawned_handler {
        using cancellation_slot_type = asio::cancellation_slot;
        cancellation_slot_type slot;
        cancellation_slot_type get_cancellation_slot() const noexcept { return slot; }

        void operator()(std::exception_ptr e) const {
            if (e)
                std::rethrow_exception(e);
        }
    };

    /// Asio destroys a coroutine that it has no memory to begin. One that has begun is the user's to lose, and
    /// the operation with it.
    template <typename AttemptHandler>
    class unless_lost : public AttemptHandler {
    public:
        explicit unless_lost(AttemptHandler&& handler) noexcept
            : AttemptHandler(std::move(handler)) {}
        unless_lost(unless_lost&&) noexcept = default;
        unless_lost& operator=(unless_lost&&) = delete;
        ~unless_lost() {
            if (auto* const operation = this->release())
                operation->on_coroutine_lost();
        }
    };

    template <typename Operation, typename AttemptHandler>
    static asio::awaitable<void, executor_type> run_attempts(Operation* operation,
                                                             unless_lost<AttemptHandler> first) {
        std::optional<AttemptHandler> handler(std::move(first));
        for (;;) {
            co_await asio::this_coro::reset_cancellation_state();
            co_await asio::this_coro::throw_if_cancelled(true);
            std::optional<arguments> result;
            try {
                if (!operation->begin_awaitable_attempt()) {
                    result.emplace(completion::failed(aborted_error(), nullptr));
                } else if constexpr (std::is_void_v<value_type>) {
                    co_await operation->call_awaitable();
                    result.emplace();
                } else {
                    result.emplace(awaited<value_type>::arguments(co_await operation->call_awaitable()));
                }
            } catch (...) {
                result.emplace(completion::from_exception(std::current_exception()));
            }
            // What cancelled the attempt must not end the wait for the next one.
            co_await asio::this_coro::reset_cancellation_state();
            // The report may destroy this coroutine: what it uses is moved out of the frame first.
            auto report = [&] {
                AttemptHandler reporter(std::move(*handler));
                arguments reported(std::move(*result));
                handler.reset();
                result.reset();
                std::apply([&](auto&&... values) { std::move(reporter)(std::move(values)...); },
                           std::move(reported));
            };
            bool parked = true;
            auto park_and_report = [&](auto resume) {
                try {
                    asio::any_completion_handler<void()>(std::move(resume)).swap(operation->runner().resume_);
                } catch (...) { // no memory: the next attempt will need a new coroutine
                    parked = false;
                    return std::move(resume)();
                }
                report();
            };
            co_await asio::async_initiate<asio::deferred_t const, void()>(park_and_report, asio::deferred);
            if (!parked) {
                report();
                co_return;
            }
            if (operation->runner().ends_)
                co_return;
            handler.emplace(operation);
        }
    }

    asio::any_completion_handler<void()> resume_;
    bool began_ = false;
    bool stops_at_begin_ = false;
    bool ends_ = false;
};

} // namespace asio_retry::detail
