#pragma once

#include <asio_retry/detail/policy/config.hpp>
#include <asio_retry/error.hpp>
#include <asio_retry/failure_class.hpp>
#include <asio_retry/permanent.hpp>
#include <asio_retry/pushback.hpp>

#include <cassert>
#include <exception>
#include <utility>

namespace asio_retry {

/// What one attempt came to: success, or a failure by error code, by exception or by a rejected result.
class verdict {
public:
    /// The attempt succeeded.
    static verdict success() noexcept { return verdict(); }

    /// Precondition: code is an error.
    static verdict failure(error_code const& code) noexcept {
        assert(code);
        auto const inner = detail::find_permanent(code);
        verdict v;
        v.failed_ = true;
        v.permanent_ = inner.has_value();
        v.error_ = inner.value_or(code);
        return v;
    }

    /// Precondition: e is not null.
    static verdict failure(std::exception_ptr e) {
        assert(e);
        auto const permanent = detail::find_permanent(e);
        verdict v = failure(permanent ? permanent->code() : code_of(e));
        v.permanent_ = permanent.has_value();
        if (permanent)
            v.exception_ = permanent->exception();
        else
            v.exception_ = std::move(e);
        return v;
    }

    /// The same where its code is known and neither has to be looked into; `e` may be null.
    static verdict failure(error_code const& code, std::exception_ptr e) noexcept {
        verdict v = failure(code);
        v.exception_ = std::move(e);
        return v;
    }

    /// The operation succeeded with a value that `fail_if` calls a failure.
    static verdict rejected(judgement const& why = {}) noexcept {
        verdict v = failure(make_error_code(asio_retry::error::result_rejected));
        v.rejected_ = why.what.kind;
        v.rejected_effect_ = why.what.effect;
        v.said_ = why.said;
        v.status_ = why.status;
        return v;
    }

    /// The verdict on an attempt that had reached its time limit and been told to stop, and that then came to
    /// `own`: `timed_out`, with the attempt's own exception, if there is one, nested in it. It is permanent if
    /// `own` is.
    ASIO_RETRY_DECL static verdict timed_out(verdict const& own);

    /// Whether it did.
    bool succeeded() const noexcept { return !failed_; }
    /// Whether it completed with a value that `fail_if` calls a failure.
    bool is_rejected() const noexcept { return rejected_ != failure_kind::none; }

    /// What `fail_if` made of a rejected value; none for every other failure.
    failure_kind rejected_as() const noexcept { return rejected_; }

    /// What the attempt may have done at the peer, of a rejected value.
    asio_retry::effect rejected_effect() const noexcept { return rejected_effect_; }

    /// What the peer said about trying again, by a judgement of `fail_if`.
    pushback const& said() const noexcept { return said_; }

    /// The status of the HTTP response, by a judgement of `fail_if`; 0: none.
    int status() const noexcept { return status_; }

    /// The attempt failed with a permanent error, of which `error` and `exception` are what is inside.
    bool is_permanent() const noexcept { return permanent_; }

    /// Of `timed_out`: the attempt came to operation_aborted, as it does when it is merely told to stop.
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
    failure_kind rejected_ = failure_kind::none;
    asio_retry::effect rejected_effect_ = asio_retry::effect::possible;
    int status_ = 0;
    error_code error_;
    std::exception_ptr exception_;
    pushback said_;
};

} // namespace asio_retry
