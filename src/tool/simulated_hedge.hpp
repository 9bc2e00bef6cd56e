#pragma once

#include "event_queue.hpp"

#include <asio_retry/hedge_policy.hpp>

#include <cstdint>
#include <functional>

namespace asio_retry::tool {

/// How an operation of which no attempt fails has ended.
struct hedge_end {
    duration took;
    duration took_winner; ///< since that attempt began
    std::uint64_t attempts;
};

/// Begins an operation that is hedged, by the library's own machine. `draw` is asked how long an attempt takes
/// that begins now; what is told to stop does so at once.
void simulate_hedge(event_queue& events, hedge_policy const& policy, std::function<duration()> draw,
                    std::function<void(hedge_end const&)> done);

} // namespace asio_retry::tool
