#pragma once

#include <asio_retry/detail/handler/asio.hpp>
#include <asio_retry/detail/handler/late_completion.hpp>
#include <asio_retry/error.hpp>
#include <asio_retry/failure_class.hpp>
#include <asio_retry/failure_of.hpp>
#include <asio_retry/retry_machine.hpp>
#include <asio_retry/verdict.hpp>

#include <concepts>
#include <exception>
#include <tuple>
#include <type_traits>
#include <utility>

#if BOOST_ASIO_VERSION >= 103300
#include <boost/asio/disposition.hpp>
#endif

namespace asio_retry::detail {

#if BOOST_ASIO_VERSION >= 103300
template <typename T>
inline constexpr bool has_asio_traits = asio::is_disposition<T>::value;
template <typename T>
using asio_traits = asio::disposition_traits<T>;
#else
template <typename T>
inline constexpr bool has_asio_traits = false;
template <typename T>
struct asio_traits;
#endif

template <typename T>
concept says_failed = requires(T const& of) {
    { failure_of<T>::failed(of) } -> std::convertible_to<bool>;
};
template <typename T>
concept says_code = requires(T const& of) {
    { failure_of<T>::code(of) } -> std::convertible_to<error_code>;
};
template <typename T>
concept says_class = requires(T const& of) {
    { failure_of<T>::classify(of) } -> std::convertible_to<failure_class>;
};
template <typename T>
concept is_made_by_user = requires(error_code const& code) {
    { failure_of<T>::make(code) } -> std::convertible_to<T>;
};

/// A first argument of a completion that is neither an error_code nor an exception_ptr.
template <typename T>
concept disposition = !std::is_same_v<T, error_code> && !std::is_same_v<T, std::exception_ptr> &&
                      (says_failed<T> || says_code<T> || has_asio_traits<T>);

/// A failure that a value can carry, unlike an exception.
template <typename T>
concept carried_failure = std::is_same_v<T, error_code> || disposition<T>;

/// How the library reads and makes a disposition.
template <typename Disposition>
struct disposition_access {
    static constexpr bool can_fail = says_failed<Disposition> || has_asio_traits<Disposition>;
    static constexpr bool has_code =
        says_code<Disposition> || (has_asio_traits<Disposition> && std::is_copy_constructible_v<Disposition>);
    static constexpr bool can_hold_exception = std::is_constructible_v<Disposition, std::exception_ptr const&>;
    static constexpr bool can_be_made = is_made_by_user<Disposition> || can_hold_exception ||
                                        std::is_constructible_v<Disposition, error_code const&>;
    static constexpr bool moves =
        std::is_nothrow_move_constructible_v<Disposition> && std::is_nothrow_move_assignable_v<Disposition>;
    static constexpr bool is_complete = can_fail && has_code && can_be_made && moves;

    static consteval auto assert_complete() {
        static_assert(can_fail, "failure_of: it must say whether this disposition is a failure: "
                                "static bool failed(Disposition const&)");
        static_assert(has_code, "failure_of: it must say the code of this disposition: "
                                "static error_code code(Disposition const&)");
        static_assert(can_be_made,
                      "failure_of: it must make this disposition of timed_out and of other errors of the "
                      "library: static Disposition make(error_code const&), unless the disposition has a "
                      "constructor for an error_code");
        static_assert(moves, "failure_of: the disposition must be movable, and its moves must not throw");
    }

    static bool failed(Disposition const& of) noexcept {
        if constexpr (says_failed<Disposition>)
            return failure_of<Disposition>::failed(of);
        else
            return !asio_traits<Disposition>::not_an_error(of);
    }

    /// Precondition: failed(of).
    static verdict verdict_on(Disposition const& of) {
        if constexpr (says_class<Disposition>)
            return verdict::classified(verdict_by_code(of), failure_of<Disposition>::classify(of));
        else
            return verdict_by_code(of);
    }

    /// Whether the disposition already says `code`. A disposition that marks its code as permanent does not.
    static bool says(Disposition const& of, error_code const& code) {
        if (!failed(of))
            return false;
        if constexpr (says_code<Disposition>) {
            return failure_of<Disposition>::code(of) == code;
        } else {
            verdict const failure = verdict_by_code(of);
            return !failure.is_permanent() && failure.error() == code;
        }
    }

    static Disposition make(error_code const& code, std::exception_ptr const& thrown) {
        if constexpr (is_made_by_user<Disposition>)
            return failure_of<Disposition>::make(code);
        else if constexpr (can_hold_exception)
            return Disposition(thrown ? thrown : exception_of(code));
        else
            return Disposition(code);
    }

private:
    static verdict verdict_by_code(Disposition const& of) {
        if constexpr (says_code<Disposition>) {
            error_code const code = failure_of<Disposition>::code(of);
            return verdict::failure(code ? code : error_code(error::operation_threw));
        } else {
            std::exception_ptr const thrown = asio_traits<Disposition>::to_exception_ptr(of);
            return thrown ? verdict::failure(thrown) : verdict::failure(error::operation_threw);
        }
    }
};

inline void set_failure(error_code& to, error_code const& code, std::exception_ptr const&) noexcept {
    to = code;
}
inline void set_failure(std::exception_ptr& to, error_code const& code,
                        std::exception_ptr const& thrown) noexcept {
    to = thrown ? thrown : exception_of(code);
}
template <disposition Disposition>
void set_failure(Disposition& to, error_code const& code, std::exception_ptr const& thrown) {
    if (!disposition_access<Disposition>::says(to, code))
        to = disposition_access<Disposition>::make(code, thrown);
}

/// Defined in exhausted_error.hpp, which comes with `fail_if`.
template <typename... Values>
std::exception_ptr exhausted_with(Values&&... values) noexcept;

/// Success and failure in a completion signature.
template <typename Signature>
struct completion {
    static constexpr bool has_error = false;
    static constexpr bool has_defaults = true;
    static constexpr bool is_complete = false;
    static consteval auto assert_complete() {}
};

template <typename Failure, typename... Values>
    requires carried_failure<std::remove_cvref_t<Failure>> ||
             std::is_same_v<std::remove_cvref_t<Failure>, std::exception_ptr>
struct completion<void(Failure, Values...)> {
    static constexpr bool has_error = true;
    static constexpr bool has_defaults = (std::is_default_constructible_v<std::decay_t<Values>> && ...);

    using failure_type = std::remove_cvref_t<Failure>;
    using arguments = std::tuple<failure_type, std::decay_t<Values>...>;

    static constexpr bool has_disposition = disposition<failure_type>;
    static constexpr bool is_complete = [] {
        if constexpr (has_disposition)
            return disposition_access<failure_type>::is_complete;
        else
            return true;
    }();

    static consteval auto assert_complete() {
        if constexpr (has_disposition)
            disposition_access<failure_type>::assert_complete();
    }

    static arguments failed(error_code const& code, std::exception_ptr const& thrown) {
        if constexpr (has_disposition) {
            return with(disposition_access<failure_type>::make(code, thrown));
        } else {
            arguments result;
            detail::set_failure(std::get<0>(result), code, thrown);
            return result;
        }
    }

    static arguments with(failure_type&& failure) {
        return arguments(std::move(failure), std::decay_t<Values>()...);
    }

    static arguments from_exception(std::exception_ptr const& thrown) {
        if constexpr (std::is_same_v<failure_type, std::exception_ptr>)
            return failed(error_code(), thrown);
        else
            return failed(completion_code_of(thrown), thrown);
    }

    /// Ends the operation with an exception; `from_exception` has made `result` of it.
    static retry_action on_exception(retry_machine& machine, arguments const& result) {
        auto const& failure = std::get<0>(result);
        if constexpr (has_disposition)
            return machine.on_exception(disposition_access<failure_type>::verdict_on(failure).error(), nullptr);
        else if constexpr (std::is_same_v<failure_type, error_code>)
            return machine.on_exception(failure, nullptr);
        else
            return machine.on_exception(code_of(failure), failure);
    }

    /// Replaces the attempt's own error by the error that the machine delivers. With `JudgesResults`, a
    /// rejected value goes into an exhausted_error.
    template <bool JudgesResults>
    static void amend(arguments& result, retry_action const& action) {
        if constexpr (JudgesResults && sizeof...(Values) > 0 &&
                      std::is_same_v<failure_type, std::exception_ptr>) {
            if (action.error == error::exhausted && !action.thrown && !is_failure(result)) {
                std::apply([](auto& failure,
                              auto&... values) { failure = detail::exhausted_with(std::move(values)...); },
                           result);
                return;
            }
        }
        if (action.error || action.thrown)
            detail::set_failure(std::get<0>(result), action.error, action.thrown);
    }

    static bool is_failure(arguments const& result) noexcept {
        if constexpr (has_disposition)
            return disposition_access<failure_type>::failed(std::get<0>(result));
        else if constexpr (std::is_same_v<failure_type, error_code>)
            return static_cast<bool>(std::get<0>(result));
        else
            return std::get<0>(result) != nullptr;
    }

    /// Judges an attempt that completed without an error. Throws what the predicate of `fail_if` throws.
    template <typename Form, typename Operation>
    static judgement rejects(Operation& operation, arguments const& result) {
        return std::apply(
            [&](auto const&, auto const&... values) { return Form::rejects(operation, values...); }, result);
    }

    /// Precondition: is_failure(result).
    static verdict verdict_on(arguments const& result) {
        if constexpr (has_disposition)
            return disposition_access<failure_type>::verdict_on(std::get<0>(result));
        else
            return verdict::failure(std::get<0>(result));
    }
};

/// The result of an attempt. A result with a disposition knows whether it is set.
template <typename Completion>
using kept_result = std::conditional_t<Completion::has_disposition, maybe<typename Completion::arguments>,
                                       late_value<typename Completion::arguments>>;

/// Keeps the disposition of the last failure during a wait, in order to deliver it if the operation ends then.
template <typename Completion, bool = Completion::has_disposition>
class last_failure {
public:
    template <typename Result>
    void keep(Result&) noexcept {}
    typename Completion::arguments failed(error_code const& code, std::exception_ptr const& thrown) {
        return Completion::failed(code, thrown);
    }
};
template <typename Completion>
class last_failure<Completion, true> {
    using failure_type = typename Completion::failure_type;

public:
    template <typename Result>
    void keep(Result& result) noexcept {
        kept_.reset();
        if (result && Completion::is_failure(*result))
            kept_.emplace(std::move(std::get<0>(*result)));
    }
    typename Completion::arguments failed(error_code const& code, std::exception_ptr const& thrown) {
        if (kept_ && disposition_access<failure_type>::says(*kept_, code))
            return Completion::with(std::move(*kept_));
        return Completion::failed(code, thrown);
    }

private:
    maybe<failure_type> kept_;
};

} // namespace asio_retry::detail
