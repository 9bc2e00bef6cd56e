#include <asio_retry/profiles.hpp>

#include <asio_retry/backoff.hpp>
#include <asio_retry/detail/policy/refuse.hpp>
#include <asio_retry/jitter.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

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

/// Published schemes use a maximum below the first delay for all delays.
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
    // That range gives the cap, so the backoff has none; this call only refuses invalid parameters.
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

} // namespace asio_retry::profiles
