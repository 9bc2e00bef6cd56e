#pragma once

#include <map>
#include <string>
#include <vector>

namespace asio_retry::bench {

/// What was measured, by name: cpu_ns, allocations, post_allocations, bytes, left_bytes, late_p50_us,
/// late_p99_us, late_p999_us, late_max_us, turn_max_us, turn_10th_us, begin_turn_max_us, and the buckets of a
/// histogram, which begin with `bucket_prefix`.
using figures = std::map<std::string, double>;

inline constexpr char const* bucket_prefix = "percent late by ms ";

struct row {
    std::string workload;
    std::string contender;
    figures values;
    std::string unavailable; ///< why there are no values
};

using rows = std::vector<row>;

/// Null if it was not measured.
row const* find(rows const& all, std::string const& workload, std::string const& contender);

inline constexpr char const* reference_contender = "hand: awaitable, as_tuple";

} // namespace asio_retry::bench
