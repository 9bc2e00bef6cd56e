#pragma once

#include <asio_retry/error.hpp>

#include <exception>
#include <utility>

namespace asio_retry {

/// What one attempt came to: success, or a failure by error code, by exception or by a rejected result.
class verdict {
public:
    static verdict success() noexcept { return verdict(); }

    /// Precondition: code is an error.
    static verdict failure(error_code const& code) noexcept {
        verdict v;
        v.failed_ = true;
        v.error_ = code;
        return v;
    }

    /// Precondition: e is not null.
    static verdict failure(std::exception_ptr e) {
        verdict v = failure(code_of(e));
        v.exception_ = std::move(e);
        return v;
    }

    /// The operation succeeded with a value that `fail_if` calls a failure.
    static verdict rejected() noexcept {
        verdict v = failure(make_error_code(asio_retry::error::result_rejected));
        v.rejected_ = true;
        return v;
    }

    bool succeeded() const noexcept { return !failed_; }
    bool is_rejected() const noexcept { return rejected_; }

    /// The failure's code; for an exception the one that `code_of` finds in it.
    error_code const& error() const noexcept { return error_; }

    /// Null unless the attempt failed with an exception.
    std::exception_ptr const& exception() const noexcept { return exception_; }

private:
    verdict() noexcept {}

    bool failed_ = false;
    bool rejected_ = false;
    error_code error_;
    std::exception_ptr exception_;
};

} // namespace asio_retry
