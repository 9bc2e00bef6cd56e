#pragma once

#include <asio_retry/attempt.hpp>
#include <asio_retry/detail/asio.hpp>
#include <asio_retry/detail/attempt_runner.hpp>
#include <asio_retry/detail/operation_form.hpp>

#include <boost/asio/cancellation_signal.hpp>

#include <exception>
#include <tuple>
#include <type_traits>
#include <utility>

namespace asio_retry::detail {

/// The user's operation: how an attempt of it is started, whatever its form, and told to stop.
template <typename Callable>
class attempt_source {
    using form = operation_form<Callable>;

public:
    explicit attempt_source(Callable&& callable)
        : callable_(std::move(callable)) {}

    Callable& callable() noexcept { return callable_; }

    /// Attempts may have to be told to stop.
    void connect() noexcept { connected_ = true; }
    asio::cancellation_slot slot() noexcept { return connected_ ? signal_.slot() : asio::cancellation_slot(); }

    /// Starts an attempt, whose result goes to `handler`. Throws what the user's operation throws.
    template <typename Operation, typename Handler>
    void start(Operation& operation, attempt const& which, Handler&& handler) {
        if constexpr (form::returns_awaitable) {
            coroutine_began_ = coroutine_began_ && runner_.is_parked();
            runner_.run(operation, std::move(handler));
        } else if constexpr (form::takes_token) {
            form::call(callable_, which, std::move(handler));
        } else if constexpr (form::returns_operation) {
            form::call(callable_, which)(std::move(handler));
        } else if constexpr (std::is_void_v<typename form::result_type>) {
            form::call(callable_, which);
            std::move(handler)(std::exception_ptr());
        } else {
            using result_type = typename form::result_type;
            auto values = returned<result_type>::arguments(result_type(form::call(callable_, which)));
            std::apply([&](auto&&... value) { std::move(handler)(std::move(value)...); }, std::move(values));
        }
    }

    void stop(asio::cancellation_type_t type) {
        if constexpr (form::returns_awaitable) {
            stop_at_begin_ = !coroutine_began_; // its cancellation state is not there yet
            if (stop_at_begin_)
                return;
        }
        signal_.emit(type);
    }

    /// What an attempt left in its slot must not reach the next one.
    void on_ended() noexcept {
        if constexpr (!form::returns_awaitable)
            if (connected_)
                signal_.slot().clear();
    }

    /// @name For the coroutine that runs awaitable attempts
    /// @{
    attempt_runner<form>& runner() noexcept { return runner_; }

    /// Returns false if the attempt was told to stop before its coroutine began.
    bool begin() noexcept {
        coroutine_began_ = true;
        return !std::exchange(stop_at_begin_, false);
    }
    /// @}

private:
    Callable callable_;
    asio::cancellation_signal signal_;
    [[no_unique_address]] attempt_runner<form> runner_;
    bool connected_ = false;
    bool coroutine_began_ = false;
    bool stop_at_begin_ = false;
};

} // namespace asio_retry::detail
