#pragma once

#include "text/number.hpp"

#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

#include <cmath>
#include <cstdint>
#include <string>

namespace asio_retry::detail {

/// The digits of a number, without an exponent if it is whole and below 2^63; none for another value.
inline std::string digits_of(boost::json::value const& from) {
    if (auto const* number = from.if_int64())
        return std::to_string(*number);
    if (auto const* number = from.if_uint64())
        return std::to_string(*number);
    auto const* number = from.if_double();
    if (!number || !std::isfinite(*number))
        return "";
    bool const is_whole = std::abs(*number) < 0x1p63 && *number == std::trunc(*number);
    return is_whole ? std::to_string(static_cast<std::int64_t>(*number)) : to_text(*number);
}

/// Writes JSON as a person would: Boost.JSON writes 0.5 as 5E-1.
inline std::string shown_json(boost::json::value const& from) {
    if (std::string const digits = digits_of(from); !digits.empty())
        return digits;
    auto const* const list = from.if_array();
    if (!list || list->empty())
        return boost::json::serialize(from);
    std::string text;
    for (boost::json::value const& each : *list) {
        std::string const digits = digits_of(each);
        text.append(text.empty() ? "[" : ",").append(digits.empty() ? boost::json::serialize(each) : digits);
    }
    return text + ']';
}

} // namespace asio_retry::detail
