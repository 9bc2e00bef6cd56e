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
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

namespace asio_retry::detail {

/// What `co_await` yields of a completion: as use_awaitable does it, or as a tuple.
template <typename Arguments>
struct thrown_failure;

template <typename Failure, typename... Values>
struct thrown_failure<std::tuple<Failure, Values...>> {
    static auto yield(std::tuple<Failure, Values...>&& result) {
        if constexpr (disposition<Failure>) {
            if (disposition_access<Failure>::failed(std::get<0>(result)))
                asio_traits<Failure>::throw_exception(std::get<0>(std::move(result)));
        } else if constexpr (std::is_same_v<Failure, error_code>) {
            if (std::get<0>(result))
                throw boost::system::system_error(std::get<0>(result));
        } else {
            if (std::get<0>(result))
                std::rethrow_exception(std::get<0>(result));
        }
        if constexpr (sizeof...(Values) == 1)
            return std::get<1>(std::move(result));
        else if constexpr (sizeof...(Values) > 1)
            return std::apply(
                [](auto&&, auto&&... values) { return std::tuple<Values...>(std::move(values)...); },
                std::move(result));
    }
};

/// To an Asio without traits, a disposition is a value among others.
template <disposition Failure, typename... Values>
    requires(!has_asio_traits<Failure>)
struct thrown_failure<std::tuple<Failure, Values...>> {
    static auto yield(std::tuple<Failure, Values...>&& result) {
        if constexpr (sizeof...(Values) == 0)
            return std::get<0>(std::move(result));
        else
            return std::move(result);
    }
};

struct as_values {
    template <typename Arguments>
    using yields = decltype(thrown_failure<Arguments>::yield(std::declval<Arguments>()));
    template <typename Arguments>
    static yields<Arguments> yield(Arguments&& result) {
        return thrown_failure<Arguments>::yield(std::forward<Arguments>(result));
    }
};

struct as_arguments {
    template <typename Arguments>
    using yields = Arguments;
    template <typename Arguments>
    static Arguments yield(Arguments&& result) {
        return std::forward<Arguments>(result);
    }
};

/// Tokens that make an awaitable.
template <typename Token>
struct awaiting_token {
    using executor_type = void;
};
template <typename Executor>
struct awaiting_token<asio::use_awaitable_t<Executor>> {
    using executor_type = Executor;
    using style = as_values;
};
template <typename Executor>
struct awaiting_token<asio::as_tuple_t<asio::use_awaitable_t<Executor>>> {
    using executor_type = Executor;
    using style = as_arguments;
};

// An operation whose attempts need coroutines of their own: with `deliver_at_once`, or where the coroutine that
// awaits it may not move to a strand. The library makes these coroutines for values without their type, so that
// a program does not compile them for each type.

/// The value of an attempt.
struct untyped_value {
    virtual ~untyped_value() = default;

    /// The exhausted_error with this value.
    virtual std::exception_ptr exhausted() noexcept = 0;
};

/// Null for void.
using kept_value = std::unique_ptr<untyped_value>;

template <typename T, bool JudgesResults>
struct typed_value final : untyped_value {
    T value;

    explicit typed_value(T&& given_value)
        : value(std::move(given_value)) {}

    std::exception_ptr exhausted() noexcept override {
        if constexpr (JudgesResults)
            return detail::exhausted_with(std::move(value));
        else
            return nullptr; // no value is rejected
    }
};

template <>
inline std::exception_ptr exhausted_with(kept_value&& value) noexcept {
    return value ? value->exhausted() : exception_of(error::exhausted);
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

/// An operation without the type of its values.
struct untyped_operation {
    virtual ~untyped_operation() = default;

    /// Puts the value into `place`, which has to last as long as the awaitable.
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

using kept_operation = std::unique_ptr<untyped_operation>;
struct untyped_result {
    std::exception_ptr thrown;
    kept_value kept;
};
/// Waits on the executor of the coroutine, or on the one given, or in a scope. Takes what it is given.
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

/// The arguments of the operation's completion.
template <typename Form>
typename completion<typename Form::signature>::arguments typed_result(untyped_result&& result) {
    using value_type = typename awaitable_traits<typename Form::result_type>::value_type;
    if constexpr (std::is_void_v<value_type>) {
        return {std::move(result.thrown)};
    } else {
        if (!result.kept)
            return {std::move(result.thrown), value_type()};
        return {std::move(result.thrown),
                std::move(static_cast<typed_value<value_type, Form::judges_results>&>(*result.kept).value)};
    }
}

/// Retries in a coroutine of its own. A function, because the frame of a coroutine keeps every temporary. For
/// the same reason it takes what `source` has.
template <typename Callable, typename Source>
asio::awaitable<void> retry_without_type(untyped_result& result, Source& source, Callable&& callable,
                                         retry_policy&& policy) {
    return detail::retry_untyped(result, kept_operation(new typed_operation(std::forward<Callable>(callable))),
                                 std::move(policy), source.where());
}
template <typename Style, typename Callable, typename Source>
auto retry_with_type(Source source, Callable callable, retry_policy policy)
    -> asio::awaitable<typename Style::template yields<
        typename completion<typename operation_form<Callable>::signature>::arguments>> {
    untyped_result result;
    co_await retry_without_type(result, source, std::move(callable), std::move(policy));
    co_return Style::yield(typed_result<operation_form<Callable>>(std::move(result)));
}

/// For any operation and token.
template <typename Token, typename Callable, typename Source>
auto retry_elsewhere(Source& source, Callable&& callable, retry_policy&& policy) {
    if constexpr (can_lose_type<operation_form<Callable>, Source>) {
        return retry_with_type<typename awaiting_token<Token>::style>(
            std::move(source), std::forward<Callable>(callable), std::move(policy));
    } else {
        using signature = typename operation_form<Callable>::signature;
        Token token;
        auto taken = std::move(source);
        return asio::async_initiate<Token, signature>(taken.template initiation<signature>(), token,
                                                      std::forward<Callable>(callable), std::move(policy));
    }
}

} // namespace asio_retry::detail
