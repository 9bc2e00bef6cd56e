#pragma once

#include <asio_retry/detail/attempt/completion.hpp>
#include <asio_retry/detail/attempt/operation_form.hpp>
#include <asio_retry/detail/policy/refuse.hpp>
#include <asio_retry/exhausted_error.hpp>
#include <asio_retry/failure_class.hpp>

#include <functional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace asio_retry::detail {

template <typename Predicate, typename Arguments>
inline constexpr bool can_judge = false;
template <typename Predicate, typename Failure, typename... Values>
inline constexpr bool can_judge<Predicate, std::tuple<Failure, Values...>> =
    std::is_invocable_r_v<bool, Predicate&, Values const&...> ||
    std::is_invocable_r_v<judgement, Predicate&, Values const&...>;

/// Translates the answer of a predicate.
template <typename Answer>
judgement judged_as(Answer&& answer) {
    judgement judged;
    if constexpr (std::is_convertible_v<Answer, judgement>)
        judged = std::forward<Answer>(answer);
    else
        judged.failed = static_cast<bool>(std::forward<Answer>(answer));
    judged.failed = judged.failed && judged.what.kind != failure_kind::none;
    return judged;
}

/// A judged operation that ends with an error instead of a value that stays a failure. Made by `or_error`.
template <typename Judged>
class [[nodiscard("this starts nothing: give it to async_retry or retry")]] erring_operation
    : public wrapping_operation<Judged> {
public:
    using wrapping_operation<Judged>::wrapping_operation;
};

/// An operation whose successful results a predicate judges. Made by `fail_if`.
template <typename Operation, typename Predicate>
class [[nodiscard("this starts nothing: give it to async_retry or retry")]] judged_operation
    : public wrapping_operation<Operation> {
public:
    /// For `fail_if`.
    judged_operation(Operation given_operation, Predicate predicate)
        : wrapping_operation<Operation>(std::move(given_operation))
        , predicate_(std::move(predicate)) {}

    /// Makes a value that stays a failure end the operation with `error::exhausted`.
    ///
    /// An `error_code` has the values beside it. An exception is an `exhausted_error`, which has them inside.
    [[nodiscard]] erring_operation<judged_operation> or_error() && {
        return erring_operation<judged_operation>(std::move(*this));
    }
    /// Makes a copy whose value, if it stays a failure, ends the operation with `error::exhausted`.
    [[nodiscard]] erring_operation<judged_operation> or_error() const& {
        return judged_operation(*this).or_error();
    }

private:
    friend struct operation_form<judged_operation>;

    Predicate predicate_;
};

/// What `or_error` makes of it is destroyed twice with it.
template <typename Operation, typename Predicate>
struct temporary_operation<judged_operation<Operation, Predicate>> : judged_operation<Operation, Predicate> {
    using judged = judged_operation<Operation, Predicate>;
    using judged::judged;
    using judged::or_error;

    [[nodiscard]] temporary_operation<erring_operation<judged>> or_error() && {
        return temporary_operation<erring_operation<judged>>(static_cast<judged&&>(*this));
    }
};

} // namespace asio_retry::detail

namespace asio_retry {

/// Makes `predicate(values...) == true` a failure of the operation, which is retried like any other failure.
///
///     async_retry(fail_if(operation, predicate), policy)
///
/// `operation` is of any form that `async_retry` takes. The predicate receives the values of its successful
/// completion, and returns a bool or a `judgement`, such as `judge_http(status, retry_after)`. A judgement has
/// the meaning of the failure, and the server's wish about retries. A `permanent` failure is delivered at once.
/// A judgement that failed with the kind `none` has not failed. `true` means `transient`.
///
/// A rejected value is retried whatever `retry_if` says, unless it is permanent or `retry_sent(false)` forbids
/// it. After the last attempt the value is delivered as it is, or, with
/// `fail_if(operation, predicate).or_error()`, as an error. An `error_code` is then `error::exhausted` and has
/// the values beside it. An exception is an `exhausted_error`, which has them inside.
///
/// After a time limit has cancelled the attempt, a rejected value is a `timed_out`, like every other failure
/// then, and `retry_if` is asked about that. If the completion has an error code, the values are delivered
/// beside it.
///
/// Throws std::invalid_argument if operation or predicate is an empty std::function or a null pointer.
template <typename Operation, typename Predicate>
detail::wrapper<detail::judged_operation, Operation, Predicate> fail_if(Operation&& operation,
                                                                        Predicate&& predicate) {
    detail::refuse_if_empty("fail_if.operation", operation);
    detail::refuse_if_empty("fail_if.predicate", predicate);
    return {std::forward<Operation>(operation), std::forward<Predicate>(predicate)};
}

/// Explains in a compiler error that an argument is an overloaded function.
ASIO_RETRY_REFUSES_OVERLOADED("fail_if: it takes an operation and a predicate, and no overloaded function")
void fail_if(...) ASIO_RETRY_REFUSED;

template <typename Operation, typename Predicate>
struct detail::operation_form<detail::judged_operation<Operation, Predicate>>
    : detail::wrapping_form<Operation> {
    using inner = detail::operation_form<Operation>;
    using judged = judged_operation<Operation, Predicate>;

    static constexpr bool is_usable = [] {
        if constexpr (inner::is_usable)
            return detail::can_judge<Predicate, typename completion<typename inner::signature>::arguments>;
        else
            return false;
    }();

    static consteval auto assert_usable() {
        inner::assert_usable();
        static_assert(is_usable || !inner::is_usable,
                      "fail_if: the predicate must take the values of a successful completion and return bool "
                      "or a judgement");
    }

    static constexpr bool judges_results = true;

    template <typename... Values>
    static judgement rejects(judged& operation, Values const&... values) {
        judgement const first = detail::wrapping_form<Operation>::rejects(operation, values...);
        return first.failed ? first : detail::judged_as(std::invoke(operation.predicate_, values...));
    }
};

template <typename Judged>
struct detail::operation_form<detail::erring_operation<Judged>> : detail::wrapping_form<Judged> {
    static constexpr bool names_rejected = true;
    static constexpr bool prepares = true;

    static void prepare(erring_operation<Judged>& operation, retry_machine& machine) {
        detail::wrapping_form<Judged>::prepare(operation, machine);
        machine.expect_errors();
    }
};

} // namespace asio_retry
