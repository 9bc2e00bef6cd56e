#pragma once

#include <asio_retry/detail/policy/config.hpp>
#include <asio_retry/duration.hpp>

#include <chrono>
#include <string_view>

namespace asio_retry {

/// What a peer said about trying again: nothing, not before some time has passed, or not at all.
class pushback {
public:
    /// Nothing was said.
    constexpr pushback() noexcept = default;

    /// Not before `delay` has passed. Throws std::invalid_argument if it is negative.
    ASIO_RETRY_DECL static pushback after(saturating_duration delay);

    /// Not at all.
    static constexpr pushback never() noexcept { return pushback(duration(-2)); }

    /// Whether something was said.
    constexpr explicit operator bool() const noexcept { return said_ != duration(-1); }

    /// Whether it was `never`.
    constexpr bool forbids() const noexcept { return said_ == duration(-2); }

    /// Zero unless it was `after`.
    constexpr duration delay() const noexcept { return said_ < duration::zero() ? duration::zero() : said_; }

    friend constexpr bool operator==(pushback const&, pushback const&) noexcept = default;

private:
    constexpr explicit pushback(duration said) noexcept
        : said_(said) {}

    duration said_ = duration(-1); // or -2 for never
};

/// What to do when a peer asks for more patience than the policy's limit.
enum class over_limit : unsigned char {
    stop,   ///< give up: whoever waits so long is better told now
    clamp,  ///< wait as long as the limit
    ignore, ///< wait as if nothing had been said
};

// Of all of them: spaces and tabs around the text do not count, a number consists of digits, without a sign,
// and is held at duration::max(). They take any text whatever and never throw.

/// The value of the HTTP field `Retry-After` (RFC 9110, sections 10.2.3 and 5.6.7): whole seconds, or a date in
/// one of the three forms of HTTP, such as `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT` or
/// `Sun Nov  6 08:49:37 1994`.
///
/// `now` is what a date is compared with, the peer's `Date` where it is known: a date in the past is
/// `after(0)`. Anything else says nothing: a sign, a fraction, another zone than GMT, a day that does not
/// exist. A leap second is the second after it. The name of the day is not compared with the date. A year of
/// two digits is the one from 49 years ago to 50 years ahead.
ASIO_RETRY_DECL pushback parse_retry_after(std::string_view text,
                                           std::chrono::system_clock::time_point now) noexcept;

/// The value of `retry-after-ms`, `x-ms-retry-after-ms` or `x-amz-retry-after`: milliseconds, which may have a
/// fraction, `1500.5`. What is less than a nanosecond is rounded up. Anything else says nothing.
ASIO_RETRY_DECL pushback parse_retry_after_ms(std::string_view text) noexcept;

/// The value of `X-RateLimit-Reset`, `RateLimit-Reset` or `X-RateLimit-Reset-After`, about which servers do not
/// agree: seconds, which may have a fraction, `1.5`. A number below 1 000 000 000 is the time from now on; any
/// other is the time since 1970 in UTC, of a year from 2001 on, and is compared with `now`. One in the past is
/// `after(0)`. What is less than a nanosecond is rounded up. Anything else says nothing.
///
/// To be heeded after a 429 or 503: other answers have the field too, and do not ask for patience.
ASIO_RETRY_DECL pushback parse_rate_limit_reset(std::string_view text,
                                                std::chrono::system_clock::time_point now) noexcept;

/// The value of gRPC's `grpc-retry-pushback-ms` (gRFC A6): whole milliseconds of an int32. Anything else, a
/// negative number among them, is `never`. Where the field is absent nothing was said: do not ask then.
ASIO_RETRY_DECL pushback parse_grpc_pushback(std::string_view text) noexcept;

} // namespace asio_retry
