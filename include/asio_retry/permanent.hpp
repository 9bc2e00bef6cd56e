#pragma once

#include <asio_retry/detail/policy/config.hpp>
#include <asio_retry/error.hpp>

#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

namespace asio_retry {

/// A failure that trying again will not mend. Made by `permanent`.
class ASIO_RETRY_DECL permanent_error : public std::exception {
public:
    /// For `permanent`, as is the other.
    explicit permanent_error(error_code const& code) noexcept;

    /// Precondition: e is not null.
    explicit permanent_error(std::exception_ptr e);

    /// What the inner exception says; `permanent error` for a code, whose message `code()` has.
    char const* what() const noexcept override;

    /// The code, or that in the exception.
    error_code const& code() const noexcept { return code_; }

    /// Null if it is a code.
    std::exception_ptr const& exception() const noexcept { return exception_; }

    /// For an operation that completes with a code: one of the same value and message in a category of its own,
    /// by which a retry knows it. Without memory for that category, and for a code of a standard category that
    /// Boost has not, the mere code. An operation of one's own passes it to its handler as an error_code:
    /// the newest Boosts hand on what a handler is called with.
    operator error_code() const noexcept;

private:
    error_code code_;
    std::exception_ptr exception_;
};

/// Marks an error as one that must not be retried.
///
/// To be thrown by an operation, `throw permanent(std::runtime_error("no such user"))`, or returned by one that
/// ends with a code, `co_return permanent(error)`. It ends the retry whatever `retry_if` says, and what
/// completes the operation is the inner error, unchanged. A thrown one is found through nested exceptions too.
/// If a time limit had told the attempt to stop, the retry ends as well, also if the inner error is
/// `operation_aborted`: `catch (...) { throw permanent(std::current_exception()); }` around a POST means one
/// POST. Then the operation completes with `timed_out`, with the inner exception nested in it.
/// `error` is an error code, an exception, which is copied as the type that it has here, or a
/// std::exception_ptr that is not null, such as std::current_exception(). A code that is no error stays one:
/// what returns `permanent(ec)` succeeds if `ec` says so. Thrown it is a failure, and becomes
/// `error::operation_threw`.
template <typename Error>
permanent_error permanent(Error&& error) {
    if constexpr (std::is_same_v<std::remove_cvref_t<Error>, permanent_error>)
        return std::forward<Error>(error);
    else if constexpr (std::is_convertible_v<Error, error_code>)
        return permanent_error(error_code(std::forward<Error>(error)));
    else if constexpr (std::is_convertible_v<Error, std::exception_ptr>)
        return permanent_error(std::exception_ptr(std::forward<Error>(error)));
    else
        return permanent_error(std::make_exception_ptr(std::forward<Error>(error)));
}

namespace detail {

/// The permanent error in a thrown exception or in those nested in it.
ASIO_RETRY_DECL std::optional<permanent_error> find_permanent(std::exception_ptr thrown);

/// What `permanent_error` made a code of, given the code that an operation ended with.
ASIO_RETRY_DECL std::optional<error_code> find_permanent(error_code const& code) noexcept;

/// Marks what completes an operation: `thrown` if that is not null, else `error`.
ASIO_RETRY_DECL void mark_permanent(error_code& error, std::exception_ptr& thrown);

/// The code that an operation ends with when it throws and has no other way to say so.
ASIO_RETRY_DECL error_code completion_code_of(std::exception_ptr const& thrown);

} // namespace detail

} // namespace asio_retry
