#pragma once

#include <asio_retry/detail/traffic/slot_window.hpp>
#include <asio_retry/traffic/attempt_histogram.hpp>

#include <chrono>
#include <cstdint>
#include <mutex>

namespace asio_retry {

/// The options of an `overload_advisor`.
struct overload_advisor_options {
    double retry_share = 0.05;        ///< from this share of retries on, clients shall not retry; in (0, 1]
    std::uint64_t min_requests = 100; ///< below this many requests it advises no stop; at least 1
    saturating_duration window = std::chrono::seconds(10); ///< requests count that came within this time
};

/// What a server tells a client whose request it rejects.
enum class overload_advice : unsigned char {
    retry_elsewhere, ///< other servers may have room: say 503, and no more
    do_not_retry,    ///< other servers are overloaded as well: say `pushback::never` too
};

/// Tells an overloaded server whether clients should retry elsewhere or not at all.
///
/// It judges by how many of the requests that arrive are retries: many retries mean that the other servers are
/// overloaded too. Report every request before it is accepted or rejected, either by the number of its attempt
/// or by the `attempt_histogram` of its client.
///
/// It advises against retries if at least `min_requests` came within `window`, in ten slots, and at least the
/// share `retry_share` of them were retries. The default is 0.05, because clients that have a `retry_budget`
/// each never come far above 0.09.
///
/// Tell the client in a field such as `grpc-retry-pushback-ms: -1` (`pushback::never`). A service in between
/// that nests its own retries with `async_retry(attempt, ...)` passes it on by itself.
///
/// Thread safety: call any function from any thread. A lock is held for a few additions.
/// Source: Google's book "Site Reliability Engineering", chapter 21.
class ASIO_RETRY_DECL overload_advisor {
public:
    /// Throws std::invalid_argument for a retry_share outside (0, 1], a min_requests of 0, and a window that is
    /// not positive.
    explicit overload_advisor(overload_advisor_options const& options = {});

    /// Counts a request: attempt `attempt_number` of its client, from 1.
    void on_request(std::uint64_t attempt_number, time_point now) noexcept;

    /// Counts a request of a client by the share of retries among its recent attempts.
    void on_request(attempt_histogram const& sender, time_point now) noexcept;

    /// The share of retries within the window; 0 without requests.
    double retry_share(time_point now) const noexcept;

    /// What to answer at `now` to a request that must be rejected.
    overload_advice advise(time_point now) const noexcept;

private:
    struct counts {
        std::uint64_t requests = 0;
        std::uint64_t billionths = 0; // of a retry: slots that are forgotten leave no rounding error
        counts& operator+=(counts const& c) noexcept {
            requests += c.requests;
            billionths += c.billionths;
            return *this;
        }
        counts& operator-=(counts const& c) noexcept {
            requests -= c.requests;
            billionths -= c.billionths;
            return *this;
        }
        double share() const noexcept;
    };

    void count(std::uint64_t billionths, time_point now) noexcept;
    counts counted(time_point now) const noexcept;

    overload_advisor_options const options_;
    std::mutex mutable mutex_;
    detail::slot_window<counts, 10> mutable window_;
};

} // namespace asio_retry
