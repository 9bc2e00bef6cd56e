#pragma once

#include <cstddef>
#include <iostream>

namespace demo {

/// What became of all requests and of all their attempts.
struct totals {
    std::size_t requests = 0;
    std::size_t successes = 0;
    std::size_t give_ups = 0;
    std::size_t cancellations = 0;

    std::size_t attempts = 0;
    std::size_t failures = 0;
    std::size_t interruptions = 0;
};

inline std::ostream& operator<<(std::ostream& out, totals const& t) {
    return out << "requests " << t.requests << ": successes " << t.successes << ", give-ups " << t.give_ups
               << ", cancellations " << t.cancellations << '\n'
               << "attempts " << t.attempts << ": successes " << t.successes << ", failures " << t.failures
               << ", interrupted by a cancellation " << t.interruptions << '\n';
}

} // namespace demo
