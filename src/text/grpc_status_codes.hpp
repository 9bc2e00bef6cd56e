#pragma once

#include <algorithm>
#include <string_view>

namespace asio_retry::detail {

/// The numbers of gRPC's status codes are their indices.
inline constexpr std::string_view grpc_status_codes[] = {
    "OK",        "CANCELLED",      "UNKNOWN",           "INVALID_ARGUMENT",   "DEADLINE_EXCEEDED",
    "NOT_FOUND", "ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION",
    "ABORTED",   "OUT_OF_RANGE",   "UNIMPLEMENTED",     "INTERNAL",           "UNAVAILABLE",
    "DATA_LOSS", "UNAUTHENTICATED"};

inline bool is_same_but_for_case(std::string_view name, std::string_view upper) {
    return std::equal(name.begin(), name.end(), upper.begin(), upper.end(),
                      [](char a, char b) { return a == b || (a >= 'a' && a <= 'z' && a - 'a' + 'A' == b); });
}

} // namespace asio_retry::detail
