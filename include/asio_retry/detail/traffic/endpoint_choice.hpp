#pragma once

#include <asio_retry/detail/policy/config.hpp>
#include <asio_retry/detail/traffic/endpoint_table.hpp>
#include <asio_retry/duration.hpp>
#include <asio_retry/pushback.hpp>
#include <asio_retry/random.hpp>
#include <asio_retry/retry_gate.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace asio_retry::detail {

/// Chooses the endpoint of each attempt of one operation, and remembers the endpoints that it has tried.
///
/// A copy belongs to another operation, and has tried nothing. The object remembers the last 64 endpoints. It
/// has room for four; without memory for more it forgets the endpoint that it tried longest ago.
///
/// Lifetime: it owns the endpoints that it remembers.
/// Thread safety: distinct objects are independent; one object is not shared.
class endpoint_choice {
public:
    ASIO_RETRY_DECL explicit endpoint_choice(std::shared_ptr<endpoint_table> table) noexcept;
    ASIO_RETRY_DECL endpoint_choice(endpoint_choice const& other) noexcept;
    endpoint_choice& operator=(endpoint_choice const&) = delete;

    /// Attempts that still run end as abandoned.
    ASIO_RETRY_DECL ~endpoint_choice();

    /// Draws from the operation's own source, which has to stay where it is.
    void draw_from(random& dice) noexcept { dice_ = &dice; }

    /// Whether attempt `number` may begin at `now`, at the endpoint `at(number)`.
    ///
    /// Refuses it with error::circuit_open if no endpoint is available, and with error::cooling_down if one
    /// rests. If it asks again before that time is over, it gets the endpoint whose rest ends first. Refuses it
    /// with no_memory_error() if more than 4 attempts run and there is no memory for another.
    ///
    /// Precondition: `draw_from` was called, and the attempt does not run.
    ASIO_RETRY_DECL admission choose(std::uint64_t number, time_point now) noexcept;

    /// Translates `said`, the wish of one endpoint, for the operation: empty while another endpoint is
    /// available, and otherwise the time until the first one is.
    ASIO_RETRY_DECL pushback wish(pushback said, time_point now) noexcept;

    /// Since when the next attempt waits because endpoints rest; `now` if it does not.
    time_point put_off_since(time_point now) const noexcept {
        return put_off_since_ < now ? put_off_since_ : now;
    }

    /// Ends a running attempt; does nothing if it does not run.
    ASIO_RETRY_DECL void on_end(attempt_end const& end) noexcept;

    /// The endpoint of an attempt. Precondition: the attempt runs.
    ASIO_RETRY_DECL std::shared_ptr<endpoint_record const> at(std::uint64_t number) const noexcept;

private:
    static constexpr std::size_t few = 4;
    static constexpr std::size_t many = 64;

    endpoint_attempt* all() noexcept { return many_ ? many_.get() : few_.data(); }
    std::span<endpoint_attempt const> tried() const noexcept;
    endpoint_attempt* running(std::uint64_t number) noexcept;
    endpoint_attempt* room_for(endpoint_record const& at) noexcept;
    bool grow() noexcept;
    void put_off(time_point until, time_point now) noexcept;

    std::shared_ptr<endpoint_table> table_;
    random* dice_ = nullptr;
    // How long the next attempt waits because endpoints rest; min() and max() if it does not.
    time_point put_off_until_ = (time_point::min)();
    time_point put_off_since_ = (time_point::max)();
    std::size_t count_ = 0;
    std::array<endpoint_attempt, few> few_;
    std::unique_ptr<endpoint_attempt[]> many_; // replaces `few_` when four entries are too few
};

} // namespace asio_retry::detail
