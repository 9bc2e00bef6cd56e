#pragma once

#include <cstdint>

namespace asio_retry::detail {

/// What may happen to a hedged operation, on any thread of its context: some of these, or nothing. The first 16
/// are the ends of its attempts.
enum class hedge_event : std::uint32_t {
    nothing = 0,
    all_attempts = 0xffff,
    timer_expired = 1 << 16,    ///< another attempt may begin, or the time is up
    scope_noticed = 1 << 17,    ///< the scope asks for something
    called = 1 << 18,           ///< there is something to do on the executor
    handler_returned = 1 << 19, ///< the handler has run, while attempts still did
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

/// What a queued turn of a hedged operation is for.
enum class hedge_turn : unsigned char {
    delivery, ///< of what ended in the initiating function
    continuation,
    timer_notice,
    scope_notice,
};

/// Whether it may be queued from any thread, where the handler's allocator has no business.
constexpr bool comes_from_any_thread(hedge_turn turn) noexcept {
    return turn != hedge_turn::delivery;
}

} // namespace asio_retry::detail
