#pragma once

#include <asio_retry/duration.hpp>

#include <array>
#include <cstdint>
#include <string>

namespace asio_retry::detail {

/// A duration for people, rounded to a thousandth of its unit: 500 ms, 1.5 s, 90 s.
inline std::string spoken(duration value) {
    struct unit {
        char const* name;
        std::int64_t nanoseconds;
    };
    static constexpr std::array<unit, 4> units{
        {{" s", 1'000'000'000}, {" ms", 1'000'000}, {" us", 1000}, {" ns", 1}}};
    if (value <= duration::zero())
        return "0 s";
    auto found = units.begin();
    while (value.count() < found->nanoseconds)
        ++found;
    std::string text = std::to_string(value.count() / found->nanoseconds);
    std::int64_t const thousandths = value.count() % found->nanoseconds * 1000 / found->nanoseconds;
    if (thousandths != 0) {
        text += '.' + std::to_string(1000 + thousandths).substr(1);
        text.resize(text.find_last_not_of('0') + 1);
    }
    return text + found->name;
}

} // namespace asio_retry::detail
