#pragma once

#include <asio_retry/detail/attempt/completion.hpp>
#include <asio_retry/detail/attempt/erased_operation.hpp>
#include <asio_retry/detail/handler/asio.hpp>
#include <asio_retry/detail/scope/scope_state.hpp>
#include <asio_retry/retry_policy.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>

#include <concepts>
#include <exception>
#include <tuple>
#include <type_traits>
#include <utility>

namespace asio_retry::detail {

/// Turns a completion into the value of `co_await`, like use_awaitable. An Asio without traits treats a
/// disposition as a value.
template <typename Failure, typename... Values>
auto value_or_throw(std::tuple<Failure, Values...>&& result) {
    auto& failure = std::get<0>(result);
    if constexpr (disposition<Failure> && !has_asio_traits<Failure>) {
        if constexpr (sizeof...(Values) == 0)
            return std::move(failure);
        else
            return std::move(result);
    } else {
        if constexpr (disposition<Failure>) {
            if (disposition_access<Failure>::failed(failure))
                asio_traits<Failure>::throw_exception(std::move(failure));
        } else if (failure) {
            if constexpr (std::is_same_v<Failure, error_code>)
                throw boost::system::system_error(failure);
            else
                std::rethrow_exception(failure);
        }
        if constexpr (sizeof...(Values) == 1)
            return std::get<1>(std::move(result));
        else if constexpr (sizeof...(Values) > 1)
            return std::apply(
                [](auto&&, auto&&... values) { return std::tuple<Values...>(std::move(values)...); },
                std::move(result));
    }
}

/// For tokens that return an awaitable: its executor and its value.
template <typename Token>
struct awaiting_token {
    using executor_type = void;
};
template <typename Executor>
struct awaiting_token<asio::use_awaitable_t<Executor>> {
    using executor_type = Executor;
    template <typename Arguments>
    static auto yield(Arguments&& result) {
        return detail::value_or_throw(std::forward<Arguments>(result));
    }
};
template <typename Executor>
struct awaiting_token<asio::as_tuple_t<asio::use_awaitable_t<Executor>>> {
    using executor_type = Executor;
    template <typename Arguments>
    static Arguments yield(Arguments&& result) {
        return std::forward<Arguments>(result);
    }
};

template <typename Callable>
using completion_of = completion<typename operation_form<Callable>::signature>;

template <typename Token, typename Callable>
using retry_awaitable = asio::awaitable<decltype(awaiting_token<Token>::yield(
                                            std::declval<typename completion_of<Callable>::arguments>())),
                                        typename awaiting_token<Token>::executor_type>;

// The attempts of some operations need coroutines of their own: with `deliver_at_once`, or if the awaiting
// coroutine may not move to a strand. The library compiles these coroutines once, for values without a type.

struct untyped_value {
    virtual ~untyped_value() = default;

    /// The exhausted_error with this value.
    virtual std::exception_ptr exhausted() noexcept = 0;
};

using kept_value = owned<untyped_value>; // null for void

template <typename T, bool JudgesResults>
struct typed_value final : untyped_value {
    T value;

    explicit typed_value(T&& given_value)
        : value(std::move(given_value)) {}

    std::exception_ptr exhausted() noexcept override {
        if constexpr (JudgesResults)
            return detail::exhausted_with(std::move(value));
        else
            return nullptr; // not called: no value is judged
    }
};

template <>
inline std::exception_ptr exhausted_with(kept_value&& value) noexcept {
    return value.get() ? value->exhausted() : exception_of(error::exhausted);
}

template <bool JudgesResults, typename T>
asio::awaitable<void> keep_value(asio::awaitable<T> attempt, kept_value& place) {
    if constexpr (std::is_void_v<T>) {
        co_await std::move(attempt);
    } else { // `new T(co_await ...)` allocates before it waits, and leaks if its coroutine is destroyed there
        T value = co_await std::move(attempt);
        place.reset(new typed_value<T, JudgesResults>(std::move(value)));
    }
}

struct untyped_operation {
    virtual ~untyped_operation() = default;

    /// Puts the value into `place`. `place` must outlive the awaitable.
    virtual asio::awaitable<void> call(attempt const& which, kept_value& place) = 0;
    virtual void prepare(retry_machine& machine) = 0;
    virtual machine_observer* chooser() noexcept = 0;
    virtual judgement rejects(untyped_value const* kept) = 0;
};

template <typename T, bool TakesAttempt, bool JudgesResults>
struct typed_operation final : untyped_operation {
    erased_operation<asio::awaitable<T>, TakesAttempt, JudgesResults> operation;

    explicit typed_operation(
        erased_operation<asio::awaitable<T>, TakesAttempt, JudgesResults>&& given_operation) noexcept
        : operation(std::move(given_operation)) {}

    asio::awaitable<void> call(attempt const& which, kept_value& place) override {
        return keep_value<JudgesResults>(operation.call(which), place);
    }
    void prepare(retry_machine& machine) override { operation.prepare(machine); }
    machine_observer* chooser() noexcept override { return operation.chooser(); }
    judgement rejects([[maybe_unused]] untyped_value const* kept) override {
        if constexpr (!JudgesResults)
            return {};
        else if constexpr (std::is_void_v<T>)
            return operation.rejects();
        else
            return operation.rejects(static_cast<typed_value<T, JudgesResults> const&>(*kept).value);
    }
};

using kept_operation = owned<untyped_operation>;
struct untyped_result {
    std::exception_ptr thrown;
    kept_value value;
};

/// Waits on the coroutine's executor, on a given one, or in a scope. Moves the arguments from the caller.
struct own_executor {};
ASIO_RETRY_DECL asio::awaitable<void> retry_untyped(untyped_result& result, kept_operation&& operation,
                                                    retry_policy&& policy, own_executor);
ASIO_RETRY_DECL asio::awaitable<void> retry_untyped(untyped_result& result, kept_operation&& operation,
                                                    retry_policy&& policy, asio::any_io_executor&& waits_on);
ASIO_RETRY_DECL asio::awaitable<void> retry_untyped(untyped_result& result, kept_operation&& operation,
                                                    retry_policy&& policy, scope_handle&& scope);

/// Whether an operation of this form can be retried without the type of its value.
template <typename Form, typename Source>
inline constexpr bool can_lose_type = [] {
    using value_type = typename awaitable_traits<typename Form::result_type>::value_type;
    using executor = typename awaitable_traits<typename Form::result_type>::executor_type;
    if constexpr (!std::same_as<executor, asio::any_io_executor> || std::is_reference_v<value_type>)
        return false;
    else if constexpr (std::is_void_v<value_type>)
        return true;
    else
        return std::same_as<typename Form::signature, void(std::exception_ptr, value_type)>;
}() && requires(untyped_result& result, kept_operation&& operation, retry_policy&& policy, Source& source) {
    detail::retry_untyped(result, std::move(operation), std::move(policy), source.where());
};

template <typename Form>
typename completion<typename Form::signature>::arguments typed_result(untyped_result&& result) {
    using value_type = typename awaitable_traits<typename Form::result_type>::value_type;
    if constexpr (std::is_void_v<value_type>)
        return {std::move(result.thrown)};
    else if (result.value.get())
        return {std::move(result.thrown),
                std::move(static_cast<typed_value<value_type, Form::judges_results>&>(*result.value).value)};
    else
        return {std::move(result.thrown), value_type()};
}

// Plain functions, because the frame of a coroutine would keep every temporary. They move from `source`.

template <typename Callable, typename Source>
asio::awaitable<void> retry_without_type(untyped_result& result, Source& source, Callable&& callable,
                                         retry_policy&& policy) {
    return detail::retry_untyped(result, kept_operation(new typed_operation(std::forward<Callable>(callable))),
                                 std::move(policy), source.where());
}

template <typename Token, typename Callable, typename Source>
auto retry_with_type(Source& source, Callable&& callable, retry_policy&& policy) {
    using signature = typename operation_form<Callable>::signature;
    Token token;
    auto taken = std::move(source);
    return asio::async_initiate<Token, signature>(taken.template initiation<signature>(), token,
                                                  std::forward<Callable>(callable), std::move(policy));
}

} // namespace asio_retry::detail
