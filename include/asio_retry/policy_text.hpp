#pragma once

#include <asio_retry/backoff.hpp>
#include <asio_retry/detail/policy/config.hpp>
#include <asio_retry/jitter.hpp>
#include <asio_retry/retry_policy.hpp>

#include <cstddef>
#include <iosfwd>
#include <stdexcept>
#include <string>
#include <string_view>

namespace asio_retry {

// Policies as text, such as
//
//   exponential(base=500ms, factor=1.5, cap=1min) proportional_jitter(0.5) max_attempts(10) max_elapsed(15min)
//
// Items in any order, separated by white space. An item is a name of C++, its arguments in parentheses: in
// their order, then by name.
//
//   backoff   every function of backoff.hpp, with the names of its parameters there; each takes `cap`.
//             schedule(1s, 2s, 4s) takes any number of delays. A backoff inside another is an item itself:
//             chained(linear(1s, 1s), 5, then=constant(1min))
//   jitter    every function of jitter.hpp; each takes `unit`, `at_least`, `cap` and `beyond_cap=true`
//   setting   max_attempts(10), unlimited_attempts(), max_elapsed(15min), max_waited(5min),
//             attempt_timeout(5s), set_up_within(10s), idle_timeout(30s), total_timeout(1min),
//             reset_after(30s), clamp(), deliver_at_once(), allow_total_cancellation(),
//             retry_when_nested(), retry_sent(false), any_failure() for retry_if(any_failure),
//             retry_if(timeout, overloaded), which takes any number of kinds of failure (transient, timeout,
//             throttled, overloaded), when(throttled, exponential(1s)) and max_attempts_when(timeout, 2), which
//             may be repeated, wait_when_refused(), pushback_limit(30s), which takes `clamp=true` or
//             `ignore=true`, pushback_spread(0.2), and deadline(3h): the time since the epoch of the steady
//             clock, which means something in this process only
//   profile   the name of one, such as celery(), as the first item; later items change it
//
// A text that is nothing but the name of a profile, such as celery, is that profile.
//
// What is given twice is an error, but for when and max_attempts_when.
//
// A duration is a whole or decimal number and one of ns, us, ms, s, min and h, without a space between. It is
// exact: what is not a whole number of nanoseconds is an error. A point is a point in every locale.
//
// Callables cannot be written. In their place stand custom_backoff(<callable>), custom_jitter(<callable>),
// retry_if(<callable>), when(<callable>, ...), max_attempts_when(<callable>, ...), classify(<callable>),
// on_retry(<callable>), on_success(<callable>), on_give_up(<callable>), gate(<gate>), observe(<observer>) and,
// for what a nested policy takes from outside, nested_in(<attempt>). Reading these is an error.

/// Says what was found in a text or in JSON, where, and what was expected there.
class ASIO_RETRY_DECL policy_syntax_error : public std::invalid_argument {
public:
    /// For the functions that read policies.
    policy_syntax_error(std::size_t position, std::string const& message);

    /// How many bytes of the text precede the fault; std::string_view::npos for JSON, where the message has the
    /// path to it instead.
    std::size_t position() const noexcept { return position_; }

private:
    std::size_t position_;
};

/// Durations in their largest unit that divides them, numbers in as few digits as tell them from others. Equal
/// texts mean equal objects, callables aside.
ASIO_RETRY_DECL std::string to_string(backoff const& shape);
/// The same.
ASIO_RETRY_DECL std::string to_string(jitter const& kind);

/// The backoff, the jitter, the greatest number of attempts, and whatever else is set. `parse_policy` reads it,
/// unless the policy has callables.
ASIO_RETRY_DECL std::string to_string(retry_policy const& policy);
/// Writes it.
ASIO_RETRY_DECL std::ostream& operator<<(std::ostream& out, retry_policy const& policy);

/// What the text does not mention is as in `retry_policy()`, or in the profile that it begins with. Throws
/// policy_syntax_error if the text is not of the form above, names something twice, or asks for what the
/// function of C++ refuses.
ASIO_RETRY_DECL retry_policy parse_policy(std::string_view text);

} // namespace asio_retry
