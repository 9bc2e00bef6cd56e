#pragma once

#include <asio_retry/detail/policy/narrator.hpp>
#include <asio_retry/gate_waiter.hpp>
#include <asio_retry/verdict.hpp>

#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <string_view>

namespace asio_retry::detail {

/// What a narrator keeps of an operation. It is apart, because most operations need none of it.
struct narrator::story {
    // --- what the operation ends with if nothing more happens: a failure, or else the refusal
    std::optional<verdict> failure; // in a hedge, the last one that counts: a loser's does not
    error_code refusal = error::attempt_refused;

    // --- the running attempt of a retry
    pushback heeded;
    shared_value<nested_marks> marks; // of a retry nested in the attempt; null if there is none

    // --- an attempt that may begin later, or is refused
    time_point held_until{};             // until when it does not begin
    std::uint64_t ticket = 0;            // of its admission
    std::unique_ptr<gate_waiter> waiter; // null until it waits in a queue, or for a reserved time
    bool is_reserved = false; // admitted for `held_until`, and not for the time when it was asked for
    bool is_queued = false;   // in the queue of a gate
    bool is_watching = false; // for a reserved time that the gate may move
    bool is_put_off = false;  // refused, because a server rests and no other may be asked

    // --- for the policy's observer
    bool is_observed = false;     // between the start and the end
    bool follows_failure = false; // the next attempt of a hedge begins because of it
    std::uint32_t announced = 0;  // attempts that it has heard begin and not end, a bit for each
    std::uint64_t number = 0;     // of the operation; 0 if it does not hear of it
    time_point initiated{};
    time_point seen{};        // the time of the last event
    time_point idle_since{};  // when the last announced attempt ended; without meaning while one runs
    duration idle{};          // without an attempt, before that
    std::string_view refuser; // the name of the gate that refused last, which lives as long as the program
    pushback said;            // with the failure that a hedge keeps

    /// At most 16 attempts of a hedge run at once, and one of a retry.
    static std::uint32_t bit_of(std::uint64_t attempt) noexcept { return 1u << attempt % 32; }

    /// Makes the waiter, or makes it ready for another wait. Returns false without memory.
    bool renew_waiter(request_priority priority) noexcept {
        if (waiter)
            waiter->renew();
        else
            waiter.reset(new (std::nothrow) gate_waiter(priority));
        return waiter != nullptr;
    }
};

} // namespace asio_retry::detail
