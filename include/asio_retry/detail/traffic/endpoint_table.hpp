#pragma once

#include <asio_retry/detail/policy/config.hpp>
#include <asio_retry/detail/traffic/recent_latency.hpp>
#include <asio_retry/duration.hpp>
#include <asio_retry/random.hpp>
#include <asio_retry/retry_gate.hpp>
#include <asio_retry/traffic/circuit_breaker.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace asio_retry {

struct endpoint_options;
struct endpoint_status;

namespace detail {

/// The state of one endpoint. An `endpoint_set` adds the endpoint itself.
class ASIO_RETRY_DECL endpoint_record {
public:
    explicit endpoint_record(circuit_breaker_options const& options);
    virtual ~endpoint_record();
    endpoint_record(endpoint_record const&) = delete;
    endpoint_record& operator=(endpoint_record const&) = delete;

    endpoint_status status(time_point now) const noexcept;

private:
    friend class endpoint_table;

    int failed_answers() const noexcept;

    std::atomic<std::uint32_t> in_flight_ = 0;
    std::atomic<std::uint64_t> failures_ = 0; // among the last 64 answers; the latest one is the lowest bit
    std::array<std::uint32_t, 2> ids_{};      // in lists of even and of odd numbers

    // Changed under the mutex of the table.
    std::atomic<latency_step> median_ = 0;
    std::atomic<bool> is_refused_ = false;              // then each end of an attempt calls `recheck`
    std::atomic<std::uint32_t> latency_generation_ = 0; // how often the latency was forgotten
    std::atomic<time_point> slow_until_ = (time_point::min)();
    std::atomic<time_point> rests_until_ = (time_point::min)(); // as its server has asked
    std::uint32_t times_slow_ = 0; // how often it was ejected since it was last as fast as the others

    // Changed by the thread that has set `is_recording_`.
    std::atomic<bool> is_recording_ = false;
    recent_latency latency_;
    std::uint32_t recorded_generation_ = 0; // the generation in `latency_`
    std::uint32_t slow_in_row_ = 0;

    circuit_breaker breaker_;
};

/// One attempt of an operation, at an endpoint.
struct endpoint_attempt {
    std::shared_ptr<endpoint_record> at;
    std::uint64_t number = 0;
    std::uint64_t last = 0; // the number of the operation's last attempt at this endpoint
    time_point began{};
    bool runs = false;
};

/// Chooses an endpoint for each attempt, and ejects the endpoints that fail or are slow.
///
/// An endpoint is available, refused by its circuit breaker, ejected because it is slow, or resting because its
/// server wants no attempt. A server's wish, such as a Retry-After, moves a slow endpoint to the resting ones.
/// A choice first moves endpoints whose time is over, and then draws among the available ones. The time of each
/// function grows with the logarithm of the number of endpoints at most. Only the constructor and `assign`
/// allocate.
///
/// Thread safety: call any function from any thread, and `assign` from one at a time. A thread that holds the
/// mutex of the table may lock a breaker, and never the other way round. Changes of breakers are told without a
/// lock.
class endpoint_table {
public:
    using list = std::vector<std::shared_ptr<endpoint_record>>;

    /// An endpoint that has left the list, and when.
    struct departed {
        std::shared_ptr<endpoint_record> one;
        time_point left;
    };

    /// The members and endpoints that `assign` has taken out of the table. Destroy them without a lock.
    struct remains {
        std::shared_ptr<void const> members;
        std::vector<departed> former;
    };

    /// Throws std::invalid_argument for an option outside its range.
    ASIO_RETRY_DECL static endpoint_options const& checked(endpoint_options const& options);

    /// Precondition: the options are checked, and there is an endpoint.
    ASIO_RETRY_DECL endpoint_table(endpoint_options const& options, list endpoints);
    ASIO_RETRY_DECL ~endpoint_table();
    endpoint_table(endpoint_table const&) = delete;
    endpoint_table& operator=(endpoint_table const&) = delete;

    /// The endpoints of the list, and former members that are remembered at `now`, or at the latest choice if
    /// that is later. Call it on the thread that calls `assign`.
    ASIO_RETRY_DECL list known(time_point now) const;

    /// Replaces the endpoints. Some of the new ones may be in the present list too, or have left it before.
    [[nodiscard]] ASIO_RETRY_DECL remains assign(list endpoints, time_point now);

    /// The endpoints, in the order in which they were given.
    ASIO_RETRY_DECL std::shared_ptr<list const> endpoints() const noexcept;

    /// Chooses for an attempt of an operation that has made `tried`. If it may begin, sets `chosen`.
    ///
    /// If none is available and one rests, the answer is error::cooling_down, unless the operation `insists`.
    ASIO_RETRY_DECL admission choose(std::span<endpoint_attempt const> tried, bool insists, time_point now,
                                     random& dice, std::shared_ptr<endpoint_record>& chosen) noexcept;

    /// When the first endpoint may be asked, as far as is known: up to `now` if one is available.
    ASIO_RETRY_DECL time_point first_available(time_point now) noexcept;

    /// Ends an attempt that was chosen.
    ASIO_RETRY_DECL void on_end(endpoint_record& at, attempt_end const& end) noexcept;

private:
    struct members;

    bool is_remembered(departed const& one, time_point now) const noexcept;
    std::vector<departed> departures(list const& next, time_point now) const;
    std::shared_ptr<members> made_of(list endpoints, std::size_t number) const;
    std::uint32_t drawn(std::span<endpoint_attempt const> tried, std::uint32_t besides,
                        random& dice) const noexcept;
    std::uint32_t tried_longest_ago(std::span<endpoint_attempt const> tried) const noexcept;
    std::uint32_t better(std::uint32_t a, std::uint32_t b, random& dice) const noexcept;
    std::uint32_t find(std::span<endpoint_attempt const> tried, random& dice) const noexcept;
    admission refusal(bool insists, time_point now) const noexcept;

    static void note_answer(endpoint_record& at, bool failed) noexcept;
    void recheck(endpoint_record& at, time_point now) noexcept;
    void rest(endpoint_record& at, time_point until, time_point now) noexcept;
    void reconcile(endpoint_record& at) noexcept;
    void update_state(std::uint32_t id, time_point now, bool was_refused) noexcept;
    void bring_back_due(time_point now) noexcept;
    void bring_back_slow() noexcept;
    void make_available_or_resting(std::uint32_t id, time_point now) noexcept;
    void make_available(std::uint32_t id) noexcept;
    void leave_state(std::uint32_t id) noexcept;
    std::size_t allowed_slow() const noexcept;

    void record_latency(endpoint_record& at, duration took, time_point now) noexcept;
    void record_defeat(endpoint_record& at, time_point now) noexcept;
    static bool begin_recording(endpoint_record& at) noexcept;
    void compare_latency(endpoint_record& at, latency_step median, bool is_new, bool is_slow,
                         time_point now) noexcept;
    void count_slow(std::uint32_t id, time_point now) noexcept;
    bool is_slower(latency_step one, latency_step other) const noexcept;
    void count_latency(std::uint32_t id, latency_step step) noexcept;

    duration const slow_for_; // at first
    double const slow_growth_;
    duration const slow_cap_;
    double const greatest_ejected_;
    double const slow_factor_;
    std::uint32_t const slow_least_;
    duration const remembered_;
    std::atomic<time_point> latest_ = (time_point::min)(); // the time of the latest choice
    std::atomic<latency_step> lowest_ = 0;                 // latency of the available endpoints
    std::mutex mutable mutex_;
    std::shared_ptr<members> members_;
    std::vector<departed> departed_; // former members that are remembered; changed by `assign` alone
};

} // namespace detail
} // namespace asio_retry
