#pragma once

#include <asio_retry/detail/policy/config.hpp>
#include <asio_retry/error.hpp>

#include <boost/system/system_error.hpp>

#include <exception>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

namespace asio_retry {

/// The exception of `fail_if(operation, predicate).or_error()`, with the last value that the predicate
/// rejected.
///
/// It comes where the completion carries an exception_ptr. Its code is `error::exhausted`, whatever ended the
/// operation: the number of attempts, a time limit, a retry budget, or a permanent value.
///
/// Lifetimes: copies share the value.
///
/// Thread safety: two threads may use one copy, or the values of two copies, at once only if neither changes
/// the value.
template <typename T>
class ASIO_RETRY_DECL_TEMPLATE exhausted_error : public boost::system::system_error {
public:
    /// Holds the value of the last attempt.
    explicit exhausted_error(T given_value)
        : system_error(make_error_code(error::exhausted), "fail_if rejects the last result")
        , value_(std::make_shared<T>(std::move(given_value))) {}

    /// The value of the last attempt; a tuple if there are several. A handler may move it away.
    T& value() const noexcept { return *value_; }

private:
    std::shared_ptr<T> value_;
};

namespace detail {

template <typename... Values>
std::exception_ptr exhausted_with(Values&&... values) noexcept {
    try {
        if constexpr (sizeof...(Values) == 1)
            return std::make_exception_ptr(exhausted_error<std::decay_t<Values>...>(std::move(values)...));
        else
            return std::make_exception_ptr(
                exhausted_error<std::tuple<std::decay_t<Values>...>>({std::move(values)...}));
    } catch (...) {
        return std::current_exception();
    }
}

} // namespace detail

} // namespace asio_retry
