#pragma once

#include <asio_retry/detail/policy/thrown_predicate.hpp>
#include <asio_retry/error.hpp>
#include <asio_retry/failure_class.hpp>
#include <asio_retry/retry_event.hpp>
#include <asio_retry/retry_settings.hpp>

#include <boost/system/error_condition.hpp>

#include <concepts>
#include <exception>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

namespace asio_retry::detail {

/// Evaluation stops at the first match, so a generic predicate need not compile for the others.
template <typename F>
concept failure_judge = std::predicate<F&, error_code const&> ||
                        std::predicate<F&, std::exception_ptr const&> || std::predicate<F&, retry_event const&>;

/// Whether `retry_if`, `when` and `max_attempts_when` take it. With a type E it must be a predicate of such
/// exceptions.
template <typename E, typename Predicate>
inline constexpr bool judges_failures = std::predicate<std::decay_t<Predicate>&, E const&>;
template <typename Predicate>
inline constexpr bool judges_failures<void, Predicate> = failure_judge<std::decay_t<Predicate>>;

/// Whether it is a kind of failure, or a list of kinds.
template <typename T>
inline constexpr bool names_kinds = std::is_convertible_v<T, std::span<failure_kind const>> ||
                                    std::is_same_v<std::remove_cvref_t<T>, failure_kind>;

/// Whether it is an error, and not a predicate of errors.
template <typename E, typename Predicate>
inline constexpr bool is_error_itself =
    !judges_failures<E, Predicate> && (std::is_convertible_v<Predicate, error_code> ||
                                       std::is_convertible_v<Predicate, boost::system::error_condition>);

/// If a predicate could be called in several ways, the first way is taken. Throws std::invalid_argument, naming
/// `field`, if it is empty.
template <typename E, typename Predicate>
retry_settings::predicate failure_predicate(std::string_view field, Predicate&& predicate) {
    using callable = std::decay_t<Predicate>;
    static_assert(!is_error_itself<E, Predicate>,
                  "retry_if, when, max_attempts_when: this is an error and not a predicate; compare "
                  "with it: [](error_code e) { return e == asio::error::try_again; }");
    retry_settings::predicate made;
    if constexpr (!judges_failures<E, Predicate>) {
        // the caller reports what is wrong
    } else if constexpr (!std::is_void_v<E>) {
        made.by_type = {field, thrown_predicate<E, callable>(field, std::forward<Predicate>(predicate))};
    } else if constexpr (std::same_as<callable, any_failure_t>) {
        made.any = true;
    } else if constexpr (std::predicate<callable&, error_code const&>) {
        made.by_code = {field, std::forward<Predicate>(predicate)};
    } else if constexpr (std::predicate<callable&, std::exception_ptr const&>) {
        made.by_exception = {field, std::forward<Predicate>(predicate)};
    } else {
        made.by_event = {field, std::forward<Predicate>(predicate)};
    }
    return made;
}

/// A predicate of failures of these kinds. Throws std::invalid_argument, naming `field`, if there is none, and
/// for a kind that is never retried.
ASIO_RETRY_DECL retry_settings::predicate kind_predicate(std::string_view field,
                                                         std::span<failure_kind const> kinds);

} // namespace asio_retry::detail
