#pragma once

#include <asio_retry/detail/policy/config.hpp>
#include <asio_retry/detail/policy/shared.hpp>
#include <asio_retry/duration.hpp>
#include <asio_retry/error.hpp>
#include <asio_retry/retry_observer.hpp>
#include <asio_retry/stop_reason.hpp>

#include <concepts>
#include <cstdint>
#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace asio_retry {

/// How much a line matters.
enum class log_level : unsigned char {
    debug,   ///< nothing is wrong: an attempt is slow, a gate does its work, or a retry has succeeded
    info,    ///< the caller or a scope cancelled the operation
    warning, ///< an attempt failed, and another follows
    error,   ///< the operation gave up
};

/// One line of a log.
struct log_line {
    /// What a line tells of.
    enum class kind : unsigned char {
        retry,     ///< an attempt failed, and another follows after `delay`
        hedge,     ///< a further attempt of a hedge began
        refused,   ///< a gate refused a retry or an attempt
        held,      ///< a gate lets an attempt begin later
        succeeded, ///< the operation succeeded after more than one attempt
        gave_up,   ///< the operation ended without a success
    };

    kind what = kind::gave_up;                   ///< what it tells of
    log_level level = log_level::error;          ///< how much it matters
    std::uint64_t operation = 0;                 ///< the operation's number
    std::uint64_t attempt = 0;                   ///< the attempt's number; at the end, how many were made
    error_code error;                            ///< error of the failure or the refusal
    std::string message;                         ///< the error in words: UTF-8 without control characters
    duration delay{};                            ///< the wait before a retry, or until a reserved time
    duration took{};                             ///< since the operation began, of `hedge` and of an end
    stop_reason reason = stop_reason::succeeded; ///< why the operation gave up
    std::string_view gate;                       ///< gate that refused, held, or ended the operation
    bool is_hedge = false;                       ///< the operation is an `async_hedge`
    std::string policy;                          ///< `retry_policy::name`; empty without one
};

/// The name of the level.
ASIO_RETRY_DECL std::string_view to_string(log_level level) noexcept;
/// Writes the name of the level.
ASIO_RETRY_DECL std::ostream& operator<<(std::ostream& out, log_level level);
/// The enumerator's name.
ASIO_RETRY_DECL std::string_view to_string(log_line::kind what) noexcept;
/// Writes the enumerator's name.
ASIO_RETRY_DECL std::ostream& operator<<(std::ostream& out, log_line::kind what);

/// The line, without its level and without a line break.
///
/// "operation 17, attempt 2: Connection refused; retry in 50 ms", "operation 17, attempt 3: HTTP 503; gave up
/// after 1.2 s: attempts". The name of the policy comes first: "orders.get, operation 17, attempt 2: ...".
ASIO_RETRY_DECL std::string to_string(log_line const& line);
/// Writes the line as `to_string` does.
ASIO_RETRY_DECL std::ostream& operator<<(std::ostream& out, log_line const& line);

namespace detail {
ASIO_RETRY_DECL std::shared_ptr<retry_observer> make_log_observer(shared_function<void(log_line const&)> sink,
                                                                  log_level least);
} // namespace detail

/// An observer that calls `sink(log_line const&)` for each retry and for each operation that gives up.
///
/// It leaves out lines below the level `least`. At `debug` it also tells of hedges, refusals, waits for gates
/// and successes. A line is lost if the sink throws or memory is short. Throws std::invalid_argument for an
/// empty sink. Thread safety: every thread that runs an operation calls the sink, without a lock.
template <typename Sink>
[[nodiscard]] std::shared_ptr<retry_observer> log_observer(Sink&& sink, log_level least = log_level::info) {
    constexpr bool takes_line = std::invocable<std::decay_t<Sink>&, log_line const&>;
    static_assert(takes_line, "log_observer: the sink must take a log_line const&");
    if constexpr (takes_line)
        return detail::make_log_observer({"log_observer.sink", std::forward<Sink>(sink)}, least);
}

} // namespace asio_retry
