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

    asio::cancellation_slot slot() noexcept { return signal_.slot(); }

    /// Starts an attempt, whose result goes to `handler`. Throws what the user's operation throws.
    template <typename Operation, typename Handler>
    void start(Operation& operation, attempt const& which, Handler&& handler) {
        if constexpr (form::returns_awaitable) {
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
        if constexpr (form::returns_awaitable)
            if (runner_.stop_at_begin())
                return;
        signal_.emit(type);
    }

    /// What an attempt left in its slot must not reach the next one.
    void on_ended() noexcept {
        if constexpr (!form::returns_awaitable)
            signal_.slot().clear();
    }

    attempt_runner<form>& runner() noexcept { return runner_; }

private:
    Callable callable_;
    asio::cancellation_signal signal_;
    [[no_unique_address]] attempt_runner<form> runner_;
};

} // namespace asio_retry::detail
