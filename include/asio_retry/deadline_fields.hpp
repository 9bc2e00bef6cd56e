#pragma once

#include <asio_retry/detail/policy/config.hpp>
#include <asio_retry/duration.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace asio_retry {

// A deadline travels as the time that is left, because two machines have no common clock. The texts never give
// a server more time than the caller has: they round down.
//
// - If the deadline is time_point::max(), there is none, and the text is empty: leave the field out.
// - If no time is left, the text says zero. Make no request then: some servers and proxies, such as Envoy, take
//   zero for "no limit".
//
// The parsers take any text and never throw. A number consists of digits, without a sign, and the time
// saturates at duration::max(). Any other text is std::nullopt, also one with a space: HTTP libraries remove
// the spaces around a field's value.

/// Writes gRPC's `grpc-timeout` for what is left until `deadline`, such as `99950000n`.
///
/// The unit is the finest one in which the number has at most 8 digits. The text is `0m` if the deadline is
/// over. It is empty if there is no deadline.
///
/// `margin` is subtracted from what is left: the time that the answer needs on its way back. Throws
/// std::invalid_argument if the margin is negative.
///
/// Source: gRPC over HTTP2, section Requests.
ASIO_RETRY_DECL std::string to_grpc_timeout(saturating_time_point deadline, time_point now,
                                            saturating_duration margin = {});

/// Reads gRPC's `grpc-timeout`: 1 to 8 digits and a unit, `H`, `M`, `S`, `m`, `u` or `n`.
///
/// For example `100m`. The units are hours, minutes, seconds, milliseconds, microseconds and nanoseconds. Zero
/// means that no time is left. If the field is absent, there is no deadline: do not call this then.
ASIO_RETRY_DECL std::optional<duration> parse_grpc_timeout(std::string_view text) noexcept;

/// Writes `x-envoy-expected-rq-timeout-ms` and similar fields: whole milliseconds until `deadline`.
///
/// The text is `0` if less than a millisecond is left. It is empty if there is no deadline. `margin` is that of
/// `to_grpc_timeout`.
ASIO_RETRY_DECL std::string to_timeout_ms(saturating_time_point deadline, time_point now,
                                          saturating_duration margin = {});

/// Reads `x-envoy-expected-rq-timeout-ms` and similar fields: whole milliseconds.
///
/// Zero means that no time is left. If a caller means "no limit" by it, as in `x-envoy-upstream-rq-timeout-ms`,
/// compare with zero.
ASIO_RETRY_DECL std::optional<duration> parse_timeout_ms(std::string_view text) noexcept;

} // namespace asio_retry
