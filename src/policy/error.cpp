#include <asio_retry/error.hpp>

#include "policy/system_codes.hpp"
#include "policy/thrown_as.hpp"

#include <asio_retry/permanent.hpp>

#include <boost/system/system_error.hpp>

#include <new>
#include <string>
#include <system_error>
#include <type_traits>

namespace asio_retry {
namespace {

std::string message_of(error e) {
    switch (e) {
    case error::operation_threw:
        return "the operation threw an exception that carries no error code";
    case error::result_rejected:
        return "fail_if rejected the result of the operation";
    case error::predicate_threw:
        return "a predicate (of retry_if, fail_if, when or max_attempts_when, or classify) threw an exception";
    case error::backoff_threw:
        return "the backoff threw an exception, or returned a negative duration";
    case error::jitter_threw:
        return "the jitter threw an exception, or returned a negative duration";
    case error::hook_threw:
        return "a hook (on_retry, on_success, on_give_up or on_hedge, or one of with_hooks) threw an exception";
    case error::exhausted:
        return "retrying has ended without success";
    case error::attempt_refused:
        return "a gate refused the attempt";
    case error::circuit_open:
        return "the circuit breaker is open";
    case error::client_throttled:
        return "the client throttles itself: the server accepts too few of its requests";
    case error::too_many_in_flight:
        return "too many attempts are in flight";
    case error::cooling_down:
        return "the server has asked clients to wait, and that time is not over";
    case error::rate_limited:
        return "the rate limit lets no attempt begin now";
    }
    return "unknown asio_retry error";
}

/// The condition that an error belongs to; 0 for none.
int condition_of(error e) noexcept {
    switch (e) {
    case error::operation_threw:
    case error::result_rejected:
    case error::exhausted:
        return 0;
    case error::predicate_threw:
    case error::backoff_threw:
    case error::jitter_threw:
    case error::hook_threw:
        return static_cast<int>(condition::callback_threw);
    case error::attempt_refused:
    case error::circuit_open:
    case error::client_throttled:
    case error::too_many_in_flight:
    case error::cooling_down:
    case error::rate_limited:
        return static_cast<int>(condition::refused);
    }
    return 0;
}

class error_category_impl final : public boost::system::error_category {
public:
    char const* name() const noexcept override { return "asio_retry"; }
    std::string message(int value) const override { return message_of(static_cast<error>(value)); }
};

class condition_category_impl final : public boost::system::error_category {
public:
    char const* name() const noexcept override { return "asio_retry.condition"; }
    std::string message(int value) const override {
        switch (static_cast<condition>(value)) {
        case condition::callback_threw:
            return "a callback given to the retry policy threw an exception";
        case condition::refused:
            return "a gate refused the attempt";
        }
        return "unknown asio_retry condition";
    }
    bool equivalent(error_code const& code, int value) const noexcept override {
        return value != 0 && code.category() == asio_retry::error_category() &&
               condition_of(static_cast<error>(code.value())) == value;
    }
};

} // namespace

boost::system::error_category const& error_category() noexcept {
    static error_category_impl const instance;
    return instance;
}

boost::system::error_category const& condition_category() noexcept {
    static condition_category_impl const instance;
    return instance;
}

error_code detail::timed_out_error() noexcept {
    return error_code(system_codes::timed_out, boost::system::system_category());
}

error_code detail::no_memory_error() noexcept {
    return error_code(system_codes::no_memory, boost::system::system_category());
}

error_code detail::no_buffer_space_error() noexcept {
    return error_code(system_codes::no_buffer_space, boost::system::system_category());
}

error_code detail::aborted_error() noexcept {
    return error_code(system_codes::aborted, boost::system::system_category());
}

error_code code_of(std::exception_ptr const& e) {
    // An exception is a failure, even if it carries the code of a success.
    auto const failed = [](error_code const& code) { return code ? code : error::operation_threw; };
    if (auto const* const failure = detail::thrown_as<permanent_error>(e))
        return failed(failure->code());
    if (auto const* const failure = detail::thrown_as<boost::system::system_error>(e))
        return failed(detail::find_permanent(failure->code()).value_or(failure->code()));
    if (auto const* const failure = detail::thrown_as<std::system_error>(e))
        return failed(detail::unwrapped(failure->code()));
    return detail::thrown_as<std::bad_alloc>(e) ? detail::no_memory_error()
                                                : make_error_code(error::operation_threw);
}

bool detail::wraps_standard(error_code const& code) noexcept {
    if constexpr (std::is_same_v<error_code, std::error_code>) {
        return false;
    } else {
        static auto const* const of_wrapped =
            &error_code(std::error_code(1, std::generic_category())).category();
        return code.category() == *of_wrapped;
    }
}

error_code detail::unwrapped(error_code const& code) noexcept {
    if (!wraps_standard(code))
        return code;
    std::error_code const standard = code;
    if (standard.category() == std::system_category())
        return error_code(standard.value(), boost::system::system_category());
    if (standard.category() == std::generic_category())
        return error_code(standard.value(), boost::system::generic_category());
    return code;
}

std::exception_ptr detail::exception_of(error_code const& code) noexcept {
    try {
        return std::make_exception_ptr(boost::system::system_error(code));
    } catch (...) {
        return std::current_exception();
    }
}

std::exception_ptr detail::exception_of(error_code const& code, std::exception_ptr const& own) noexcept {
    try {
        try {
            std::rethrow_exception(own);
        } catch (...) {
            std::throw_with_nested(boost::system::system_error(code));
        }
    } catch (...) {
        return std::current_exception();
    }
}

} // namespace asio_retry
