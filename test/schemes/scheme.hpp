#pragma once

#include <asio_retry/retry_machine.hpp>
#include <asio_retry/retry_policy.hpp>

#include <boost/system/errc.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/csv.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace asio_retry::test {

using namespace std::chrono_literals;

inline std::int64_t whole(csv_row const& row, char const* column) {
    return std::stoll(row.at(column));
}

inline double number(csv_row const& row, char const* column) {
    return std::stod(row.at(column));
}

/// Milliseconds as a fraction, to the nearest nanosecond.
inline duration from_ms(double count) {
    return duration(std::llround(count * 1e6));
}

inline error_code refusal() {
    return boost::system::errc::make_error_code(boost::system::errc::connection_refused);
}

/// What the jitter of a policy is asked after that many failures.
inline backoff_step step_of(retry_policy const& policy, std::uint64_t failures,
                            std::optional<duration> previous = {}) {
    backoff const& shape = policy.settings().backoff;
    return {failures, shape.ceiling(failures), shape.base(), shape.cap(), previous.value_or(shape.base())};
}

/// From where it draws then.
inline delay_range range_of(retry_policy const& policy, std::uint64_t failures,
                            std::optional<duration> previous = {}) {
    return policy.settings().jitter.range(step_of(policy, failures, previous)).value();
}

/// The delay at the place `u` of [0, 1) in that range, the cap of the jitter applied.
inline duration delay_at(retry_policy const& policy, std::uint64_t failures, double u,
                         std::optional<duration> previous = {}) {
    jitter const& kind = policy.settings().jitter;
    auto const [least, greatest] = range_of(policy, failures, previous);
    auto const delays = static_cast<long double>((greatest - least) / kind.unit()) + 1;
    auto const place = static_cast<duration::rep>(static_cast<long double>(u) * delays);
    return std::min(least + place * kind.unit(), kind.cap());
}

/// The same for a draw that the publication computes as a fraction of the range.
inline duration fraction_at(retry_policy const& policy, std::uint64_t failures, double u,
                            std::optional<duration> previous = {}) {
    auto const [least, greatest] = range_of(policy, failures, previous);
    auto const above = static_cast<long double>(u) * static_cast<long double>((greatest - least).count());
    return std::min(least + duration(static_cast<duration::rep>(above)), policy.settings().jitter.cap());
}

/// What became of an operation whose first `failures` attempts fail at once, each with `failure`.
struct played {
    std::vector<duration> waits;
    std::uint64_t attempts = 0;
    stop_reason reason = stop_reason::succeeded;
    error_code replacement;
    duration elapsed{};
};

inline played play(retry_policy const& policy, std::uint64_t failures,
                   verdict const& failure = verdict::failure(refusal())) {
    played result;
    time_point const begin(1h);
    time_point now = begin;
    random source(1);
    retry_machine machine(policy);
    retry_action action = machine.start(now);
    while (action.what == retry_action::kind::attempt) {
        result.attempts = machine.current_attempt().number;
        action =
            result.attempts > failures ? machine.on_success(now) : machine.on_failure(failure, now, source);
        if (action.what == retry_action::kind::wait) {
            result.waits.push_back(action.delay);
            now += action.delay;
            action = machine.on_wait_over(now);
        }
    }
    result.reason = action.reason;
    result.replacement = action.error;
    result.elapsed = now - begin;
    return result;
}

constexpr auto always = std::numeric_limits<std::uint64_t>::max();

/// Whether the counts of equally likely outcomes are as different as chance makes them: chi-square is within 8
/// of its standard deviations from its mean.
inline bool equally_likely(std::vector<std::size_t> const& counts) {
    double total = 0, chi_square = 0;
    for (std::size_t const count : counts)
        total += static_cast<double>(count);
    double const expected = total / static_cast<double>(counts.size());
    for (std::size_t const count : counts)
        chi_square += std::pow(static_cast<double>(count) - expected, 2) / expected;
    auto const freedom = static_cast<double>(counts.size() - 1);
    return std::abs(chi_square - freedom) <= 8 * std::sqrt(2 * freedom);
}

/// How often each of `bins` equal parts of [least, greatest] was hit by that many draws, at least 1 unit wide
/// each.
inline std::vector<std::size_t> draws_of(retry_policy const& policy, std::uint64_t failures, std::size_t bins,
                                         std::size_t draws) {
    jitter const& kind = policy.settings().jitter;
    auto const [least, greatest] = range_of(policy, failures);
    auto const delays = (greatest - least) / kind.unit() + 1;
    random source(20240229);
    std::vector<std::size_t> counts(bins);
    for (std::size_t i = 0; i != draws; ++i) {
        auto const place = (kind.draw(step_of(policy, failures), source) - least) / kind.unit();
        counts.at(static_cast<std::size_t>(place * std::int64_t(bins) / delays))++;
    }
    return counts;
}

/// How often the delay is exactly `value`, as a part of that many draws.
inline double part_at(retry_policy const& policy, std::uint64_t failures, duration value, int draws,
                      std::optional<duration> previous = {}) {
    random source(20240229);
    int hits = 0;
    for (int i = 0; i != draws; ++i)
        hits += policy.settings().jitter.draw(step_of(policy, failures, previous), source) == value;
    return static_cast<double>(hits) / draws;
}

/// Six standard deviations of a part `p` of that many draws.
inline double six_sigma(double p, int draws) {
    return 6 * std::sqrt(p * (1 - p) / draws);
}

template <typename Make>
bool is_refused(Make make) {
    try {
        static_cast<void>(make());
        return false;
    } catch (std::invalid_argument const&) {
        return true;
    }
}

} // namespace asio_retry::test
