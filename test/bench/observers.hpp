#pragma once

// Who looks on while operations make attempts and wait. What a timed run looks at costs every contender the
// same, next to nothing.

#include "meter.hpp"

#include <asio_retry/duration.hpp>
#include <asio_retry/retry_policy.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace asio_retry::bench {

struct unobserved {
    void attempt_begins(unsigned /*failures_left*/) const noexcept {}
    void posted(std::uint64_t /*allocations*/) const noexcept {}
    void waits_until(time_point) const noexcept {}
};

/// Finds out what operations that are begun together hold when all of them wait for the first time.
struct storm_memory {
    boost::asio::io_context& io;
    std::size_t operations;
    unsigned failures;
    std::size_t begun = 0;
    std::int64_t live_bytes_when_all_wait = 0;
    std::uint64_t allocations_of_posts = 0; ///< Asio's, for the completions of the attempts

    // In the queue this comes just after the failures of all first attempts but one, and before any wait that
    // ends.
    void note_soon() {
        boost::asio::post(io, [this] { live_bytes_when_all_wait = live_bytes(); });
    }
};

/// Holds nothing, so that an operation is no larger for being observed: there is one storm at a time.
struct memory_observer {
    static inline storm_memory* storm = nullptr;

    void attempt_begins(unsigned failures_left) const {
        if (failures_left == storm->failures && ++storm->begun == storm->operations)
            storm->note_soon();
    }
    void posted(std::uint64_t allocations) const noexcept { storm->allocations_of_posts += allocations; }
    void waits_until(time_point) const noexcept {}
};

/// How late the waits of an operation end: when its next attempts begin.
struct late_record {
    time_point due{};
    std::vector<float>* late_us = nullptr;
    retry_policy policy; ///< the library tells when a wait is due through a hook of its own for each operation
};

struct late_observer {
    late_record* record;

    void attempt_begins(unsigned) const {
        if (record->due != time_point())
            record->late_us->push_back(
                std::chrono::duration<float, std::micro>(std::chrono::steady_clock::now() - record->due)
                    .count());
    }
    void posted(std::uint64_t) const noexcept {}
    void waits_until(time_point due) const noexcept { record->due = due; }
};

} // namespace asio_retry::bench
