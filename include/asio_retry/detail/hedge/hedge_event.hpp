#pragma once

#include <cstdint>

namespace asio_retry::detail {

/// The events of a hedged operation, on any thread of its context, as bits. The first 16 are the ends of its
/// attempts.
enum class hedge_event : std::uint32_t {
    nothing = 0,
    all_attempts = 0xffff,
    timer_expired = 1 << 16,    ///< another attempt may begin, or the time limit is reached
    scope_noticed = 1 << 17,    ///< the scope has a request
    called = 1 << 18,           ///< it has to go on on its executor
    handler_returned = 1 << 19, ///< the handler has returned while attempts still ran
};

/// Attempt `number` has completed, or never will.
constexpr hedge_event ended(unsigned number) noexcept {
    return static_cast<hedge_event>(std::uint32_t(1) << (number - 1));
}

constexpr hedge_event operator|(hedge_event a, hedge_event b) noexcept {
    return static_cast<hedge_event>(std::uint32_t(a) | std::uint32_t(b));
}
constexpr hedge_event operator&(hedge_event a, hedge_event b) noexcept {
    return static_cast<hedge_event>(std::uint32_t(a) & std::uint32_t(b));
}
constexpr hedge_event operator~(hedge_event events) noexcept {
    return static_cast<hedge_event>(~std::uint32_t(events));
}

/// The purpose of a queued turn of a hedged operation.
enum class hedge_turn : unsigned char {
    delivery, ///< delivers a result that was there before the initiating function returned
    continuation,
    timer_notice,
    scope_notice,
};

/// Whether any thread may queue it, so that the handler's allocator must not be used.
constexpr bool comes_from_any_thread(hedge_turn turn) noexcept {
    return turn != hedge_turn::delivery;
}

} // namespace asio_retry::detail
