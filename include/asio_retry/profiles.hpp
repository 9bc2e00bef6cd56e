#pragma once

#include <asio_retry/detail/policy/config.hpp>
#include <asio_retry/duration.hpp>
#include <asio_retry/retry_policy.hpp>

#include <chrono>
#include <cstdint>
#include <span>
#include <string_view>

/// Retry schemes under the names they are known by: policies with the numbers that were published.
///
/// Formula, source and flaw of each are in the page doc/schemes.md and in the table behind `all`. A scheme that
/// was published without a limit of attempts or time has none here: add one. With every limit, no profile waits
/// after the last attempt, and the last error is delivered. All throw std::invalid_argument for values that the
/// functions behind them refuse.
namespace asio_retry::profiles {

/// A profile with its published constants.
struct profile {
    std::string_view name;    ///< as `find` takes it
    std::string_view summary; ///< in one line
    std::string_view formula; ///< of the delay
    std::string_view source;  ///< where it was published
    std::string_view flaw;    ///< the flaw of the scheme
    retry_policy (*make)();   ///< makes it with its published constants
};

/// All profiles.
ASIO_RETRY_DECL std::span<profile const> all() noexcept;

/// The profile of that name; null if there is none.
ASIO_RETRY_DECL profile const* find(std::string_view name) noexcept;

/// Truncated binary backoff that ends at `greatest`: it doubles for `growing_failures` failures.
///
/// The delay is uniform between 0 and that. The 32-bit shift of the sample overflows from 32 failures on: here
/// it saturates.
ASIO_RETRY_DECL retry_policy scala_timer(std::int64_t growing_failures = 10,
                                         saturating_duration greatest = std::chrono::seconds(10));

/// @name M. Brooker, "Exponential Backoff And Jitter", 2015; n counts the failures from 0.
/// @{
/// Always t = min(cap, base * 2^n), so that clients that failed together retry together.
ASIO_RETRY_DECL retry_policy aws_exponential(saturating_duration base = std::chrono::milliseconds(5),
                                             saturating_duration cap = std::chrono::seconds(2));
/// Uniform in [0, t], t = min(cap, base * 2^n).
ASIO_RETRY_DECL retry_policy aws_full_jitter(saturating_duration base = std::chrono::milliseconds(5),
                                             saturating_duration cap = std::chrono::seconds(2));
/// Uniform in [t / 2, t], t = min(cap, base * 2^n).
ASIO_RETRY_DECL retry_policy aws_equal_jitter(saturating_duration base = std::chrono::milliseconds(5),
                                              saturating_duration cap = std::chrono::seconds(2));
/// min(cap, uniform in [base, 3 * the delay before]): the delay is the cap itself in up to two of three draws.
ASIO_RETRY_DECL retry_policy aws_decorrelated(saturating_duration base = std::chrono::milliseconds(5),
                                              saturating_duration cap = std::chrono::seconds(2));
/// Uniform in [base, min(cap, 3 * the delay before)], where the cap is as likely as any other delay.
ASIO_RETRY_DECL retry_policy aws_decorrelated_in_range(saturating_duration base = std::chrono::milliseconds(5),
                                                       saturating_duration cap = std::chrono::seconds(2));
/// @}

/// Uniform in [t / 2, t], t = min(cap, base * 2^n), n counted from 0.
///
/// The Java sample waits once more after its last failure and then hides the error; this profile does not.
ASIO_RETRY_DECL retry_policy java_equal_jitter(std::int64_t attempts = 3,
                                               saturating_duration base = std::chrono::seconds(1),
                                               saturating_duration cap = std::chrono::seconds(10));

/// @name Celery's automatic retries, counted by r from 0; a retry_backoff of 0 there is celery_fixed here.
/// @{
/// Uniform whole seconds in [0, min(maximum, factor * 2^r)]. Without `retry_jitter`: `.jitter(no_jitter())`.
ASIO_RETRY_DECL retry_policy celery(saturating<std::chrono::seconds> factor = std::chrono::seconds(1),
                                    saturating<std::chrono::seconds> maximum = std::chrono::seconds(600),
                                    std::int64_t max_retries = 3);
/// As in version 4.2: min(maximum, uniform whole seconds in [0, factor * 2^r]), which loses its jitter.
ASIO_RETRY_DECL retry_policy celery_4_2(saturating<std::chrono::seconds> factor = std::chrono::seconds(1),
                                        saturating<std::chrono::seconds> maximum = std::chrono::seconds(600),
                                        std::int64_t max_retries = 3);
/// Without backoff: always the same delay, so that tasks that failed together retry together.
ASIO_RETRY_DECL retry_policy celery_fixed(saturating<std::chrono::seconds> delay = std::chrono::seconds(180),
                                          std::int64_t max_retries = 3);
/// @}

/// Ethernet: after f failures, a whole number of slots, uniform in [0, 2^min(f, 10) - 1].
///
/// A slot is 512 bit times at 10 Mb/s. For the reading "16 retransmissions" set 17 attempts. Source: IEEE
/// 802.3, 4.2.3.2.5.
ASIO_RETRY_DECL retry_policy ethernet(saturating_duration slot = std::chrono::nanoseconds(51'200),
                                      std::int64_t attempts = 16);

/// The connect loop of "Advanced Programming in the UNIX Environment": 1, 2, 4, 8, 16, 32 s, without jitter.
///
/// After these the loop of the book waits 64 s in vain; this profile does not. The book's `connect_retry` then
/// makes an eighth attempt: set 8 for it. Use a new socket for each attempt. Source: W. R. Stevens, S. Rago.
ASIO_RETRY_DECL retry_policy unix_connect(std::int64_t attempts = 7);

/// @name The PHP package vkartaviy/retry. It raises values below 1 ms, or 1, to that; here they are refused.
/// @{
/// min(maximum, initial * multiplier^(f - 1)) after f failures.
ASIO_RETRY_DECL retry_policy
php_retry(saturating<std::chrono::milliseconds> initial = std::chrono::milliseconds(100), double multiplier = 2,
          saturating<std::chrono::milliseconds> maximum = std::chrono::seconds(30), std::int64_t attempts = 3);
/// The delay of `php_retry` times a number uniform in [1, multiplier]: up to multiplier * maximum.
ASIO_RETRY_DECL retry_policy php_retry_random(
    saturating<std::chrono::milliseconds> initial = std::chrono::milliseconds(100), double multiplier = 2,
    saturating<std::chrono::milliseconds> maximum = std::chrono::seconds(30), std::int64_t attempts = 3);
/// min(maximum, initial + delta * (f - 1)) after f failures.
ASIO_RETRY_DECL retry_policy php_retry_linear(
    saturating<std::chrono::milliseconds> initial = std::chrono::seconds(1),
    saturating<std::chrono::milliseconds> delta = std::chrono::seconds(1),
    saturating<std::chrono::milliseconds> maximum = std::chrono::seconds(30), std::int64_t attempts = 3);
/// Always `delay`.
ASIO_RETRY_DECL retry_policy php_retry_fixed(
    saturating<std::chrono::milliseconds> delay = std::chrono::seconds(1), std::int64_t attempts = 3);
/// Uniform whole milliseconds in [least, greatest].
ASIO_RETRY_DECL retry_policy
php_retry_uniform(saturating<std::chrono::milliseconds> least = std::chrono::milliseconds(500),
                  saturating<std::chrono::milliseconds> greatest = std::chrono::milliseconds(1500),
                  std::int64_t attempts = 3);
/// @}

/// Google Cloud PHP, `ExponentialBackoff`: min(60 s, 2^r s + uniform whole microseconds in [0, 1 s]).
///
/// r counts the retries from 0. There is no jitter from the seventh retry on.
ASIO_RETRY_DECL retry_policy google_cloud_php(std::int64_t max_retries = 3);

/// Google Cloud Memorystore, "Exponential backoff": min(maximum, 2^n s + uniform whole milliseconds in [0, 1
/// s]).
///
/// The maximum is 32 or 64 s. There is no jitter once 2^n s reach the maximum.
ASIO_RETRY_DECL retry_policy memorystore(saturating<std::chrono::seconds> maximum = std::chrono::seconds(32));

/// `memorystore`, but at the maximum uniform in [maximum - 1 s, maximum]; the maximum is at least 2 s.
ASIO_RETRY_DECL retry_policy
memorystore_windowed(saturating<std::chrono::seconds> maximum = std::chrono::seconds(32));

/// The fields of the Go package's ExponentialBackOff.
struct go_backoff_options {
    saturating_duration initial_interval =
        std::chrono::milliseconds(500); ///< the first interval, before its randomness
    double randomization_factor = 0.5;  ///< the share by which a delay differs from the interval
    double multiplier = 1.5;            ///< from one interval to the next
    saturating_duration max_interval = std::chrono::seconds(60);     ///< of the interval, not of the delay
    saturating_duration max_elapsed_time = std::chrono::minutes(15); ///< zero: for ever
};

/// The Go package cenkalti/backoff, version 4: within randomization_factor of an interval that grows by steps.
///
/// max_interval bounds the interval and not the delay, which may be half as long again.
ASIO_RETRY_DECL retry_policy go_backoff(go_backoff_options const& options = {});

/// The standard mode of the AWS SDKs, as in botocore: uniform in [0, min(20 s, 2^n s)], 3 attempts.
///
/// n counts from 0. Older SDKs, such as botocore 1.29, cut the delay at 20 s after the draw. From the sixth
/// retry on their delays pile up there: `backoff(exponential(1s)).jitter(full_jitter().cap(20s))` does the
/// same. Without their retry quota, which is a gate: `aws_tokens_2016()`.
ASIO_RETRY_DECL retry_policy aws_sdk_standard();

/// The standard mode of the AWS SDKs from 2026 on: uniform in [0, min(20 s, 50 ms * 2^n)], 3 attempts.
///
/// n counts from 0. After a failure that is `throttled`, 1 s replaces 50 ms, and n counts these failures apart
/// from the others. The SDKs count all failures together. There a server's wish makes the drawn delay at most 5
/// s longer; here it counts up to `pushback_limit`. Without their retry quota, which is a gate: `aws_tokens()`.
ASIO_RETRY_DECL retry_policy aws_2026();

/// The example of gRFC A6: min(1 s, 0.1 s * 2^n) within 20 %, so possibly above 1 s, 4 attempts.
ASIO_RETRY_DECL retry_policy grpc();

/// Polly's exponential backoff with jitter, which it calls decorrelated, version 2: `decorrelated_jitter_v2`.
ASIO_RETRY_DECL retry_policy polly_v2(saturating_duration base = std::chrono::seconds(2),
                                      std::int64_t max_retries = 3);

/// The defaults of Polly 8, without jitter: 2 s before each of 3 retries.
ASIO_RETRY_DECL retry_policy polly_default();

/// Spring Retry with the defaults of ExponentialBackOffPolicy and SimpleRetryPolicy.
///
/// 100 ms, doubled up to 30 s, without jitter, 3 attempts.
ASIO_RETRY_DECL retry_policy spring_default();

} // namespace asio_retry::profiles
