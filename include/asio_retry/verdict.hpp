#pragma once

#include <asio_retry/detail/policy/config.hpp>
#include <asio_retry/error.hpp>
#include <asio_retry/failure_class.hpp>
#include <asio_retry/permanent.hpp>
#include <asio_retry/pushback.hpp>

#include <exception>

namespace asio_retry {

/// The result of one attempt: success, or a failure by error code, by exception or by a rejected value.
class verdict {
public:
    /// The attempt succeeded.
    static verdict success() noexcept { return verdict(); }

    /// The attempt failed with a code. Precondition: code is an error.
    ASIO_RETRY_DECL static verdict failure(error_code const& code) noexcept;

    /// The attempt failed with an exception. Precondition: e is not null.
    ASIO_RETRY_DECL static verdict failure(std::exception_ptr e);

    /// The attempt failed with this code and exception, which are taken as they are. `e` may be null.
    ASIO_RETRY_DECL static verdict failure(error_code const& code, std::exception_ptr e) noexcept;

    /// The operation succeeded with a value that `fail_if` calls a failure.
    ASIO_RETRY_DECL static verdict rejected(judgement const& why = {}) noexcept;

    /// The failure `own` with a class by `failure_of`, in place of the class of its code.
    ///
    /// The kind `permanent` makes it permanent. The kind `none` says nothing, and a cancellation remains one.
    ASIO_RETRY_DECL static verdict classified(verdict const& own, failure_class what) noexcept;

    /// The verdict on an attempt with the result `own` that had reached its time limit and had been cancelled.
    ///
    /// It is `timed_out`, with the attempt's own exception, if there is one, nested in it. It is permanent if
    /// `own` is.
    ASIO_RETRY_DECL static verdict timed_out(verdict const& own);

    /// Whether the attempt succeeded.
    bool succeeded() const noexcept { return !failed_; }
    /// Whether it completed with a value that `fail_if` calls a failure.
    bool is_rejected() const noexcept { return own_kind_ != failure_kind::none && !is_classified_; }

    /// The kind by `fail_if` or `failure_of`; none if the code has to say it.
    failure_kind own_kind() const noexcept { return own_kind_; }

    /// With such a kind: the possible effect of the attempt at the server.
    asio_retry::effect own_effect() const noexcept { return own_effect_; }

    /// The server's wish about retries, by a judgement of `fail_if`.
    pushback const& said() const noexcept { return said_; }

    /// The status of the HTTP response, by a judgement of `fail_if`; 0: none.
    int status() const noexcept { return status_; }

    /// Whether the attempt failed with a permanent error; `error` and `exception` are then the inner ones.
    bool is_permanent() const noexcept { return permanent_; }

    /// For `timed_out`: whether the attempt ended with operation_aborted, as after a mere cancellation.
    bool was_aborted() const noexcept { return aborted_; }

    /// The failure's code; for an exception the one that `code_of` finds in it.
    error_code const& error() const noexcept { return error_; }

    /// Null unless the attempt failed with an exception.
    std::exception_ptr const& exception() const noexcept { return exception_; }

private:
    verdict() noexcept {}

    bool failed_ = false;
    bool permanent_ : 1 = false;
    bool aborted_ : 1 = false;
    bool is_classified_ : 1 = false; // by failure_of, and not rejected
    failure_kind own_kind_ = failure_kind::none;
    asio_retry::effect own_effect_ = asio_retry::effect::possible;
    int status_ = 0;
    error_code error_;
    std::exception_ptr exception_;
    pushback said_;
};

} // namespace asio_retry
