#include <asio_retry/profiles.hpp>

#include <asio_retry/backoff.hpp>
#include <asio_retry/detail/policy/refuse.hpp>
#include <asio_retry/jitter.hpp>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <span>
#include <string>
#include <string_view>

namespace asio_retry::profiles {

using namespace std::chrono_literals;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

retry_policy waiting(backoff shape, jitter kind) {
    return retry_policy().backoff(std::move(shape)).jitter(std::move(kind));
}

// An error names the parameter of the profile, not of the function that the profile calls.

std::string field(std::string_view of, std::string_view name) {
    return std::string(of).append(".").append(name);
}

std::int64_t attempts_with(std::string_view of, std::int64_t retries) {
    if (retries < 0)
        detail::refuse(field(of, "max_retries"), std::to_string(retries), "must not be negative");
    return std::min(retries, std::numeric_limits<std::int64_t>::max() - 1) + 1;
}

std::int64_t at_least_one_of(std::string_view of, std::int64_t attempts) {
    if (attempts < 1)
        detail::refuse(field(of, "attempts"), std::to_string(attempts), "must be at least 1");
    return attempts;
}

backoff doubling(std::string_view of, duration base, duration cap) {
    detail::non_negative(field(of, "base"), base);
    if (cap < base)
        detail::refuse(field(of, "cap"), cap, "must not be below the base", base);
    return exponential(base).cap(cap);
}

template <typename Duration>
std::string written(Duration value) {
    return std::to_string(value.count()) + (Duration::period::den == 1 ? "s" : "ms");
}

/// In nanoseconds. `least` is not negative.
template <typename Rep, typename Period>
duration whole(std::string_view field, std::chrono::duration<Rep, Period> value, duration least) {
    using given = std::chrono::duration<Rep, Period>;
    if (value > std::chrono::duration_cast<given>(duration::max()))
        detail::refuse(field, written(value), "must not be more than 2^63 ns");
    if (value < value.zero() || duration(value) < least)
        detail::refuse(field, written(value),
                       "must be at least " + written(std::chrono::duration_cast<given>(least)));
    return value;
}

/// If the maximum is below the first delay, every delay is the maximum, as in the published schemes.
backoff growing(duration base, double factor, duration maximum) {
    return exponential(std::min(base, maximum), factor).cap(maximum);
}

double at_least_one(std::string_view field, double factor) {
    if (!std::isfinite(factor) || factor < 1)
        detail::refuse(field, factor, "must be a finite number of at least 1");
    return factor;
}

backoff php_exponential(std::string_view of, milliseconds initial, double multiplier, milliseconds maximum) {
    return growing(whole(field(of, "initial"), initial, 1ms), at_least_one(field(of, "multiplier"), multiplier),
                   whole(field(of, "maximum"), maximum, 1ms));
}

} // namespace

retry_policy scala_timer(std::int64_t growing_failures, saturating_duration greatest) {
    if (growing_failures < 1)
        detail::refuse("scala_timer.growing_failures", std::to_string(growing_failures), "must be at least 1");
    detail::non_negative("scala_timer.greatest", greatest);
    return waiting(truncated_binary(growing_failures, greatest), full_jitter()).unlimited_attempts();
}

retry_policy aws_exponential(saturating_duration base, saturating_duration cap) {
    return waiting(doubling("aws_exponential", base, cap), no_jitter()).unlimited_attempts();
}

retry_policy aws_full_jitter(saturating_duration base, saturating_duration cap) {
    return waiting(doubling("aws_full_jitter", base, cap), full_jitter()).unlimited_attempts();
}

retry_policy aws_equal_jitter(saturating_duration base, saturating_duration cap) {
    return waiting(doubling("aws_equal_jitter", base, cap), equal_jitter()).unlimited_attempts();
}

retry_policy aws_decorrelated(saturating_duration base, saturating_duration cap) {
    // The jitter applies the cap; this call only refuses invalid parameters.
    static_cast<void>(doubling("aws_decorrelated", base, cap));
    return waiting(exponential(base), decorrelated_jitter().cap(cap)).unlimited_attempts();
}

retry_policy aws_decorrelated_in_range(saturating_duration base, saturating_duration cap) {
    return waiting(doubling("aws_decorrelated_in_range", base, cap), decorrelated_jitter())
        .unlimited_attempts();
}

retry_policy java_equal_jitter(std::int64_t attempts, saturating_duration base, saturating_duration cap) {
    return waiting(doubling("java_equal_jitter", base, cap), equal_jitter())
        .max_attempts(at_least_one_of("java_equal_jitter", attempts));
}

retry_policy celery(saturating<seconds> factor, saturating<seconds> maximum, std::int64_t max_retries) {
    return waiting(growing(whole("celery.factor", factor, 0s), 2, whole("celery.maximum", maximum, 0s)),
                   full_jitter().unit(1s))
        .max_attempts(attempts_with("celery", max_retries));
}

retry_policy celery_4_2(saturating<seconds> factor, saturating<seconds> maximum, std::int64_t max_retries) {
    return waiting(exponential(whole("celery_4_2.factor", factor, 0s)),
                   full_jitter().unit(1s).cap(whole("celery_4_2.maximum", maximum, 0s)))
        .max_attempts(attempts_with("celery_4_2", max_retries));
}

retry_policy celery_fixed(saturating<seconds> delay, std::int64_t max_retries) {
    return waiting(constant(whole("celery_fixed.delay", delay, 0s)), no_jitter())
        .max_attempts(attempts_with("celery_fixed", max_retries));
}

retry_policy ethernet(saturating_duration slot, std::int64_t attempts) {
    if (slot <= duration::zero())
        detail::refuse("ethernet.slot", slot, "must be positive");
    backoff shape = slotted_binary(slot);
    return waiting(std::move(shape), full_jitter().unit(slot))
        .max_attempts(at_least_one_of("ethernet", attempts));
}

retry_policy unix_connect(std::int64_t attempts) {
    return waiting(exponential(1s).cap(64s), no_jitter())
        .max_attempts(at_least_one_of("unix_connect", attempts));
}

retry_policy php_retry(saturating<milliseconds> initial, double multiplier, saturating<milliseconds> maximum,
                       std::int64_t attempts) {
    return waiting(php_exponential("php_retry", initial, multiplier, maximum), no_jitter())
        .max_attempts(at_least_one_of("php_retry", attempts));
}

retry_policy php_retry_random(saturating<milliseconds> initial, double multiplier,
                              saturating<milliseconds> maximum, std::int64_t attempts) {
    backoff shape = php_exponential("php_retry_random", initial, multiplier, maximum);
    return waiting(std::move(shape), multiplicative_jitter(1, multiplier).beyond_cap())
        .max_attempts(at_least_one_of("php_retry_random", attempts));
}

retry_policy php_retry_linear(saturating<milliseconds> initial, saturating<milliseconds> delta,
                              saturating<milliseconds> maximum, std::int64_t attempts) {
    duration const greatest = whole("php_retry_linear.maximum", maximum, 1ms);
    duration const first = std::min(whole("php_retry_linear.initial", initial, 1ms), greatest);
    return waiting(linear(first, whole("php_retry_linear.delta", delta, 1ms)).cap(greatest), no_jitter())
        .max_attempts(at_least_one_of("php_retry_linear", attempts));
}

retry_policy php_retry_fixed(saturating<milliseconds> delay, std::int64_t attempts) {
    return waiting(constant(whole("php_retry_fixed.delay", delay, 1ms)), no_jitter())
        .max_attempts(at_least_one_of("php_retry_fixed", attempts));
}

retry_policy php_retry_uniform(saturating<milliseconds> least, saturating<milliseconds> greatest,
                               std::int64_t attempts) {
    duration const from = whole("php_retry_uniform.least", least, 1ms);
    duration const to = whole("php_retry_uniform.greatest", greatest, from);
    return waiting(constant(from), additive_jitter(to - from).unit(1ms))
        .max_attempts(at_least_one_of("php_retry_uniform", attempts));
}

retry_policy google_cloud_php(std::int64_t max_retries) {
    return waiting(exponential(1s), additive_jitter(1s).unit(1us).cap(60s))
        .max_attempts(attempts_with("google_cloud_php", max_retries));
}

retry_policy memorystore(saturating<seconds> maximum) {
    return waiting(exponential(1s),
                   additive_jitter(1s).unit(1ms).cap(whole("memorystore.maximum", maximum, 1s)))
        .unlimited_attempts();
}

retry_policy memorystore_windowed(saturating<seconds> maximum) {
    duration const cap = whole("memorystore_windowed.maximum", maximum, 2s) - 1s;
    return waiting(exponential(1s).cap(cap), additive_jitter(1s).unit(1ms).beyond_cap()).unlimited_attempts();
}

retry_policy go_backoff(go_backoff_options const& options) {
    detail::non_negative("go_backoff.initial_interval", options.initial_interval);
    if (!(options.randomization_factor >= 0 && options.randomization_factor <= 1))
        detail::refuse("go_backoff.randomization_factor", options.randomization_factor, "must be in [0, 1]");
    at_least_one("go_backoff.multiplier", options.multiplier);
    if (options.max_interval < options.initial_interval)
        detail::refuse("go_backoff.max_interval", options.max_interval, "must not be below initial_interval",
                       options.initial_interval);
    detail::non_negative("go_backoff.max_elapsed_time", options.max_elapsed_time);
    auto const policy =
        waiting(stepwise_exponential(options.initial_interval, options.multiplier, options.max_interval),
                proportional_jitter(options.randomization_factor).beyond_cap())
            .unlimited_attempts();
    return options.max_elapsed_time == 0s ? policy : policy.max_elapsed(options.max_elapsed_time);
}

retry_policy aws_sdk_standard() {
    return waiting(exponential(1s).cap(20s), full_jitter()).max_attempts(3);
}

retry_policy aws_2026() {
    return waiting(exponential(50ms).cap(20s), full_jitter())
        .max_attempts(3)
        .when(failure_kind::throttled, exponential(1s).cap(20s));
}

retry_policy grpc() {
    return waiting(exponential(100ms).cap(1s), proportional_jitter(0.2).beyond_cap()).max_attempts(4);
}

retry_policy polly_v2(saturating_duration base, std::int64_t max_retries) {
    return waiting(exponential(detail::non_negative("polly_v2.base", base)), decorrelated_jitter_v2())
        .max_attempts(attempts_with("polly_v2", max_retries));
}

retry_policy polly_default() {
    return waiting(constant(2s), no_jitter()).max_attempts(attempts_with("polly_default", 3));
}

retry_policy spring_default() {
    return waiting(exponential(100ms).cap(30s), no_jitter()).max_attempts(3);
}

namespace {

constexpr std::string_view brooker =
    "M. Brooker, \"Exponential Backoff And Jitter\", AWS Architecture Blog, 2015";
constexpr std::string_view celery_source = "Celery, celery/utils/time.py and celery/app/autoretry.py";
constexpr std::string_view php_source = "vkartaviy/retry (PHP), src/BackOff";
constexpr std::string_view memorystore_source =
    "Google Cloud, Memorystore documentation, \"Exponential backoff\"";
constexpr std::string_view no_flaw = "none known";
constexpr std::string_view clamps = "silently raises invalid values to 1; refused here";

constexpr profile table[] = {
    {"scala_timer", "truncated binary backoff given by requirement",
     "uniform in [0, T / 2^(N - min(f, N))], N = 10, T = 10 s; no limit of attempts",
     "a Scala sample of truncated binary exponential backoff with futures and a timer",
     "its 32-bit shift overflows from 32 failures on; saturates here", [] { return scala_timer(); }},
    {"aws_exponential", "exponential backoff without jitter",
     "min(2 s, 5 ms * 2^n), n from 0; no limit of attempts", brooker,
     "clients that failed together stay together", [] { return aws_exponential(); }},
    {"aws_full_jitter", "full jitter", "uniform in [0, min(2 s, 5 ms * 2^n)], n from 0; no limit of attempts",
     brooker, no_flaw, [] { return aws_full_jitter(); }},
    {"aws_equal_jitter", "equal jitter",
     "uniform in [t / 2, t], t = min(2 s, 5 ms * 2^n), n from 0; no limit of attempts", brooker, no_flaw,
     [] { return aws_equal_jitter(); }},
    {"aws_decorrelated", "decorrelated jitter as published",
     "min(2 s, uniform in [5 ms, 3 * the delay before]); no limit of attempts", brooker,
     "is the cap itself in up to two of three draws; see aws_decorrelated_in_range",
     [] { return aws_decorrelated(); }},
    {"aws_decorrelated_in_range", "decorrelated jitter from a capped range",
     "uniform in [5 ms, min(2 s, 3 * the delay before)]; no limit of attempts", brooker, no_flaw,
     [] { return aws_decorrelated_in_range(); }},
    {"java_equal_jitter", "a blocking loop with equal jitter",
     "uniform in [t / 2, t], t = min(10 s, 1 s * 2^n), n from 0; 3 attempts",
     "a Java sample of retry with backoff and jitter",
     "waits after the last failure and hides the error; neither here", [] { return java_equal_jitter(); }},
    {"celery", "a task's retry_backoff", "uniform whole seconds in [0, min(600, 2^r)], r from 0; 3 retries",
     celery_source, "whole seconds are coarse: the first retry comes at once or after 1 s",
     [] { return celery(); }},
    {"celery_4_2", "a task's retry_backoff in version 4.2",
     "min(600, uniform whole seconds in [0, 2^r]), r from 0; 3 retries", celery_source,
     "jitter before the cap: most draws become the maximum in the end; see celery",
     [] { return celery_4_2(); }},
    {"celery_fixed", "a task's default_retry_delay", "180 s; 3 retries", "Celery, celery/app/task.py",
     "tasks that failed together come back together", [] { return celery_fixed(); }},
    {"ethernet", "collisions on Ethernet",
     "51.2 us * uniform whole number in [0, 2^min(f, 10) - 1]; 16 attempts", "IEEE 802.3, 4.2.3.2.5",
     "a station that succeeds restarts at the shortest delays and captures the line",
     [] { return ethernet(); }},
    {"unix_connect", "connecting with exponential backoff", "min(64 s, 2^n s), n from 0; 7 attempts",
     "W. R. Stevens, S. Rago, \"Advanced Programming in the UNIX Environment\", after connect_retry",
     "no jitter; waits 64 s after the last failure, which is left out here", [] { return unix_connect(); }},
    {"php_retry", "ExponentialBackOffPolicy of the PHP retry proxy",
     "min(30 s, 100 ms * 2^n), n from 0; 3 attempts", php_source, clamps, [] { return php_retry(); }},
    {"php_retry_random", "ExponentialRandomBackOffPolicy of the PHP retry proxy",
     "min(30 s, 100 ms * 2^n) * uniform in [1, 2], n from 0; 3 attempts", php_source,
     "jitter after the cap: waits up to twice the maximum, as published", [] { return php_retry_random(); }},
    {"php_retry_linear", "LinearBackOffPolicy of the PHP retry proxy",
     "min(30 s, 1 s + 1 s * n), n from 0; 3 attempts", php_source, clamps, [] { return php_retry_linear(); }},
    {"php_retry_fixed", "FixedBackOffPolicy of the PHP retry proxy", "1 s; 3 attempts", php_source, clamps,
     [] { return php_retry_fixed(); }},
    {"php_retry_uniform", "UniformRandomBackOffPolicy of the PHP retry proxy",
     "uniform whole milliseconds in [500, 1500]; 3 attempts", php_source, clamps,
     [] { return php_retry_uniform(); }},
    {"google_cloud_php", "ExponentialBackoff of Google Cloud PHP",
     "min(60 s, 2^r s + uniform whole microseconds in [0, 1 s]), r from 0; 3 retries",
     "googleapis/google-cloud-php, Core/src/ExponentialBackoff.php", "no jitter from the seventh retry on",
     [] { return google_cloud_php(); }},
    {"memorystore", "the backoff recommended for Memorystore",
     "min(32 s, 2^n s + uniform whole milliseconds in [0, 1 s]), n from 0; no limit of attempts",
     memorystore_source, "no jitter at the maximum; see memorystore_windowed", [] { return memorystore(); }},
    {"memorystore_windowed", "the same with jitter at the maximum",
     "min(31 s, 2^n s) + uniform whole milliseconds in [0, 1 s], n from 0; no limit of attempts",
     memorystore_source, no_flaw, [] { return memorystore_windowed(); }},
    {"go_backoff", "ExponentialBackOff of the Go package",
     "i * uniform in [0.5, 1.5], i = 500 ms * 1.5^n up to 60 s, step by step; max elapsed 15 min",
     "cenkalti/backoff (Go), version 4, exponential.go",
     "the maximum bounds the interval: waits up to 90 s, as published", [] { return go_backoff(); }},
    {"aws_sdk_standard", "the standard retry mode of the AWS SDKs",
     "uniform in [0, min(20 s, 2^n s)], n from 0; 3 attempts",
     "boto/botocore, botocore/retries/standard.py, mode version 2.0",
     "its retry quota is not part of it; botocore 1.29 cuts after the draw and piles up at 20 s",
     [] { return aws_sdk_standard(); }},
    {"aws_2026", "the standard retry mode of the AWS SDKs from 2026 on",
     "uniform in [0, min(20 s, b * 2^n)], b = 1 s if throttled, else 50 ms, n from 0; 3 attempts",
     "AWS SDKs and Tools Reference Guide, \"Retry behavior\", 2026",
     "its retry quota and its limit of wishes are not part of it; failures of either sort are counted apart",
     [] { return aws_2026(); }},
    {"grpc", "the example of the gRPC retry design",
     "min(1 s, 0.1 s * 2^n) * uniform in [0.8, 1.2], n from 0; 4 attempts",
     "gRFC A6, client retries, as of August 2024", "may pass its maximum by a fifth, as published",
     [] { return grpc(); }},
    {"polly_v2", "exponential backoff with jitter of Polly 8",
     "2 s * (s(r + u) - s(r - 1 + v)) / 1.4, s(t) = 2^t * tanh(sqrt(4 * t)), r from 0; 3 retries",
     "App-vNext/Polly, src/Polly.Core/Retry/RetryHelper.cs",
     "there the u of one delay is the v of the next; delays have no cap", [] { return polly_v2(); }},
    {"polly_default", "the defaults of Polly 8", "2 s; 3 retries",
     "App-vNext/Polly, src/Polly.Core/Retry/RetryConstants.cs", "no jitter unless asked for",
     [] { return polly_default(); }},
    {"spring_default", "the defaults of Spring Retry's exponential backoff",
     "min(30 s, 100 ms * 2^n), n from 0; 3 attempts",
     "spring-projects/spring-retry, ExponentialBackOffPolicy and SimpleRetryPolicy",
     "no jitter; see php_retry_random for its random relative", [] { return spring_default(); }},
};

} // namespace

std::span<profile const> all() noexcept {
    return table;
}

profile const* find(std::string_view name) noexcept {
    auto const found =
        std::find_if(std::begin(table), std::end(table), [&](profile const& p) { return p.name == name; });
    return found == std::end(table) ? nullptr : found;
}

} // namespace asio_retry::profiles
