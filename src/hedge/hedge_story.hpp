#pragma once

#include <asio_retry/duration.hpp>
#include <asio_retry/pushback.hpp>
#include <asio_retry/verdict.hpp>

#include <cstdint>
#include <optional>
#include <string_view>

namespace asio_retry::detail {

/// The part of a hedge_machine for an observer.
struct hedge_story {
    std::uint64_t number = 0;    // of the operation
    bool is_observed = false;    // between the start and the end
    std::uint32_t announced = 0; // a bit for each attempt that the observer has heard begin and not end
    time_point initiated{};
    time_point seen{};            // the time of the last event
    time_point idle_since{};      // when the last announced attempt ended; without meaning while one runs
    duration idle{};              // all time without an attempt before that
    std::optional<verdict> last;  // the last failure that counts; a loser's does not
    pushback said;                // its server's wish about retries
    bool follows_failure = false; // the next attempt begins because of it
    std::string_view refuser;     // the name of the gate that refused last

    bool announces(std::uint64_t attempt) const noexcept { return (announced >> attempt & 1u) != 0; }
};

} // namespace asio_retry::detail
