#include "human.hpp"

#include <array>
#include <chrono>
#include <cstdio>

namespace asio_retry::tool {
namespace {

struct unit {
    char const* name;
    duration length;
};

constexpr std::array<unit, 7> units{{{"d", std::chrono::hours(24)},
                                     {"h", std::chrono::hours(1)},
                                     {"min", std::chrono::minutes(1)},
                                     {"s", std::chrono::seconds(1)},
                                     {"ms", std::chrono::milliseconds(1)},
                                     {"us", std::chrono::microseconds(1)},
                                     {"ns", std::chrono::nanoseconds(1)}}};

} // namespace

std::string human(double number) {
    char text[32];
    std::snprintf(text, sizeof text, "%.4g", number);
    return text;
}

std::string human(duration d) {
    if (d == duration::max())
        return "for ever";
    for (unit const& u : units)
        if (d >= u.length)
            return human(static_cast<double>(d.count()) / static_cast<double>(u.length.count())) + " " + u.name;
    return "0";
}

} // namespace asio_retry::tool
