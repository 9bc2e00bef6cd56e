#pragma once

#include <array>
#include <cstdint>

namespace asio_retry::detail {

/// The levels of a timing wheel for times of 64 bits.
///
/// A slot of a level is as long as the level's first bit says. A level has slots for two slots of the level
/// above, the one that the wheel is in and the next. The level of a quarter of a millisecond has many slots:
/// with the usual slack a usual wait ends in the slot where it began. To move a wait costs as much as to end
/// it, because nothing of it is in a cache by then.
struct wheel_levels {
    static constexpr std::array<unsigned, 11> first_bits{0, 6, 12, 18, 28, 34, 40, 46, 52, 58, 64};
    static constexpr unsigned count = first_bits.size() - 1;

    /// The first whose next slot is worth a turn of its own, before its time comes.
    static constexpr unsigned first_prepared = 4;

    static constexpr unsigned slots(unsigned level) noexcept {
        return 2u << (first_bits[level + 1] - first_bits[level]);
    }
};

inline constexpr auto level_of_wheel_bit = [] {
    std::array<std::uint8_t, 64> level_of{};
    for (unsigned level = 0; level != wheel_levels::count; ++level)
        for (unsigned bit = wheel_levels::first_bits[level]; bit != wheel_levels::first_bits[level + 1]; ++bit)
            level_of[bit] = static_cast<std::uint8_t>(level);
    return level_of;
}();

/// In a row of the slots of all levels, one level after the other.
inline constexpr auto first_slot_of_wheel_level = [] {
    std::array<unsigned, wheel_levels::count + 1> first{};
    for (unsigned level = 0; level != wheel_levels::count; ++level)
        first[level + 1] = first[level] + wheel_levels::slots(level);
    return first;
}();

/// Of each block of slots in that row: the size of every level is a multiple of it.
inline constexpr unsigned wheel_block = 128;
inline constexpr auto level_of_wheel_block = [] {
    std::array<std::uint8_t, first_slot_of_wheel_level[wheel_levels::count] / wheel_block> level_of{};
    for (unsigned level = 0; level != wheel_levels::count; ++level)
        for (unsigned slot = 0; slot != wheel_levels::slots(level); slot += wheel_block)
            level_of[(first_slot_of_wheel_level[level] + slot) / wheel_block] =
                static_cast<std::uint8_t>(level);
    return level_of;
}();

} // namespace asio_retry::detail
