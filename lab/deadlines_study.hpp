#pragma once

#include "studies.hpp"

#include <asio_retry/duration.hpp>

#include <cstdint>
#include <vector>

namespace asio_retry::lab {

/// Which services know when the caller goes.
enum class deadlines_told {
    to_none,
    to_first, ///< the first service knows it, but does not pass it on
    to_all,
};

/// Three services in a row serve a request one after the other; each can serve 1000 in a second. Callers make
/// 700 requests in a second, each of at most three attempts of 500 ms, with a retry budget. After 10 s the last
/// service works at a fifth of its speed for 10 s. A message takes 0.2 to 5 ms.
///
/// A service that knows the deadline stops its work then. The deadline travels as `grpc-timeout`.
struct deadlines_setting {
    deadlines_told told = deadlines_told::to_all;
    duration margin{};
};

/// One second of all three services; work is in seconds.
struct deadlines_second {
    double offered = 0;   ///< requests that began
    double succeeded = 0; ///< requests that succeeded
    double work = 0;
    double work_after_gone = 0; ///< the part of the work that was done when the caller had gone
};

struct deadlines_result {
    std::vector<deadlines_second> seconds;
    double useful_work = 0; ///< seconds of work for answers that came in time

    /// What is in a member of all seconds.
    double sum(double deadlines_second::* member) const;

    /// Seconds after the trouble's end until 95 % of the requests succeed; `never` if that does not happen.
    double back_after() const;
};

inline constexpr unsigned slow_from = 10, slow_until = 20, deadlines_seconds = 60;

deadlines_result study_deadlines(deadlines_setting const& setting, std::uint64_t seed);

study_report report_deadlines(std::uint64_t seed, study_progress const& progress);

} // namespace asio_retry::lab
