#pragma once

#include <asio_retry/detail/traffic/slot_window.hpp>
#include <asio_retry/traffic/attempt_histogram.hpp>

#include <chrono>
#include <cstdint>
#include <mutex>

namespace asio_retry {

/// The options of an `overload_advisor`.
struct overload_advisor_options {
    double retry_share = 0.05;        ///< retries per request from which on nobody shall retry, in (0, 1]
    std::uint64_t min_requests = 100; ///< fewer say nothing; at least 1
    saturating_duration window =
        std::chrono::seconds(10); ///< the requests that count: those that came within it
};

/// What a server that has to reject a request had better say.
enum class overload_advice : unsigned char {
    retry_elsewhere, ///< others may have room: say 503, and no more
    do_not_retry,    ///< others have too much to do as well: say `pushback::never`, too
};

/// Tells a server that has too much to do whether its peers have too, by how many of the requests that reach it
/// are retries (Google's SRE book, chapter 21).
///
/// Tell it of every request, before it is accepted or rejected: the number of the attempt, or what the client
/// says about its attempts altogether. It advises against retries where at least `min_requests` came within
/// `window`, in ten slots, and at least the share `retry_share` of them were retries. That is 0.05 because
/// clients which have a `retry_budget` each never come far above 0.09.
///
/// The client is told in a field such as `grpc-retry-pushback-ms: -1` (`pushback::never`). A service between
/// them that has retries of its own, nested by `async_retry(attempt, ...)`, passes it on by itself.
///
/// Thread safety: any function may be called from any thread; there is a lock, held for a few additions.
class ASIO_RETRY_DECL overload_advisor {
public:
    /// Throws std::invalid_argument for a retry_share outside (0, 1], a min_requests of 0, and a window that is
    /// not positive.
    explicit overload_advisor(overload_advisor_options const& options = {});

    /// A request has come, which is this attempt of its client; counted from 1.
    void on_request(std::uint64_t attempt_number, time_point now) noexcept;

    /// A request has come from a client of whose attempts lately so many were retries.
    void on_request(attempt_histogram const& sender, time_point now) noexcept;

    /// The share of retries within the window; 0 if nothing has come.
    double retry_share(time_point now) const noexcept;

    /// What to answer at `now` to a request that has to be rejected.
    overload_advice advise(time_point now) const noexcept;

private:
    struct counts {
        std::uint64_t requests = 0;
        std::uint64_t billionths = 0; // of a retry, so that nothing is rounded away as slots are forgotten
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
