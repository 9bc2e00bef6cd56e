#pragma once

#include <array>
#include <cstdint>

namespace asio_retry::detail {

/// The levels of a timing wheel for times of 64 bits.
///
/// A slot of a level lasts 2^first_bit ns. The slots of a level cover two slots of the level above: the slot
/// that the wheel is in, and the next slot. The level of a quarter of a millisecond has many slots, so that
/// with the usual slack a usual wait ends in the slot where it began. To move a wait costs as much as to end
/// it, because no cache has the wait by then.
struct wheel_levels {
    static constexpr std::array<unsigned, 11> first_bits{0, 6, 12, 18, 28, 34, 40, 46, 52, 58, 64};
    static constexpr unsigned count = first_bits.size() - 1;

    /// The first level whose next slot is worth a turn of its own before its time comes.
    static constexpr unsigned first_prepared = 4;

    static constexpr unsigned slots(unsigned level) noexcept {
        return 2u << (first_bits[level + 1] - first_bits[level]);
    }
};

/// The constants of one level.
struct wheel_level {
    std::uint64_t other_slots_above; ///< a mask of the bits of the levels above
    std::uint32_t last_slot;
    std::uint32_t first_slot; ///< its index among the slots of all levels
    std::uint32_t first_bit;
    std::uint32_t number;
};

inline constexpr auto wheel_level_table = [] {
    std::array<wheel_level, wheel_levels::count> table{};
    std::uint32_t first_slot = 0;
    for (unsigned level = 0; level != wheel_levels::count; ++level) {
        unsigned const end = wheel_levels::first_bits[level + 1];
        table[level] = {end == 64 ? 0 : ~std::uint64_t(0) << end, wheel_levels::slots(level) - 1, first_slot,
                        wheel_levels::first_bits[level], level};
        first_slot += wheel_levels::slots(level);
    }
    return table;
}();

inline constexpr auto level_of_wheel_bit = [] {
    std::array<std::uint8_t, 64> level_of{};
    for (unsigned level = 0; level != wheel_levels::count; ++level)
        for (unsigned bit = wheel_levels::first_bits[level]; bit != wheel_levels::first_bits[level + 1]; ++bit)
            level_of[bit] = static_cast<std::uint8_t>(level);
    return level_of;
}();

inline constexpr unsigned wheel_slots =
    wheel_level_table.back().first_slot + wheel_level_table.back().last_slot + 1;

/// The size of a block of slots. The size of each level is a multiple of it.
inline constexpr unsigned wheel_block = 128;
inline constexpr auto level_of_wheel_block = [] {
    std::array<std::uint8_t, wheel_slots / wheel_block> level_of{};
    for (wheel_level const& level : wheel_level_table)
        for (unsigned slot = 0; slot <= level.last_slot; slot += wheel_block)
            level_of[(level.first_slot + slot) / wheel_block] = static_cast<std::uint8_t>(level.number);
    return level_of;
}();

} // namespace asio_retry::detail
