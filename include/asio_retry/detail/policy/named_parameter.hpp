#pragma once

#include <string_view>

namespace asio_retry::detail {

/// A parameter of the function that makes an `Owner`: its name, and the member that keeps its argument. What
/// writes and what reads such functions as text both go by these.
template <typename Owner, typename Value>
struct named_parameter {
    std::string_view name;
    Value Owner::* member;
    bool is_optional = false;
};

template <typename Owner, typename Value>
named_parameter(std::string_view, Value Owner::*, bool = false) -> named_parameter<Owner, Value>;

} // namespace asio_retry::detail
