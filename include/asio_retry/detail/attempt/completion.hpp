#pragma once

#include <asio_retry/detail/attempt/disposition.hpp>
#include <asio_retry/detail/handler/late_completion.hpp>
#include <asio_retry/error.hpp>
#include <asio_retry/failure_class.hpp>
#include <asio_retry/retry_machine.hpp>
#include <asio_retry/verdict.hpp>

#include <exception>
#include <optional>
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
/// One that already says the code remains as it is.
template <disposition Disposition>
void set_failure(Disposition& to, error_code const& code, std::exception_ptr const& thrown) {
    if (!disposition_access<Disposition>::says(to, code))
        to = disposition_access<Disposition>::make(code, thrown);
}

/// Defined in exhausted_error.hpp, which comes with `fail_if`.
template <typename... Values>
std::exception_ptr exhausted_with(Values&&... values) noexcept;

/// What a completion signature says about success and failure.
template <typename Signature>
struct completion {
    static constexpr bool has_error = false;
    static constexpr bool has_defaults = true;
    static constexpr bool is_complete = false;
    static consteval auto assert_complete() {}
};

template <typename Failure, typename... Values>
    requires carried_failure<std::remove_cvref_t<Failure>> ||
             std::is_same_v<std::remove_cvref_t<Failure>, std::exception_ptr>
struct completion<void(Failure, Values...)> {
    static constexpr bool has_error = true;
    static constexpr bool has_defaults = (std::is_default_constructible_v<std::decay_t<Values>> && ...);

    using failure_type = std::remove_cvref_t<Failure>;
    using arguments = std::tuple<failure_type, std::decay_t<Values>...>;

    static constexpr bool has_disposition = disposition<failure_type>;
    static constexpr bool is_complete = [] {
        if constexpr (has_disposition)
            return disposition_access<failure_type>::is_complete;
        else
            return true;
    }();

    /// Reports what a disposition lacks.
    static consteval auto assert_complete() {
        if constexpr (has_disposition)
            disposition_access<failure_type>::assert_complete();
    }

    /// Makes a result with an error and default values.
    static arguments failed(error_code const& code, std::exception_ptr const& thrown) {
        if constexpr (has_disposition) {
            return with(disposition_access<failure_type>::make(code, thrown));
        } else {
            arguments result;
            detail::set_failure(std::get<0>(result), code, thrown);
            return result;
        }
    }

    /// Makes a result with this disposition and default values.
    static arguments with(failure_type&& failure) {
        return arguments(std::move(failure), std::decay_t<Values>()...);
    }

    static arguments from_exception(std::exception_ptr const& thrown) {
        if constexpr (std::is_same_v<failure_type, std::exception_ptr>)
            return failed(error_code(), thrown);
        else
            return failed(completion_code_of(thrown), thrown);
    }

    /// Ends the operation with an exception; `from_exception` has made `result` of it.
    static retry_action on_exception(retry_machine& machine, arguments const& result) {
        auto const& failure = std::get<0>(result);
        if constexpr (has_disposition)
            return machine.on_exception(disposition_access<failure_type>::verdict_on(failure).error(), nullptr);
        else if constexpr (std::is_same_v<failure_type, error_code>)
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
            detail::set_failure(std::get<0>(result), action.error, action.thrown);
    }

    static bool is_failure(arguments const& result) noexcept {
        if constexpr (has_disposition)
            return disposition_access<failure_type>::failed(std::get<0>(result));
        else if constexpr (std::is_same_v<failure_type, error_code>)
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
    static verdict verdict_on(arguments const& result) {
        if constexpr (has_disposition)
            return disposition_access<failure_type>::verdict_on(std::get<0>(result));
        else
            return verdict::failure(std::get<0>(result));
    }
};

/// A result of an attempt. One with a disposition knows whether it is set.
template <typename Completion>
using kept_result =
    std::conditional_t<Completion::has_disposition, std::optional<typename Completion::arguments>,
                       late_value<typename Completion::arguments>>;

/// Keeps the disposition of a result that is destroyed before a wait. If the operation ends with that failure,
/// the caller gets the disposition itself.
template <typename Completion, bool = Completion::has_disposition>
class last_failure {
public:
    template <typename Result>
    void keep(Result&) noexcept {}
    typename Completion::arguments failed(error_code const& code, std::exception_ptr const& thrown) {
        return Completion::failed(code, thrown);
    }
};
template <typename Completion>
class last_failure<Completion, true> {
    using failure_type = typename Completion::failure_type;

public:
    template <typename Result>
    void keep(Result& result) noexcept {
        kept_.reset();
        if (result && Completion::is_failure(*result))
            kept_.emplace(std::move(std::get<0>(*result)));
    }
    typename Completion::arguments failed(error_code const& code, std::exception_ptr const& thrown) {
        if (kept_ && disposition_access<failure_type>::says(*kept_, code))
            return Completion::with(std::move(*kept_));
        return Completion::failed(code, thrown);
    }

private:
    std::optional<failure_type> kept_;
};

} // namespace asio_retry::detail
