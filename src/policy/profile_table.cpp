#include <asio_retry/profiles.hpp>

#include <algorithm>
#include <iterator>
#include <span>
#include <string_view>

namespace asio_retry::profiles {

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
     "boto/botocore, botocore/retries/standard.py, mode version 2.0", "its retry quota is not part of it",
     [] { return aws_sdk_standard(); }},
    {"aws_2026", "the standard retry mode of the AWS SDKs from 2026 on",
     "uniform in [0, min(20 s, b * 2^n)], b = 1 s if throttled, else 50 ms, n from 0; 3 attempts",
     "AWS SDKs and Tools Reference Guide, \"Retry behavior\", 2026",
     "its retry quota is not part of it; failures of either sort are counted apart", [] { return aws_2026(); }},
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
