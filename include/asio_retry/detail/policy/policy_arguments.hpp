#pragma once

#include <asio_retry/backoff.hpp>
#include <asio_retry/detail/policy/refuse.hpp>
#include <asio_retry/error.hpp>
#include <asio_retry/failure_class.hpp>
#include <asio_retry/jitter.hpp>
#include <asio_retry/retry_event.hpp>
#include <asio_retry/retry_settings.hpp>

#include <boost/system/error_condition.hpp>

#include <concepts>
#include <cstddef>
#include <exception>
#include <functional>
#include <iterator>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

namespace asio_retry::detail {

template <typename E, typename Predicate>
class thrown_predicate {
public:
    /// Throws std::invalid_argument, naming `field`, if the predicate is empty.
    template <typename From>
    thrown_predicate(std::string_view field, From&& predicate)
        : predicate_(std::forward<From>(predicate)) {
        detail::refuse_if_empty(field, predicate_);
    }

    std::optional<bool> operator()(std::exception_ptr const& thrown) {
        std::optional<bool> answer;
        if (E const* const found = find(thrown))
            answer = static_cast<bool>(std::invoke(predicate_, *found));
        return answer;
    }

private:
    /// The exception lives as long as `thrown`, since libstdc++ and libc++ rethrow the object itself.
    static E const* find(std::exception_ptr const& thrown) {
        try {
            std::rethrow_exception(thrown);
        } catch (E const& e) {
            return std::addressof(e);
        } catch (...) {
            return nullptr;
        }
    }

    Predicate predicate_;
};

/// Evaluation stops at the first match, so a generic predicate need not compile for the others.
template <typename F>
concept failure_judge = std::predicate<F&, error_code const&> ||
                        std::predicate<F&, std::exception_ptr const&> || std::predicate<F&, retry_event const&>;

/// Whether `retry_if`, `when` and `max_attempts_when` take it: with a type E, a predicate of such exceptions.
template <typename E, typename Predicate>
inline constexpr bool judges_failures = std::predicate<std::decay_t<Predicate>&, E const&>;
template <typename Predicate>
inline constexpr bool judges_failures<void, Predicate> = failure_judge<std::decay_t<Predicate>>;

template <typename T>
concept list_of_kinds = requires(T const& kinds) {
    { std::data(kinds) } -> std::convertible_to<failure_kind const*>;
    { std::size(kinds) } -> std::convertible_to<std::size_t>;
};
template <typename T>
inline constexpr bool names_kinds =
    list_of_kinds<std::remove_cvref_t<T>> || std::is_same_v<std::remove_cvref_t<T>, failure_kind>;

/// Whether `Predicate` is an error, and no predicate of errors.
template <typename E, typename Predicate>
inline constexpr bool is_error_itself =
    !judges_failures<E, Predicate> && (std::is_convertible_v<Predicate, error_code> ||
                                       std::is_convertible_v<Predicate, boost::system::error_condition>);

/// A predicate that could be called in several ways gets an error_code, else an exception_ptr, else an event.
/// Throws std::invalid_argument, naming `field`, if the predicate is empty.
template <typename E, typename Predicate>
retry_settings::predicate failure_predicate(std::string_view field, Predicate&& predicate) {
    using callable = std::decay_t<Predicate>;
    static_assert(!is_error_itself<E, Predicate>,
                  "retry_if, when, max_attempts_when: this is an error and not a predicate; compare "
                  "with it: [](error_code e) { return e == asio::error::try_again; }");
    retry_settings::predicate made;
    if constexpr (!judges_failures<E, Predicate>) {
        // the caller reports the mistake
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
ASIO_RETRY_DECL retry_settings::predicate kind_predicate(std::string_view field, failure_kind const* kinds,
                                                         std::size_t count);

/// Whether F is a function that makes a `Made`, and was passed without a call.
template <typename F, typename Made>
inline constexpr bool is_maker_of = false;
template <typename Made, typename... Args>
inline constexpr bool is_maker_of<Made (*)(Args...), Made> = true;

/// Whether one of the first assertions below explains why `Other` is no `Wanted`.
template <typename Other, typename Wanted, typename Sibling>
inline constexpr bool is_known_mistake = is_maker_of<std::decay_t<Other>, Wanted> || is_duration<Other> ||
                                         is_number<Other> || std::same_as<std::remove_cvref_t<Other>, Sibling>;

/// Reports why the argument is no backoff. `auto`: the function is instantiated, so its message comes first.
template <typename Other>
auto explain_backoff() {
    static_assert(!is_maker_of<std::decay_t<Other>, backoff>,
                  "backoff: this function makes a backoff: call it, as in exponential(100ms)");
    static_assert(!is_duration<Other>,
                  "backoff: a duration alone has no shape: constant(100ms) or exponential(100ms)");
    static_assert(!is_number<Other>,
                  "backoff: a number is no delay, and needs a unit and a shape: constant(100ms) or "
                  "exponential(100ms)");
    static_assert(!std::same_as<std::remove_cvref_t<Other>, jitter>,
                  "backoff: this is a jitter, which is set by jitter(...)");
    static_assert(is_known_mistake<Other, backoff, jitter>,
                  "backoff: it must be called, as an lvalue, with a std::uint64_t and return a duration");
}

template <typename Other>
auto explain_jitter() {
    static_assert(!is_maker_of<std::decay_t<Other>, jitter>,
                  "jitter: this function makes a jitter: call it, as in equal_jitter()");
    static_assert(!is_duration<Other>,
                  "jitter: a duration alone says no jitter: additive_jitter(100ms) or symmetric_jitter(100ms)");
    static_assert(!is_number<Other>, "jitter: a number alone says no jitter: proportional_jitter(0.1)");
    static_assert(!std::same_as<std::remove_cvref_t<Other>, backoff>,
                  "jitter: this is a backoff, which is set by backoff(...)");
    static_assert(
        is_known_mistake<Other, jitter, backoff>,
        "jitter: it must be called, as an lvalue, with a backoff_step and a random& and return a duration");
}

/// The index of the policy among the arguments; their number if there is none.
template <typename Policy, typename... Args>
inline constexpr std::size_t policy_place = [] {
    constexpr bool is_policy[] = {std::convertible_to<Args, Policy>..., true};
    std::size_t place = 0;
    while (!is_policy[place])
        ++place;
    return place;
}();

/// Whether a policy of another kind is among the arguments.
template <typename Other, typename... Args>
inline constexpr bool has_policy = (std::same_as<std::remove_cvref_t<Args>, Other> || ...);

} // namespace asio_retry::detail
