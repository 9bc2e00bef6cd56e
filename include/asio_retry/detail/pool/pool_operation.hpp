#pragma once

#include <asio_retry/attempt.hpp>
#include <asio_retry/detail/attempt/bound_operation.hpp>
#include <asio_retry/detail/attempt/operation_form.hpp>
#include <asio_retry/detail/handler/operation_executors.hpp>
#include <asio_retry/detail/pool/pool_call.hpp>

#include <boost/asio/async_result.hpp>

#include <concepts>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

namespace asio_retry::detail {

/// A callable that the operation shares with its running calls, so that these may outlive the operation.
/// Copying this copies the callable.
template <typename F>
class lasting_callable {
public:
    explicit lasting_callable(F&& f)
        : f_(std::make_shared<F>(std::move(f))) {}
    lasting_callable(lasting_callable const& other)
        requires std::copy_constructible<F>
        : f_(std::make_shared<F>(std::as_const(*other.f_))) {}
    lasting_callable(lasting_callable&&) noexcept = default;
    lasting_callable& operator=(lasting_callable const&) = delete;
    lasting_callable& operator=(lasting_callable&&) noexcept = default;

    std::shared_ptr<F> const& get() const noexcept { return f_; }

private:
    std::shared_ptr<F> f_;
};

/// How to call `F`, with an endpoint if there is one.
template <typename F, typename... Endpoint>
struct pool_form_of {
    using type = operation_form<F>;
};
template <typename F, typename Endpoint>
struct pool_form_of<F, Endpoint> {
    using type = operation_form<bound_operation<F, Endpoint>>;
};

/// Whether a callable of this form blocks until it has its result.
template <typename Form>
inline constexpr bool is_blocking_form =
    (Form::shape == call_shape::nothing || Form::shape == call_shape::attempt) && !Form::returns_awaitable &&
    !Form::returns_operation;

/// One call, with a copy of its endpoint.
template <typename F, typename... Endpoint>
struct blocking_call {
    using form = typename pool_form_of<F, Endpoint...>::type;

    std::shared_ptr<F> f;
    std::tuple<Endpoint...> endpoint;

    decltype(auto) run(attempt const& which) {
        if constexpr (sizeof...(Endpoint) == 0) {
            return form::call(*f, which);
        } else {
            bound_operation<F, Endpoint...> bound(*f, std::get<0>(endpoint));
            return form::call(bound, which);
        }
    }
};

template <typename Pool, typename Call>
struct pool_initiation {
    template <typename Handler>
    void operator()(Handler&& handler, Pool const& pool, attempt const& which, Call call) const {
        using handler_type = std::decay_t<Handler>;
        std::make_shared<pool_call<Call, handler_type>>(std::move(call), which,
                                                        handler_type(std::forward<Handler>(handler)))
            ->start(pool);
    }
};

/// The calls of an operation that `on_executor` makes.
template <typename Pool, typename F>
class pool_operation_calls {
    template <typename... Endpoint>
    using form = typename pool_form_of<F, Endpoint...>::type;

    template <typename Token, typename... Endpoint>
    static consteval bool takes(call_shape shape) {
        if constexpr (is_blocking_form<form<Endpoint...>>)
            return form<Endpoint...>::shape == shape &&
                   is_token_for<Token, typename form<Endpoint...>::signature>;
        else
            return false;
    }

public:
    pool_operation_calls(Pool const& pool, F&& f)
        : pool_(pool)
        , f_(std::move(f)) {}

    template <typename Token>
        requires(takes<Token>(call_shape::nothing))
    auto operator()(Token&& token) const {
        return initiate<>(attempt(), token);
    }
    template <typename Token>
        requires(takes<Token>(call_shape::attempt))
    auto operator()(attempt const& which, Token&& token) const {
        return initiate<>(which, token);
    }
    template <typename Endpoint, typename Token>
        requires(!std::same_as<Endpoint, attempt> && takes<Token, Endpoint>(call_shape::nothing))
    auto operator()(Endpoint const& endpoint, Token&& token) const {
        return initiate<Endpoint>(attempt(), token, endpoint);
    }
    template <typename Endpoint, typename Token>
        requires(takes<Token, Endpoint>(call_shape::attempt))
    auto operator()(attempt const& which, Endpoint const& endpoint, Token&& token) const {
        return initiate<Endpoint>(which, token, endpoint);
    }

private:
    template <typename... Endpoint, typename Token>
    auto initiate(attempt const& which, Token& token, Endpoint const&... endpoint) const {
        using call = blocking_call<F, Endpoint...>;
        return asio::async_initiate<Token, typename form<Endpoint...>::signature>(
            pool_initiation<Pool, call>(), token, pool_, which, call{f_.get(), {endpoint...}});
    }

    Pool pool_;
    lasting_callable<F> f_;
};

/// An operation whose attempts block a thread of a pool. Made by `on_executor`.
template <typename Pool, typename F>
class [[nodiscard("this starts nothing: give it to async_retry or async_hedge")]] pool_operation
    : public pool_operation_calls<Pool, F> {
public:
    using pool_operation_calls<Pool, F>::pool_operation_calls;
};

template <typename Pool, typename F>
struct operation_form<pool_operation<Pool, F>> : operation_form<pool_operation_calls<Pool, F>> {
    static consteval auto assert_usable() {
        using inner = operation_form<F>;
        constexpr bool is_callable = inner::shape == call_shape::nothing || inner::shape == call_shape::attempt;
        static_assert(
            is_callable,
            "on_executor: the function must be callable, as an lvalue, with nothing or with an attempt, "
            "and inside on_endpoint also with an endpoint; fail_if, with_hooks and the other wrappers go "
            "around on_executor");
        static_assert(!is_callable || is_blocking_form<inner>,
                      "on_executor: the function must block until it has its result: give an operation that "
                      "returns an awaitable or a deferred operation to async_retry itself");
        if constexpr (is_blocking_form<inner>)
            operation_form<pool_operation_calls<Pool, F>>::assert_usable();
    }
};

} // namespace asio_retry::detail
