#pragma once

#include <asio_retry/detail/attempt/completion.hpp>
#include <asio_retry/detail/handler/asio.hpp>
#include <asio_retry/detail/operation/initiate_retry.hpp>
#include <asio_retry/retry_policy.hpp>

#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/system_executor.hpp>

#include <concepts>
#include <tuple>
#include <type_traits>
#include <utility>

namespace asio_retry::detail {

/// An initiating function's call, kept as an operation that can be attempted any number of times.
template <typename Signature, typename Initiation, typename... Args>
class repeated_initiation {
public:
    template <typename AnyInitiation, typename... AnyArgs>
    explicit repeated_initiation(std::in_place_t, AnyInitiation&& initiation, AnyArgs&&... args)
        : initiation_(std::forward<AnyInitiation>(initiation))
        , args_(std::forward<AnyArgs>(args)...) {}

    template <typename Token>
    auto operator()(Token&& token) const {
        return std::apply(
            [&](Args const&... args) {
                return asio::async_initiate<Token, Signature>(Initiation(initiation_), token, Args(args)...);
            },
            args_);
    }

private:
    Initiation initiation_;
    std::tuple<Args...> args_;
};

/// Waits on the executor of the initiation.
struct source_of_initiation {
    template <typename Initiation>
    static auto of(Initiation const& initiation) {
        using executor_type = asio::associated_executor_t<Initiation>;
        if constexpr (is_fallback_executor<executor_type>)
            return handler_executor_source();
        else
            return wait_on(asio::get_associated_executor(initiation));
    }
};

/// Waits in a scope.
struct source_of_scope {
    scope_source source;

    template <typename Initiation>
    auto const& of(Initiation const&) const {
        return source;
    }
};

template <typename Where, typename Token>
struct retrying_token {
    Where where;
    retry_policy policy;
    Token token;

    /// Returns the given token, or else the default token of `async_retry`.
    template <typename Operation, typename Initiation>
    auto take_token([[maybe_unused]] Initiation const& initiation) {
        using source = std::remove_cvref_t<decltype(where.of(initiation))>;
        if constexpr (std::is_same_v<Token, default_token>)
            return default_token_of<operation_form<Operation>, typename source::executor_type>();
        else
            return std::move(token);
    }
};

/// Returns an initiation that retries `Initiation`.
template <typename Signature, typename Initiation>
auto retry_initiation(auto const& where, Initiation const& initiation) {
    return where.of(initiation).template initiation<Signature>();
}

template <typename Token, typename Signature>
inline constexpr bool is_inner_token = is_token_for<Token, Signature>;
template <typename Signature>
inline constexpr bool is_inner_token<default_token, Signature> = true;

/// Reports an unusable signature. It does not report missing defaults or a handler that does not fit. The
/// compiler asks for the type of all overloads of async_accept and async_connect, also of overloads that the
/// program does not call.
template <typename Token, typename... Signatures>
struct retryable_signature {
    static constexpr bool has_defaults = true;
    static constexpr bool has_handler = true;
    static constexpr bool is_usable = false;
    static_assert(sizeof...(Signatures) == 1,
                  "retrying: operations with several completion signatures are not supported");
    using type = void(error_code);
};
template <typename Token, typename Signature>
struct retryable_signature<Token, Signature> {
    static constexpr bool has_defaults = completion<Signature>::has_defaults;
    static constexpr bool has_handler = is_inner_token<Token, Signature>;
    static constexpr bool is_usable = completion<Signature>::is_complete && has_defaults && has_handler;
    static_assert(completion<Signature>::has_error,
                  "retrying: the completion signature of the operation must be void(error_code, "
                  "T...) or void(std::exception_ptr, T...); put adapters such as as_tuple inside: "
                  "retrying(policy, as_tuple(token))");
    using type = Signature;
};

/// Has an executor, because adapters such as cancel_after ask for one.
struct initiation_of_nothing {
    using executor_type = asio::system_executor;
    executor_type get_executor() const noexcept { return {}; }
    void operator()(auto&&...) const noexcept {}
};

/// For an unusable operation. Returns an object of the expected type, so that the caller gets no further
/// errors.
template <typename... Signatures, typename Token>
auto start_nothing(Token& token) {
    initiation_of_nothing const nothing;
    if constexpr (std::is_same_v<Token, default_token>)
        return asio::async_initiate<asio::deferred_t const, Signatures...>(nothing, asio::deferred);
    else if constexpr (requires { asio::async_initiate<Token, Signatures...>(nothing, token); })
        return asio::async_initiate<Token, Signatures...>(nothing, token);
}

/// Some functions of Beast in Boost 1.81 need the `return_type` of the inner token.
template <typename Token, typename... Signatures>
struct return_type_of {};
template <typename Token, typename... Signatures>
    requires requires { typename asio::async_result<std::decay_t<Token>, Signatures...>::return_type; }
struct return_type_of<Token, Signatures...> {
    using return_type = typename asio::async_result<std::decay_t<Token>, Signatures...>::return_type;
};

} // namespace asio_retry::detail

template <typename Where, typename Token, typename... Signatures>
class boost::asio::async_result<asio_retry::detail::retrying_token<Where, Token>, Signatures...>
    : public asio_retry::detail::return_type_of<Token, Signatures...> {
    using retrying_token = asio_retry::detail::retrying_token<Where, Token>;
    using retryable = asio_retry::detail::retryable_signature<Token, Signatures...>;
    using signature = typename retryable::type;

    template <typename Initiation, typename... Args>
    using operation =
        asio_retry::detail::repeated_initiation<signature, std::decay_t<Initiation>, std::decay_t<Args>...>;

    template <typename Operation, typename Initiation>
    using inner_token = decltype(std::declval<retrying_token&>().template take_token<Operation>(
        std::declval<Initiation const&>()));

    template <typename Initiation, typename... Args>
    static constexpr bool can_be_copied = std::is_copy_constructible_v<std::decay_t<Initiation>> &&
                                          (std::is_copy_constructible_v<std::decay_t<Args>> && ...);

public:
    // The return type is written out, so that checking the token does not compile the body. clang checks this
    // enable_if before a requires-clause.
    template <typename Initiation, typename... Args,
              std::enable_if_t<retryable::is_usable && can_be_copied<Initiation, Args...>, int> = 0>
    static auto initiate(Initiation&& initiation, retrying_token token, Args&&... args)
        -> decltype(async_initiate<inner_token<operation<Initiation, Args...>, Initiation>, signature>(
            asio_retry::detail::retry_initiation<signature>(token.where, initiation),
            std::declval<inner_token<operation<Initiation, Args...>, Initiation>&>(),
            std::declval<operation<Initiation, Args...>>(), std::move(token.policy))) {
        using repeated = operation<Initiation, Args...>;
        auto start = asio_retry::detail::retry_initiation<signature>(token.where, initiation);
        auto inner = token.template take_token<repeated>(initiation);
        return async_initiate<decltype(inner), signature>(
            std::move(start), inner,
            repeated(std::in_place, std::forward<Initiation>(initiation), std::forward<Args>(args)...),
            std::move(token.policy));
    }

    /// For an unusable operation. Asking for its type alone reports nothing.
    template <typename Initiation, typename... Args>
        requires(!retryable::is_usable || !can_be_copied<Initiation, Args...>)
    static auto initiate(Initiation&&, retrying_token token, Args&&...)
        -> decltype(asio_retry::detail::start_nothing<Signatures...>(token.token)) {
        asio_retry::detail::completion<signature>::assert_complete();
        static_assert(retryable::has_defaults,
                      "retrying: result types must be default-constructible: use a std::optional of the "
                      "type; an acceptor takes the socket: async_accept(socket, retrying(policy))");
        static_assert(!retryable::has_defaults || retryable::has_handler,
                      "retrying: the inner handler must take the operation's completion");
        static_assert(
            !retryable::is_usable || can_be_copied<Initiation, Args...>,
            "retrying: an argument of this operation cannot be copied, so it cannot be started again; use "
            "async_retry with a callable that makes the argument for each attempt");
        return asio_retry::detail::start_nothing<Signatures...>(token.token);
    }
};
