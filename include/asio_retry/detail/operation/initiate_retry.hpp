#pragma once

#include <asio_retry/detail/attempt/erased_operation.hpp>
#include <asio_retry/detail/handler/handler_memory.hpp>
#include <asio_retry/detail/handler/operation_executors.hpp>
#include <asio_retry/detail/operation/await_retry.hpp>
#include <asio_retry/detail/operation/retry_elsewhere.hpp>
#include <asio_retry/detail/operation/retry_operation.hpp>
#include <asio_retry/detail/policy/policy_arguments.hpp>
#include <asio_retry/detail/policy/refuse.hpp>
#include <asio_retry/detail/scope/scope_state.hpp>
#include <asio_retry/retry_scope.hpp>

#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/execution/context.hpp>
#include <boost/asio/execution/executor.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/query.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <concepts>
#include <cstddef>
#include <string_view>
#include <type_traits>
#include <utility>

#ifdef ASIO_RETRY_NO_CLOSURE_WARNING
#define ASIO_RETRY_CLOSURE_WARNING
#else
#define ASIO_RETRY_CLOSURE_WARNING                                                                             \
    [[deprecated("name the lambda first, as in auto operation = [s] { ... }; co_await "                        \
                 "async_retry(operation, policy): inside a co_await expression g++ before 13 destroys "        \
                 "twice what a lambda captures by value, or what an aggregate holds")]]
#endif

// `policy_for`, the type of the policy parameter of async_retry and async_hedge, makes the compiler report a
// wrong token or an unsafe temporary at the caller's line. Then `initiate` makes the operation. Its source says
// where the operation waits.
namespace asio_retry::detail {

/// Whether the argument gives an executor: an executor, a context, a scope or an attempt.
template <typename T>
concept provides_executor =
    executor<T> || std::derived_from<std::remove_cvref_t<T>, asio::execution_context> ||
    std::same_as<std::remove_cvref_t<T>, retry_scope> || std::same_as<std::remove_cvref_t<T>, attempt>;

// --- the completion token, where none is given

/// Stands for the default token until the operation's signature is known.
struct default_token {};

template <typename Form>
constexpr auto default_token_of_form() {
    if constexpr (!std::is_same_v<typename completion<typename Form::signature>::failure_type,
                                  std::exception_ptr>)
        return asio::deferred_t();
    else if constexpr (Form::returns_awaitable)
        return asio::use_awaitable_t<typename awaitable_traits<typename Form::result_type>::executor_type>();
    else
        return asio::use_awaitable_t<>();
}

template <typename Form, typename Executor>
constexpr auto default_token_of() {
    if constexpr (std::is_void_v<Executor>) {
        return default_token_of_form<Form>();
    } else {
        using own = typename asio::default_completion_token<Executor>::type;
        if constexpr (std::is_void_v<own> || std::is_same_v<own, asio::deferred_t>) // Asio's general default
            return default_token_of_form<Form>();
        else
            return own();
    }
}

// --- a completion token that cannot be used

/// Whether an executor has a context to wait on: not the fallback, nor that of an any_completion_handler.
template <typename Executor>
inline constexpr bool has_context_to_wait_on =
    !is_fallback_executor<Executor> &&
    (!executor<Executor> || asio::can_query<Executor, asio::execution::context_t>::value);

/// What is wrong with a token: it has no handler for the code, the code with results and so on, or no executor.
enum class token_fault { none, code, code_results, exception, exception_result, other, executor };

template <typename Signature>
inline constexpr token_fault fault_of_handler = token_fault::other;
template <>
inline constexpr token_fault fault_of_handler<void(error_code)> = token_fault::code;
template <typename... Results>
inline constexpr token_fault fault_of_handler<void(error_code, Results...)> = token_fault::code_results;
template <>
inline constexpr token_fault fault_of_handler<void(std::exception_ptr)> = token_fault::exception;
template <typename... Results>
inline constexpr token_fault fault_of_handler<void(std::exception_ptr, Results...)> =
    token_fault::exception_result;

/// Whether the token's handler has an executor to wait on. True if Asio does not name the handler.
template <typename Token, typename Signature>
inline constexpr bool may_wait = true;
template <typename Token, typename Signature>
    requires requires { typename asio::async_result<Token, Signature>::completion_handler_type; }
inline constexpr bool may_wait<Token, Signature> = has_context_to_wait_on<
    asio::associated_executor_t<typename asio::async_result<Token, Signature>::completion_handler_type>>;

template <typename Operation, typename Token, bool HasPlace>
inline constexpr token_fault fault_of_token = [] {
    using form = operation_form<std::decay_t<Operation>>;
    using token = std::decay_t<Token>;
    if constexpr (std::is_same_v<token, default_token> || provides_executor<Token> || !form::is_usable)
        return token_fault::none; // or another static_assert reports the mistake
    else if constexpr (!is_token_for<Token, typename form::signature>)
        return fault_of_handler<typename form::signature>;
    else if constexpr (!HasPlace && !may_wait<token, typename form::signature>)
        return token_fault::executor;
    else
        return token_fault::none;
}();

/// The type of the policy parameter if the token is unusable. The caller converts its policy to this type, so
/// the compiler reports the error at the caller's line.
template <typename Policy, token_fault Fault, typename CompletesWith>
struct policy_beside_faulty_token;

#define ASIO_RETRY_POLICY_BESIDE_HANDLER(fault, completes_with)                                                \
    template <typename Policy, typename CompletesWith>                                                         \
    struct policy_beside_faulty_token<Policy, token_fault::fault, CompletesWith> : Policy {                    \
        ASIO_RETRY_REFUSES(                                                                                    \
            "asio_retry: the handler must take what this operation completes with: " completes_with,           \
            std::convertible_to<Policy> Given = Policy)                                                        \
        policy_beside_faulty_token(Given&& policy = Given()) ASIO_RETRY_REFUSED;                               \
    };
ASIO_RETRY_POLICY_BESIDE_HANDLER(code, "(error_code)")
ASIO_RETRY_POLICY_BESIDE_HANDLER(code_results, "(error_code, T...), where T... are its results")
ASIO_RETRY_POLICY_BESIDE_HANDLER(exception, "(std::exception_ptr)")
ASIO_RETRY_POLICY_BESIDE_HANDLER(exception_result, "(std::exception_ptr, T), where T is its result")
ASIO_RETRY_POLICY_BESIDE_HANDLER(other, "(D, T...), where D tells its failure and T... are its results")
#undef ASIO_RETRY_POLICY_BESIDE_HANDLER

template <typename CompletesWith>
struct policy_beside_faulty_token<retry_policy, token_fault::executor, CompletesWith> : retry_policy {
    ASIO_RETRY_REFUSES("async_retry: this completion token has no executor to wait on, and async_retry needs "
                       "one: async_retry(executor, operation, policy, token)",
                       std::convertible_to<retry_policy> Given = retry_policy)
    policy_beside_faulty_token(Given&& policy = Given()) ASIO_RETRY_REFUSED;
};

// --- the operation

/// What differs between async_retry and async_hedge: messages, checks, and how the operation is made.
template <typename Policy>
struct operation_kind;

template <>
struct operation_kind<retry_policy> {
    static constexpr std::string_view operation_field = "async_retry.operation";
    static constexpr std::string_view executor_field = "async_retry.executor";

    template <typename Form>
    static consteval void assert_usable() noexcept {}

    template <typename Token, typename Signature>
    static consteval auto assert_token() {
        static_assert(!provides_executor<Token>,
                      "async_retry: the place to wait comes first: async_retry(scope, operation, policy)");
    }

    template <typename Executor>
    static consteval void assert_executor() {
        static_assert(has_context_to_wait_on<Executor>,
                      "async_retry: this completion token has no executor to wait on, and async_retry needs "
                      "one: async_retry(executor, operation, policy, token), or retrying(policy, "
                      "bind_executor(executor, token))");
    }

    template <bool HasStrand, typename Handler, typename Callable, typename WaitsOn, typename Membership>
    static void launch(Handler&& handler, Callable&& callable, retry_policy&& policy, WaitsOn const& waits_on,
                       Membership&& membership) {
        if constexpr (!has_librarys_memory<Handler>)
            if (policy.settings().deliver_at_once) // attempts left behind may outlive the handler's memory
                return make<HasStrand>(with_own_memory<Handler>(std::forward<Handler>(handler)),
                                       std::forward<Callable>(callable), std::move(policy), waits_on,
                                       std::forward<Membership>(membership));
        make<HasStrand>(std::forward<Handler>(handler), std::forward<Callable>(callable), std::move(policy),
                        waits_on, std::forward<Membership>(membership));
    }

private:
    template <bool HasStrand, typename Handler, typename Callable, typename WaitsOn, typename Membership>
    static void make(Handler&& handler, Callable&& callable, retry_policy&& policy, WaitsOn const& waits_on,
                     Membership&& membership) {
        using shell =
            typename shell_of<operation_form<Callable>, WaitsOn, Handler, Membership, HasStrand>::type;
        retry_operation<Callable, shell>::launch(std::forward<Handler>(handler),
                                                 std::forward<Callable>(callable), std::move(policy), waits_on,
                                                 std::forward<Membership>(membership));
    }
};

// --- where to wait: `initiation` makes an operation with a handler. If a coroutine makes the attempts itself,
// `await_retry` calls `where_to_wait`. If they get a coroutine of their own, `retry_without_type` calls
// `where`.

/// Waits on the executor of the handler, or of the coroutine.
struct handler_executor_source {
    using executor_type = void;
    static constexpr bool is_scoped = false;

    static waiting_place where_to_wait(asio::any_io_executor const&) noexcept { return {}; }
    static own_executor where() noexcept { return {}; }

    template <typename Signature>
    auto initiation() const {
        return [](auto&& given_handler, auto&& callable, auto given_policy) {
            using handler_type = std::decay_t<decltype(given_handler)>;
            using callable_type = std::decay_t<decltype(callable)>;
            using io_executor = asio::associated_executor_t<handler_type>;
            operation_kind<decltype(given_policy)>::template assert_executor<io_executor>();
            handler_type own_handler(std::forward<decltype(given_handler)>(given_handler));
            handler_executor<io_executor> const waiting_on{asio::get_associated_executor(own_handler)};
            constexpr bool has_strand = wants_strand<operation_form<callable_type>>;
            operation_kind<decltype(given_policy)>::template launch<has_strand>(
                std::move(own_handler), callable_type(std::forward<decltype(callable)>(callable)),
                std::move(given_policy), waiting_on, no_membership());
        };
    }
};

/// Waits on a given executor, inside or outside a scope.
template <typename Executor, typename Membership>
struct given_executor_source {
    using executor_type = Executor;
    static constexpr bool is_scoped = false;
    Executor executor;
    Membership membership;

    /// Both functions move the executor out: the context may end before the frame that holds this source.
    waiting_place where_to_wait(asio::any_io_executor const& own) {
        Executor const taken = std::move(executor);
        return {taken, own};
    }
    Executor where() { return std::move(executor); }

    template <typename Signature>
    struct initiation_type {
        using executor_type = Executor;
        Executor executor;
        Membership membership;

        executor_type get_executor() const noexcept { return executor; }

        template <typename Handler, typename Callable, typename Policy>
        void operator()(Handler&& handler, Callable&& callable, Policy policy) const& {
            initiation_type own(*this);
            std::move(own)(std::forward<Handler>(handler), std::forward<Callable>(callable), std::move(policy));
        }

        /// Moves executor and membership out: the context may end before the frame that holds this object.
        template <typename Handler, typename Callable, typename Policy>
        void operator()(Handler&& handler, Callable&& callable, Policy policy) && {
            using callable_type = std::decay_t<Callable>;
            using kind = operation_kind<Policy>;
            constexpr bool has_strand = wants_strand<operation_form<callable_type>>;
            std::decay_t<Handler> own_handler(std::forward<Handler>(handler));
            callable_type own_callable(std::forward<Callable>(callable));
            Executor const waits_on(std::move(executor));
            Membership own_membership(std::move(membership));
            // Only for type-erased callables: any other callable would be compiled twice.
            if constexpr (has_strand && is_erased<callable_type>)
                if (runs_one_at_a_time(asio::get_associated_executor(own_handler, waits_on)))
                    return kind::template launch<false>(std::move(own_handler), std::move(own_callable),
                                                        std::move(policy), waits_on, std::move(own_membership));
            kind::template launch<has_strand>(std::move(own_handler), std::move(own_callable),
                                              std::move(policy), waits_on, std::move(own_membership));
        }
    };

    template <typename Signature>
    auto initiation() const {
        return initiation_type<Signature>{executor, membership};
    }
};

template <typename Executor>
given_executor_source<Executor, no_membership> wait_on(Executor const& executor) {
    return {executor, {}};
}

struct scope_source {
    using executor_type = asio::any_io_executor;
    static constexpr bool is_scoped = true;
    scope_handle scope;

    waiting_place where_to_wait(asio::any_io_executor const& own) { return {std::move(scope), own}; }
    scope_handle where() { return std::move(scope); }

    template <typename Signature>
    auto initiation() const {
        return given_executor_source<executor_type, scope_membership>{scope->executor(), {scope}}
            .template initiation<Signature>();
    }
};

/// Whether one coroutine can await the operation and the token's awaitable: their executors have one type.
template <typename Form, typename Token>
inline constexpr bool can_await_directly = [] {
    if constexpr (Form::returns_awaitable)
        return std::is_same_v<typename awaiting_token<std::decay_t<Token>>::executor_type,
                              typename awaitable_traits<typename Form::result_type>::executor_type>;
    else
        return false;
}();

/// Starts nothing: only the type of the result matters.
struct initiation_probe {
    template <typename... Args>
    void operator()(Args&&...) const {}
};

/// Checks the arguments and returns what the token returns. If it can, a coroutine makes the attempts itself.
template <typename Policy, typename Source, typename Operation, typename Token>
auto initiate(Source source, Operation&& operation, std::type_identity_t<Policy> policy, Token&& token) {
    using form = operation_form<std::decay_t<Operation>>;
    constexpr token_fault fault =
        fault_of_token<Operation, Token, !std::is_void_v<typename Source::executor_type>>;
    form::assert_usable();
    if constexpr (fault == token_fault::executor) { // `policy_for` reports it, and the result keeps its type
        return asio::async_initiate<Token, typename form::signature>(initiation_probe(), token);
    } else if constexpr (!form::is_usable || fault != token_fault::none) { // reported, too
        return;
    } else if constexpr (std::is_same_v<std::decay_t<Token>, default_token>) {
        return initiate<Policy>(std::move(source), std::forward<Operation>(operation), std::move(policy),
                                decltype(default_token_of<form, typename Source::executor_type>())());
    } else {
        using signature = typename form::signature;
        operation_kind<Policy>::template assert_usable<form>();
        if constexpr (may_be_empty<std::decay_t<Operation>>)
            detail::refuse_if_empty(operation_kind<Policy>::operation_field, operation);
        if constexpr (requires { source.executor; })
            refuse_if_empty_executor(operation_kind<Policy>::executor_field, source.executor);
        operation_kind<Policy>::template assert_token<Token, signature>();
        constexpr bool retries = std::is_same_v<Policy, retry_policy>;
        if constexpr (retries && can_await_directly<form, Token>) {
            using kept = counted_callable<erased_operation_of<form>, Source::is_scoped>;
            return await_retry<std::decay_t<Token>>(kept(std::in_place, std::forward<Operation>(operation)),
                                                    std::move(policy), std::move(source));
        } else if constexpr (can_await_directly<form, Token>) {
            // Erase the callable's type: one coroutine serves all callables.
            return asio::async_initiate<Token, signature>(
                source.template initiation<signature>(), token,
                erased_operation_of<form>(std::forward<Operation>(operation)), std::move(policy));
        } else if constexpr (is_token_for<Token, signature>) { // otherwise `assert_token` reports it
            return asio::async_initiate<Token, signature>(source.template initiation<signature>(), token,
                                                          std::forward<Operation>(operation),
                                                          std::move(policy));
        }
    }
}

// --- the order of the arguments

/// The position of the operation among the arguments, from 0: after the place to wait, if there is one. An
/// object of a class derived from a scope or an attempt is such a place, too.
template <typename... Args>
inline constexpr std::size_t operation_place = 0;
template <typename First, typename... Others>
    requires(provides_executor<First> || std::convertible_to<First, retry_scope&> ||
             std::convertible_to<First, attempt const&>)
inline constexpr std::size_t operation_place<First, Others...> = 1;

/// Whether the first argument is a retry_scope that is temporary or const.
template <typename...>
inline constexpr bool begins_with_unusable_scope = false;
template <typename First, typename... Others>
inline constexpr bool begins_with_unusable_scope<First, Others...> =
    std::same_as<std::remove_cvref_t<First>, retry_scope> && !std::convertible_to<First, retry_scope&>;

template <typename Policy, typename... Args>
inline constexpr bool has_policy_in_place =
    !begins_with_unusable_scope<Args...> && sizeof...(Args) > operation_place<Args...> + 1 &&
    policy_place<Policy, Args...> == operation_place<Args...> + 1;

// --- temporaries that g++ before 13 destroys twice

/// Whether a coroutine may await what the initiating function returns.
template <typename Result>
concept awaitable_result = awaitable_traits<Result>::is_awaitable || asio::is_deferred<Result>::value ||
                           requires(Result&& result) { std::forward<Result>(result).operator co_await(); } ||
                           requires(Result&& result) { result.await_ready(); };

template <typename Token, typename Signature>
inline constexpr bool is_awaited = awaitable_result<decltype(asio::async_initiate<Token, Signature>(
    initiation_probe(), std::declval<std::remove_reference_t<Token>&>()))>;

/// Whether the operation is a temporary that the compiler destroys twice. If the token returns an awaitable,
/// the call is assumed to be inside a `co_await` expression.
template <typename Operation, typename Token>
inline constexpr bool is_destroyed_twice = [] {
    if constexpr (!is_temporary<Operation>)
        return false;
    else if constexpr (std::is_same_v<std::decay_t<Token>, default_token>)
        return true;
    else if constexpr (operation_form<Operation>::is_usable &&
                       is_token_for<Token, typename operation_form<Operation>::signature>)
        return is_awaited<Token, typename operation_form<Operation>::signature>;
    else
        return false; // another static_assert reports the mistake
}();

/// The type of the policy parameter beside an unnamed lambda. A conversion to it is deprecated, for a warning.
template <typename Policy>
struct policy_beside_unnamed_lambda : Policy {
    template <std::convertible_to<Policy> Given = Policy>
    ASIO_RETRY_CLOSURE_WARNING policy_beside_unnamed_lambda(Given&& policy = Given())
        : Policy(std::forward<Given>(policy)) {}
};

template <typename Policy, typename Operation, typename Token, bool HasPlace>
consteval auto policy_parameter() {
    constexpr token_fault fault = fault_of_token<Operation, Token, HasPlace>;
    if constexpr (fault != token_fault::none)
        return std::type_identity<policy_beside_faulty_token<
            Policy, fault, typename operation_form<std::decay_t<Operation>>::signature>>();
    else if constexpr (is_destroyed_twice<Operation, Token>)
        return std::type_identity<policy_beside_unnamed_lambda<Policy>>();
    else
        return std::type_identity<Policy>();
}

/// The policy as a parameter. The caller converts it, so that a message has the caller's line.
template <typename Policy, typename Operation, typename Token, bool HasPlace = true>
using policy_for = typename decltype(policy_parameter<Policy, Operation, Token, HasPlace>())::type;

} // namespace asio_retry::detail
