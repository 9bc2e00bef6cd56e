#pragma once

#include <asio_retry/attempt.hpp>
#include <asio_retry/detail/attempt/stepped_form.hpp>
#include <asio_retry/detail/inject/delayed_attempt.hpp>
#include <asio_retry/detail/inject/injected_calls.hpp>
#include <asio_retry/detail/inject/injected_fault.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>

#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

namespace asio_retry::detail {

/// Whether a returned or awaited value is a failure.
template <typename Value>
bool is_failed_value(Value const&) noexcept {
    return false;
}
template <carried_failure Failure>
bool is_failed_value(Failure const& value) noexcept {
    return completion<void(Failure)>::is_failure(value);
}
template <typename Value>
bool is_failed_value(code_result<Value> const& value) noexcept {
    return value.has_error();
}
template <carried_failure Failure, typename... Values>
bool is_failed_value(std::tuple<Failure, Values...> const& value) noexcept {
    return detail::is_failed_value(std::get<0>(value));
}

struct pass_on_error {
    template <typename Handler>
    void operator()(Handler&& handler, error_code const& failure) const {
        std::forward<Handler>(handler)(failure);
    }
};

/// Waits until the fault of an attempt is over, or until the attempt is cancelled.
struct fault_initiation {
    template <typename Handler>
    void operator()(Handler&& handler, std::shared_ptr<fault_plan> const& plan,
                    injected_fault const& fault) const {
        using handler_type = std::decay_t<Handler>;
        delayed_attempt<handler_type, pass_on_error>::initiate(std::forward<Handler>(handler), plan, fault,
                                                               pass_on_error());
    }
};

template <typename Executor>
asio::awaitable<std::tuple<error_code>, Executor> await_fault(std::shared_ptr<fault_plan> const& plan,
                                                              injected_fault const& fault) {
    constexpr auto token = asio::as_tuple(asio::use_awaitable_t<Executor>());
    return asio::async_initiate<decltype(token), void(error_code)>(fault_initiation(), token, plan, fault);
}

/// An attempt that has a fault, of an operation that returns an awaitable. No callable's type is in the
/// signature: g++ warns of a coroutine in a header that keeps a type without linkage.
template <typename Awaitable, typename Signature, bool TakesAttempt>
Awaitable await_injected(later_call<Awaitable> call, kept_attempt<TakesAttempt> which,
                         std::shared_ptr<fault_plan> plan, injected_fault fault) {
    using executor_type = typename awaitable_traits<Awaitable>::executor_type;
    using value_type = typename awaitable_traits<Awaitable>::value_type;
    using kind = injected_fault::kind;
    error_code failure = fault.code;
    if (fault.what == kind::delay || fault.what == kind::hang)
        std::tie(failure) = co_await await_fault<executor_type>(plan, fault);
    if (failure && fault.what != kind::lost_answer)
        co_return failed_with<value_type, Signature>(failure);
    if constexpr (std::is_void_v<value_type>) {
        co_await call(which.get());
        if (fault.what == kind::lost_answer) {
            fault_access::count_lost_answer(*plan);
            throw boost::system::system_error(fault.code);
        }
    } else {
        value_type answer = co_await call(which.get());
        if (fault.what != kind::lost_answer || detail::is_failed_value(answer))
            co_return answer;
        fault_access::count_lost_answer(*plan);
        co_return failed_with<value_type, Signature>(fault.code);
    }
}

} // namespace asio_retry::detail
