#include "policy/duration_text.hpp"

#include "policy/duration_units.hpp"

#include <algorithm>
#include <iterator>

namespace asio_retry::detail {

std::string to_text(duration value) {
    auto const divides = [&](duration_unit const& unit) {
        return value.count() % static_cast<std::int64_t>(unit.nanoseconds) == 0;
    };
    if (value == duration::zero())
        return "0s";
    duration_unit const& unit = *std::find_if(std::begin(duration_units), std::end(duration_units), divides);
    return std::to_string(value.count() / static_cast<std::int64_t>(unit.nanoseconds)).append(unit.name);
}

} // namespace asio_retry::detail
