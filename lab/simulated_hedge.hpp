#pragma once

#include "event_queue.hpp"

#include <asio_retry/hedge_policy.hpp>

#include <cstdint>
#include <functional>

namespace asio_retry::lab {

/// The end of an operation whose attempts never fail.
struct hedge_end {
    duration took;
    duration took_winner; ///< since the winning attempt began
    std::uint64_t attempts;
};

/// Begins a hedged operation with the library's own machine. `draw` returns how long an attempt takes that
/// begins now. A stopped attempt stops at once.
void simulate_hedge(event_queue& events, hedge_policy const& policy, std::function<duration()> draw,
                    std::function<void(hedge_end const&)> done);

} // namespace asio_retry::lab
