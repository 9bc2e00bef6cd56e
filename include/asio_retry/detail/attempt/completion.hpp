#pragma once

#include <asio_retry/error.hpp>
#include <asio_retry/failure_class.hpp>
#include <asio_retry/retry_machine.hpp>
#include <asio_retry/verdict.hpp>

#include <exception>
#include <tuple>
#include <type_traits>
#include <utility>

namespace asio_retry::detail {

inline void set_failure(error_code& to, error_code const& code, std::exception_ptr const&) noexcept {
    to = code;
}
inline void set_failure(std::exception_ptr& to, error_code const& code,
                        std::exception_ptr const& thrown) noexcept {
    to = thrown ? thrown : exception_of(code);
}

/// Defined in exhausted_error.hpp, which comes with `fail_if`.
template <typename... Values>
std::exception_ptr exhausted_with(Values&&... values) noexcept;

/// What a completion signature says about success and failure.
template <typename Signature>
struct completion {
    static constexpr bool has_error = false;
    static constexpr bool has_defaults = true;
};

template <typename Failure, typename... Values>
    requires std::is_same_v<std::remove_cvref_t<Failure>, error_code> ||
             std::is_same_v<std::remove_cvref_t<Failure>, std::exception_ptr>
struct completion<void(Failure, Values...)> {
    static constexpr bool has_error = true;
    static constexpr bool has_defaults = (std::is_default_constructible_v<std::decay_t<Values>> && ...);

    using failure_type = std::remove_cvref_t<Failure>;
    using arguments = std::tuple<failure_type, std::decay_t<Values>...>;

    /// Makes a result with an error and default values.
    static arguments failed(error_code const& code, std::exception_ptr const& thrown) {
        arguments result;
        set_failure(std::get<0>(result), code, thrown);
        return result;
    }

    static arguments from_exception(std::exception_ptr const& thrown) {
        if constexpr (std::is_same_v<failure_type, error_code>)
            return failed(completion_code_of(thrown), thrown);
        else
            return failed(error_code(), thrown);
    }

    /// Ends the operation with an exception; `from_exception` has made `result` of it.
    static retry_action on_exception(retry_machine& machine, arguments const& result) {
        auto const& failure = std::get<0>(result);
        if constexpr (std::is_same_v<failure_type, error_code>)
            return machine.on_exception(failure, nullptr);
        else
            return machine.on_exception(code_of(failure), failure);
    }

    /// Replaces the attempt's own error by the error that the machine delivers. Only an operation that judges
    /// results can have a value to put into an exhausted_error.
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
            set_failure(std::get<0>(result), action.error, action.thrown);
    }

    static bool is_failure(arguments const& result) noexcept {
        if constexpr (std::is_same_v<failure_type, error_code>)
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
    static verdict verdict_on(arguments const& result) { return verdict::failure(std::get<0>(result)); }
};

} // namespace asio_retry::detail
