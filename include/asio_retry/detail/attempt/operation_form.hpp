#pragma once

#include <asio_retry/attempt.hpp>
#include <asio_retry/detail/attempt/completion.hpp>
#include <asio_retry/detail/handler/asio.hpp>
#include <asio_retry/error.hpp>
#include <asio_retry/failure_class.hpp>
#include <asio_retry/pushback.hpp>
#include <asio_retry/retry_machine.hpp>

#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/deferred.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <string_view>
#include <tuple>
#include <type_traits>

// Only declared: the header brings much of Boost, and code that returns a result has included it.
namespace boost::system {
template <typename T, typename E>
class result;
}

namespace asio_retry::detail {

template <typename T>
using code_result = boost::system::result<T, error_code>;

/// A completion token that starts nothing. It reveals the signatures of the initiating function.
struct signature_probe {};

template <typename... Signatures>
struct signature_list {};

} // namespace asio_retry::detail

template <typename... Signatures>
class boost::asio::async_result<asio_retry::detail::signature_probe, Signatures...> {
public:
    using return_type = asio_retry::detail::signature_list<Signatures...>;

    template <typename Initiation, typename... Args>
    static return_type initiate(Initiation&&, asio_retry::detail::signature_probe, Args&&...) {
        return {};
    }
};

namespace asio_retry::detail {

/// The only signature that the probe found. If there is not exactly one, `type` is a placeholder.
template <typename Result>
struct sole_signature {
    static constexpr std::size_t count = 0;
    using type = void(error_code);
};
template <typename Signature>
struct sole_signature<signature_list<Signature>> {
    static constexpr std::size_t count = 1;
    using type = Signature;
};
template <typename First, typename Second, typename... Others>
struct sole_signature<signature_list<First, Second, Others...>> {
    static constexpr std::size_t count = 2 + sizeof...(Others);
    using type = void(error_code);
};

/// Maps the value that an awaitable or a plain callable returns to a completion.
template <typename T>
struct returned {
    using signature = void(std::exception_ptr, T);
    static std::tuple<std::exception_ptr, T> arguments(T&& value) { return {nullptr, std::move(value)}; }
};
template <>
struct returned<void> {
    using signature = void(std::exception_ptr);
};
template <carried_failure Failure>
struct returned<Failure> {
    using signature = void(Failure);
    static std::tuple<Failure> arguments(Failure&& failure) { return {std::move(failure)}; }
};
template <typename T>
struct returned<code_result<T>> {
    using value_type = std::decay_t<T>; // a reference's object is copied
    using signature = void(error_code, value_type);
    static std::tuple<error_code, value_type> arguments(code_result<T>&& result) {
        if (result.has_value())
            return {error_code(), std::forward<T>(*result)};
        return {result.error(), value_type()};
    }
};
template <typename T>
    requires std::is_void_v<T>
struct returned<code_result<T>> {
    using signature = void(error_code);
    static std::tuple<error_code> arguments(code_result<T>&& result) { return {result.error()}; }
};

/// Like `returned`, but an awaitable may carry its error in a tuple.
template <typename T>
struct awaited : returned<T> {};
template <carried_failure Failure, typename... Ts>
struct awaited<std::tuple<Failure, Ts...>> {
    using signature = void(Failure, Ts...);
    static std::tuple<Failure, Ts...> arguments(std::tuple<Failure, Ts...>&& values) {
        return std::move(values);
    }
};

template <typename T>
struct awaitable_traits {
    static constexpr bool is_awaitable = false;
};
template <typename T, typename Executor>
struct awaitable_traits<asio::awaitable<T, Executor>> {
    static constexpr bool is_awaitable = true;
    using value_type = T;
    using executor_type = Executor;
};

/// The type of the only parameter of a callable that is not generic. Does not instantiate the callable's body.
template <typename F>
struct sole_parameter {
    using type = void;
};
template <typename F>
    requires requires { &F::operator(); }
struct sole_parameter<F> : sole_parameter<decltype(&F::operator())> {};
template <typename R, typename A>
struct sole_parameter<R (*)(A)> {
    using type = A;
};
template <typename R, typename A>
struct sole_parameter<R (*)(A) noexcept> {
    using type = A;
};
#define ASIO_RETRY_SOLE_PARAMETER(qualifiers)                                                                  \
    template <typename R, typename C, typename A>                                                              \
    struct sole_parameter<R (C::*)(A) qualifiers> {                                                            \
        using type = A;                                                                                        \
    };
ASIO_RETRY_SOLE_PARAMETER()
ASIO_RETRY_SOLE_PARAMETER(const)
ASIO_RETRY_SOLE_PARAMETER(&)
ASIO_RETRY_SOLE_PARAMETER(const&)
ASIO_RETRY_SOLE_PARAMETER(noexcept)
ASIO_RETRY_SOLE_PARAMETER(const noexcept)
ASIO_RETRY_SOLE_PARAMETER(& noexcept)
ASIO_RETRY_SOLE_PARAMETER(const& noexcept)
#undef ASIO_RETRY_SOLE_PARAMETER

template <typename F>
inline constexpr bool takes_only_attempt = std::conjunction_v<
    std::is_same<std::remove_cvref_t<typename sole_parameter<std::decay_t<F>>::type>, attempt>,
    std::is_invocable<std::decay_t<F>&, attempt const&>>;

/// Whether a generic or overloaded callable takes an attempt alone, and no token alone.
template <typename F>
inline constexpr bool takes_attempt_alone =
    std::conjunction_v<std::negation<std::is_member_pointer<F>>,
                       std::negation<std::is_invocable<F&, signature_probe>>,
                       std::is_invocable<F&, attempt const&>>;

enum class call_shape { nothing, attempt, token, attempt_and_token, none };

// Generic callables come last: a test of a generic lambda instantiates its body.
template <typename F>
consteval call_shape call_shape_of() {
    if constexpr (takes_only_attempt<F>) // even if it has a default argument
        return call_shape::attempt;
    else if constexpr (std::is_invocable_v<F&>)
        return call_shape::nothing;
    else if constexpr (std::is_bind_expression_v<F> && takes_attempt_alone<F>) // it would also take a token
        return call_shape::attempt;
    else if constexpr (std::is_invocable_v<F&, attempt const&, signature_probe>)
        return call_shape::attempt_and_token;
    else if constexpr (std::is_invocable_v<F&, signature_probe>)
        return call_shape::token;
    else if constexpr (takes_attempt_alone<F>)
        return call_shape::attempt;
    else
        return call_shape::none;
}

/// Whether such an operation may complete after its call has returned.
template <typename Form>
inline constexpr bool is_asynchronous =
    (Form::takes_token && !Form::may_block) || Form::returns_operation || Form::returns_awaitable;

template <typename F>
inline constexpr bool is_callable_as_rvalue =
    std::disjunction_v<std::is_invocable<F>, std::is_invocable<F, attempt const&, signature_probe>,
                       std::is_invocable<F, signature_probe>, std::is_invocable<F, attempt const&>>;

/// How to call an operation, and what the call returns.
template <typename F>
struct operation_form {
    static constexpr call_shape shape = call_shape_of<F>();
    static constexpr bool takes_attempt =
        shape == call_shape::attempt || shape == call_shape::attempt_and_token;
    static constexpr bool takes_token = shape == call_shape::token || shape == call_shape::attempt_and_token;

    static consteval auto call_result() {
        if constexpr (shape == call_shape::nothing) {
            return std::type_identity<std::invoke_result_t<F&>>();
        } else if constexpr (shape == call_shape::attempt) {
            return std::type_identity<std::invoke_result_t<F&, attempt const&>>();
        } else if constexpr (shape == call_shape::attempt_and_token) {
            return std::type_identity<std::invoke_result_t<F&, attempt const&, signature_probe>>();
        } else if constexpr (shape == call_shape::token) {
            return std::type_identity<std::invoke_result_t<F&, signature_probe>>();
        } else {
            return std::type_identity<error_code>();
        }
    }
    using result_type = std::remove_cvref_t<typename decltype(call_result())::type>;

    static constexpr bool returns_awaitable = awaitable_traits<result_type>::is_awaitable;

    // An operation such as asio::deferred makes.
    static constexpr bool returns_operation = [] {
        if constexpr (!takes_token && !returns_awaitable && std::is_class_v<result_type>)
            return asio::is_async_operation<result_type>::value;
        else
            return false;
    }();

    static consteval auto signature_of() {
        if constexpr (takes_token)
            return sole_signature<result_type>();
        else if constexpr (returns_operation)
            return sole_signature<std::invoke_result_t<result_type, signature_probe>>();
        else if constexpr (returns_awaitable)
            return sole_signature<signature_list<
                typename awaited<typename awaitable_traits<result_type>::value_type>::signature>>();
        else
            return sole_signature<signature_list<typename returned<result_type>::signature>>();
    }
    using signature = typename decltype(signature_of())::type;
    static constexpr std::size_t signature_count = decltype(signature_of())::count;

    static constexpr bool is_usable = shape != call_shape::none && signature_count == 1 &&
                                      completion<signature>::is_complete && completion<signature>::has_defaults;

    /// Reports why the operation is unusable. Assertions in the class would make clang complain of its uses,
    /// too. `auto` makes the compiler instantiate the function, so these messages come first.
    static consteval auto assert_usable() {
        static_assert(!awaitable_traits<F>::is_awaitable,
                      "asio_retry: this is an awaitable, which can be awaited only once: pass a "
                      "callable that makes one for each attempt, as in [] { return fetch(); }");
        static_assert(shape != call_shape::none || !is_callable_as_rvalue<F>,
                      "asio_retry: the operation is called as an lvalue once per attempt, but its call "
                      "operator is for rvalues only");
        static_assert(shape != call_shape::none || is_callable_as_rvalue<F> ||
                          awaitable_traits<F>::is_awaitable,
                      "asio_retry: the operation must be callable, as an lvalue, with nothing, with an "
                      "attempt, with a completion token, or with an attempt and a completion token");
        static_assert(signature_count > 0,
                      "asio_retry: the operation given a completion token does not start an Asio "
                      "asynchronous operation (return the result of its initiating function)");
        static_assert(signature_count < 2,
                      "asio_retry: operations with several completion signatures are not supported");
        static_assert(completion<signature>::has_error,
                      "asio_retry: the completion signature of the operation must be void(error_code, "
                      "T...) or void(std::exception_ptr, T...), or begin with a type that has a failure_of or, "
                      "in newer versions of Asio, disposition_traits");
        completion<signature>::assert_complete();
        static_assert(completion<signature>::has_defaults,
                      "asio_retry: result types must be default-constructible: use a std::optional of "
                      "the type; a callable that returns permanent(ec) needs the return type error_code");
    }

    template <typename... Token>
    static decltype(auto) call(F& operation, attempt const& which, Token&&... token) {
        if constexpr (shape == call_shape::nothing || shape == call_shape::token)
            return operation(std::forward<Token>(token)...);
        else
            return operation(which, std::forward<Token>(token)...);
    }

    /// Whether the operation is a plain callable that `inject` delays. `async_retry` passes a token to it.
    /// `retry` passes the `retry_waits` by which it blocks its thread.
    static constexpr bool may_block = false;

    static constexpr bool is_reported = false;
    static constexpr bool has_hooks = false;

    static constexpr bool prepares = takes_attempt;

    /// Tells the machine, before the start, what the operation needs.
    static void prepare(F&, retry_machine& machine) {
        if constexpr (takes_attempt)
            machine.expect_marks();
    }

    /// Whether the operation chooses a server for each attempt. For a hedge, `chooser_of` returns the chooser.
    static constexpr bool chooses = false;
    static machine_observer* chooser_of(F&) noexcept { return nullptr; }

    /// Whether it has a `rejects`, by which `fail_if` may judge a successful result a failure.
    static constexpr bool judges_results = false;

    /// Whether a result that stays rejected becomes an error.
    static constexpr bool names_rejected = false;
};

/// Gives an operation its attempt object, and passes the attempt's reports to the machine, timed by `Clock`.
template <typename Clock>
class attempt_health final : health_monitor {
public:
    attempt_health(retry_machine& machine, Clock& clock) noexcept
        : machine_(machine)
        , clock_(clock) {}

    /// The operation may refer to it until the attempt ends: a coroutine begins after its call has returned.
    attempt const& monitored(attempt const& which) noexcept {
        current_ = which;
        current_.monitor = this;
        return current_;
    }

private:
    void on_healthy() noexcept override {
        if (machine_.measures_time()) // otherwise the time is not needed, and there may be no scheduler yet
            machine_.on_healthy(clock_.now());
    }
    void on_sent() noexcept override { machine_.on_sent(); }
    void on_progress() noexcept override {
        if (machine_.hears_attempt())
            machine_.on_progress(clock_.now());
    }
    void on_pushback(pushback said) noexcept override { machine_.heed(said); }
    std::uint64_t operation_number() const noexcept override { return machine_.operation_number(); }
    detail::shared_value<nested_marks> marks() override { return machine_.marks_of_nested(); }

    retry_machine& machine_;
    Clock& clock_;
    attempt current_;
};

template <typename Clock>
struct no_attempt_health {
    no_attempt_health(retry_machine&, Clock&) noexcept {}
    static attempt monitored(attempt which) noexcept { return which; }
};

template <typename Form, typename Clock>
using attempt_health_of =
    std::conditional_t<Form::takes_attempt, attempt_health<Clock>, no_attempt_health<Clock>>;

/// Whether the compiler destroys the lambdas and aggregates of a `co_await` expression twice: it copies them
/// bitwise into the coroutine's frame, and destroys both.
inline constexpr bool destroys_temporaries_twice =
#if defined(__GNUC__) && !defined(__clang__)
    __GNUC__ < 13;
#else
    false;
#endif

/// Whether the type is that of a lambda: in g++ its name ends with `<lambda(...)>`.
template <typename T>
consteval bool is_closure() {
    std::string_view const name = __PRETTY_FUNCTION__; // ... [with T = NAME] or ... [with T = NAME; ...]
    int depth = 0;
    for (std::size_t place = name.rfind("<lambda("); place < name.size(); ++place) {
        depth += name[place] == '<' ? 1 : name[place] == '>' ? -1 : 0;
        if (depth == 0)
            return name[place + 1] == ']' || name[place + 1] == ';';
    }
    return false;
}

/// Marks a wrapper that was made of a temporary: the compiler may destroy the temporary twice.
template <typename Wrapper>
struct [[nodiscard("this starts nothing: give it to async_retry or retry")]] temporary_operation : Wrapper {
    using Wrapper::Wrapper;
};

template <typename Wrapper>
struct operation_form<temporary_operation<Wrapper>> : operation_form<Wrapper> {};

template <typename Operation>
struct unmarked {
    using type = Operation;
    static constexpr bool has_mark = false;
};
template <typename Wrapper>
struct unmarked<temporary_operation<Wrapper>> {
    using type = Wrapper;
    static constexpr bool has_mark = true;
};

/// Whether `Given&&` may be a temporary that the compiler destroys twice. True also for a moved variable.
template <typename Given>
inline constexpr bool is_temporary = [] {
    if constexpr (!destroys_temporaries_twice || !std::is_class_v<Given> ||
                  std::is_trivially_destructible_v<Given>)
        return false;
    else
        return unmarked<Given>::has_mark || std::is_aggregate_v<Given> || is_closure<Given>();
}();

/// The type that stores a callable passed as `Given&&`.
template <typename Given>
using kept = typename unmarked<std::decay_t<Given>>::type;

template <template <typename...> typename Wrapper, typename... Given>
using wrapper = std::conditional_t<(is_temporary<Given> || ...), temporary_operation<Wrapper<kept<Given>...>>,
                                   Wrapper<kept<Given>...>>;

/// The base of a wrapper: it holds the operation that the wrapper was given.
template <typename Operation>
class wrapping_operation {
public:
    explicit wrapping_operation(Operation&& given_operation)
        : operation_(std::move(given_operation)) {}

private:
    template <typename>
    friend struct operation_form;
    template <typename, typename>
    friend struct wrapping_form;

    Operation operation_;
};

/// The base of a wrapper's form. It forwards everything to the operation inside. If the wrapper is called in
/// another way than that operation, the wrapper gives its own `Form`.
template <typename Operation, typename Form = operation_form<Operation>>
struct wrapping_form : Form {
    using inner = operation_form<Operation>;
    using wrapper_type = wrapping_operation<Operation>;

    template <typename... Token>
    static decltype(auto) call(wrapper_type& wrapper, attempt const& which, Token&&... token) {
        return inner::call(wrapper.operation_, which, std::forward<Token>(token)...);
    }

    static void prepare(wrapper_type& wrapper, retry_machine& machine) {
        inner::prepare(wrapper.operation_, machine);
    }

    static machine_observer* chooser_of(wrapper_type& wrapper) noexcept {
        return inner::chooser_of(wrapper.operation_);
    }

    template <typename... Values>
    static judgement rejects([[maybe_unused]] wrapper_type& wrapper, Values const&... values) {
        if constexpr (inner::judges_results)
            return inner::rejects(wrapper.operation_, values...);
        else
            return {};
    }
};

} // namespace asio_retry::detail
