#pragma once

#include <asio_retry/detail/policy/config.hpp>
#include <asio_retry/error.hpp>

#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

namespace asio_retry {

/// A failure that a retry will not mend. Made by `permanent`.
class ASIO_RETRY_DECL permanent_error : public std::exception {
public:
    /// Marks a code as permanent. For `permanent`.
    explicit permanent_error(error_code const& code) noexcept;

    /// Marks an exception as permanent. Precondition: e is not null.
    explicit permanent_error(std::exception_ptr e);

    /// The text of the inner exception; `permanent error` for a code, whose message `code()` has.
    char const* what() const noexcept override;

    /// The code, or the code in the exception.
    error_code const& code() const noexcept { return code_; }

    /// The inner exception; null if there is only a code.
    std::exception_ptr const& exception() const noexcept { return exception_; }

    /// For an operation that completes with a code: a code of the same value and message, marked as permanent.
    ///
    /// The code is of a category of its own, by which a retry recognises it. Without memory for that category
    /// the result is the plain code. It is also plain if the code is of a standard category that Boost lacks.
    /// Your own operation passes it to its handler as an error_code: the newest versions of Boost pass on the
    /// argument as it is.
    operator error_code() const noexcept;

private:
    error_code code_;
    std::exception_ptr exception_;
};

/// Marks an error as one that must not be retried.
///
/// Throw it from an operation, `throw permanent(std::runtime_error("no such user"))`, or return it from one
/// that ends with a code, `co_return permanent(error)`. It ends the operation whatever `retry_if` says, with
/// the inner error, unchanged. A thrown one is also found in nested exceptions.
///
/// It also ends the operation after a time limit has cancelled the attempt, even if the inner error is
/// `operation_aborted`. So `catch (...) { throw permanent(std::current_exception()); }` around a POST means one
/// POST. Then the operation completes with `timed_out`, with the inner exception nested in it.
///
/// `error` is an error code, an exception, or a std::exception_ptr that is not null, such as
/// std::current_exception(). An exception is copied as the type that it has here. A code that is no error
/// remains a success: an operation that returns `permanent(ec)` succeeds if `ec` says so. If you throw it, it
/// is a failure, and becomes `error::operation_threw`.
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

/// The permanent error in a thrown exception or in the exceptions nested in it.
ASIO_RETRY_DECL std::optional<permanent_error> find_permanent(std::exception_ptr thrown);

/// The inner code, given a code that `permanent_error` has marked.
ASIO_RETRY_DECL std::optional<error_code> find_permanent(error_code const& code) noexcept;

/// Marks the result of an operation: `thrown` if that is not null, else `error`.
ASIO_RETRY_DECL void mark_permanent(error_code& error, std::exception_ptr& thrown);

/// The code that an operation ends with if it throws and can only deliver a code.
ASIO_RETRY_DECL error_code completion_code_of(std::exception_ptr const& thrown);

} // namespace detail

} // namespace asio_retry
