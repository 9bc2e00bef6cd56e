#pragma once

#include <array>
#include <cstdint>

namespace asio_retry::detail {

/// The levels of a timing wheel for times of 64 bits.
///
/// The slots of a level stand for the bits of a time from its first bit up to that of the next level. The level
/// of about a quarter of a millisecond has many slots, so that with the usual slack a usual wait ends in the
/// slot it was put in: to move one costs as much as to end it, because nothing of it is in a cache by then.
struct wheel_levels {
    static constexpr std::array<unsigned, 11> first_bits{0, 6, 12, 18, 28, 34, 40, 46, 52, 58, 64};
    static constexpr unsigned count = first_bits.size() - 1;

    static constexpr unsigned slots(unsigned level) noexcept {
        return 1u << (first_bits[level + 1] - first_bits[level]);
    }
};

/// The part of a time that says which slot of a level.
struct wheel_digit {
    std::uint8_t level;
    std::uint8_t first_bit;
    std::uint16_t last_slot;
};

inline constexpr auto wheel_digit_of_bit = [] {
    std::array<wheel_digit, 64> digits{};
    for (unsigned level = 0; level != wheel_levels::count; ++level)
        for (unsigned bit = wheel_levels::first_bits[level]; bit != wheel_levels::first_bits[level + 1]; ++bit)
            digits[bit] = {static_cast<std::uint8_t>(level),
                           static_cast<std::uint8_t>(wheel_levels::first_bits[level]),
                           static_cast<std::uint16_t>(wheel_levels::slots(level) - 1)};
    return digits;
}();

/// In a row of all levels' slots, one level after the other.
inline constexpr auto first_slot_of_wheel_level = [] {
    std::array<unsigned, wheel_levels::count + 1> first{};
    for (unsigned level = 0; level != wheel_levels::count; ++level)
        first[level + 1] = first[level] + wheel_levels::slots(level);
    return first;
}();

} // namespace asio_retry::detail
