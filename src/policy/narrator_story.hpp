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

/// The rarely needed state of a narrator, allocated on demand.
struct narrator::story {
    // --- the end of the operation if nothing more happens: a failure, or else the refusal
    std::optional<verdict> failure; // in a hedge, the last failure that counts; a loser's does not
    error_code refusal = error::attempt_refused;

    // --- the running attempt of a retry
    pushback heeded;
    shared_value<nested_marks> marks; // of a retry nested in the attempt; null if there is none

    // --- an attempt that may begin later, or is refused
    // The reserved time if `is_reserved`, or else the end of the wait in a queue or after a refusal. A
    // reservation for max() keeps nothing: the operation ends.
    time_point held_until{};
    std::uint64_t ticket = 0;            // of its admission
    std::unique_ptr<gate_waiter> waiter; // null until it waits in a queue, or for a reserved time
    bool is_reserved = false;            // admitted for the later time `held_until`
    bool is_queued = false;              // in the queue of a gate
    bool is_watching = false;            // for a reserved time that the gate may move
    bool is_put_off = false;             // refused by a chooser, because all its servers rest

    // --- for the policy's observer
    bool is_observed = false;     // between the start and the end
    bool follows_failure = false; // the next attempt of the hedge follows `failure`
    std::uint32_t announced = 0;  // the running attempts that the observer knows, a bit for each
    std::uint64_t number = 0;     // of the operation; 0 if the observer does not want it
    time_point initiated{};
    time_point seen{};        // the time of the last event
    time_point idle_since{};  // when the last announced attempt ended; without meaning while one runs
    duration idle{};          // the time without an attempt, up to `idle_since`
    std::string_view refuser; // the name of the gate that refused last; names live as long as the program
    pushback said;            // came with `failure` in a hedge

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
