#pragma once

#include <asio_retry/detail/policy/config.hpp>
#include <asio_retry/duration.hpp>

#include <chrono>
#include <string_view>

namespace asio_retry {

/// A server's wish about retries: none, not before some time has passed, or no retry at all.
class pushback {
public:
    /// The server said nothing.
    constexpr pushback() noexcept = default;

    /// No retry before `delay` has passed. Throws std::invalid_argument if it is negative.
    ASIO_RETRY_DECL static pushback after(saturating_duration delay);

    /// No retry at all.
    static constexpr pushback never() noexcept { return pushback(duration(-2)); }

    /// Whether the server said something.
    constexpr explicit operator bool() const noexcept { return said_ != duration(-1); }

    /// Whether it was `never`.
    constexpr bool forbids() const noexcept { return said_ == duration(-2); }

    /// The delay of `after`, and otherwise zero.
    constexpr duration delay() const noexcept { return said_ < duration::zero() ? duration::zero() : said_; }

    friend constexpr bool operator==(pushback const&, pushback const&) noexcept = default;

private:
    constexpr explicit pushback(duration said) noexcept
        : said_(said) {}

    duration said_ = duration(-1); // or -2 for never
};

/// How to answer a server that asks for a longer delay than the policy's limit.
enum class over_limit : unsigned char {
    stop,   ///< give up: a caller who would wait so long is better told now
    clamp,  ///< wait as long as the limit, less a random share (`pushback_spread`)
    ignore, ///< wait as if the server had said nothing
};

// For all of them: spaces and tabs around the text do not count. A number consists of digits, without a sign,
// and saturates at duration::max(). A part of a nanosecond is rounded up. They take any text and never throw.
// Text that cannot be read says nothing, except in gRPC's field.

/// Reads the HTTP field `Retry-After`: seconds, also with a fraction such as `0.873`, or a date.
///
/// A date has one of the three forms of HTTP: `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT`
/// or `Sun Nov 6 08:49:37 1994`. A date is compared with `now`, the server's `Date` if you know it. A date in
/// the past is `after(0)`. Any other text says nothing: a sign, a zone other than GMT, a day that does not
/// exist. A leap second is the second after it. The name of the day is not compared with the date. A year of
/// two digits is the one from 49 years ago to 50 years ahead.
///
/// Source: RFC 9110, sections 10.2.3 and 5.6.7. A fraction is beyond it, but servers send it.
ASIO_RETRY_DECL pushback parse_retry_after(std::string_view text,
                                           std::chrono::system_clock::time_point now) noexcept;

/// Reads `retry-after-ms`, `x-ms-retry-after-ms` or `x-amz-retry-after`: milliseconds, such as `1500.5`.
ASIO_RETRY_DECL pushback parse_retry_after_ms(std::string_view text) noexcept;

/// Reads `X-RateLimit-Reset`, `X-RateLimit-Reset-After`, `RateLimit-Reset` and such: seconds, also as `1.5`.
///
/// Servers do not agree about these fields. A number below 1 000 000 000 is the time from now on. Any other
/// number is the time since 1970 in UTC, of a year from 2001 on, and is compared with `now`. It is in seconds
/// below 100 000 000 000, and in milliseconds from there on. A time in the past is `after(0)`. Use it after a
/// 429 or 503 only: other answers have the field too, and ask for no delay.
ASIO_RETRY_DECL pushback parse_rate_limit_reset(std::string_view text,
                                                std::chrono::system_clock::time_point now) noexcept;

/// Reads `RateLimit`: `limit=1, remaining=0, reset=91` (draft 07) or `"a";r=0;t=91` (from 08 on), in seconds.
///
/// Only a policy with nothing left says something: `remaining` or `r` is 0. Of several the longest `reset` or
/// `t` counts; join the lines of the field with commas. A second `remaining` or `reset` begins the next policy.
/// Other members and parameters do not count. A policy without one of its numbers says nothing. The whole text
/// says nothing if a string or an inner list is open, a number is none, or it mixes both forms. Use it after a
/// 429 or 503 only: other answers have the field too, and ask for no delay.
///
/// Source: draft-ietf-httpapi-ratelimit-headers-07, and -08 and later; RFC 9651, 3 and 4.2. By the RFC the last
/// of two members with one name would count. Then one line would hide the other.
ASIO_RETRY_DECL pushback parse_rate_limit(std::string_view text) noexcept;

/// Reads gRPC's `grpc-retry-pushback-ms`: whole milliseconds of an int32.
///
/// Any other text, a negative number too, is `never`. If the field is absent, the server said nothing: do not
/// call this then. Source: gRFC A6.
ASIO_RETRY_DECL pushback parse_grpc_pushback(std::string_view text) noexcept;

} // namespace asio_retry
