#pragma once

#include <asio_retry/detail/handler/asio.hpp>
#include <asio_retry/error.hpp>
#include <asio_retry/failure_class.hpp>
#include <asio_retry/failure_of.hpp>
#include <asio_retry/verdict.hpp>

#if BOOST_ASIO_VERSION >= 103300
#include <boost/asio/disposition.hpp>
#endif

#include <concepts>
#include <exception>
#include <type_traits>
#include <utility>

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

    /// Whether it already says `code`. One that marks its code as permanent does not.
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

} // namespace asio_retry::detail
