#pragma once

#include <string_view>

namespace asio_retry::detail {

inline constexpr std::string_view operations_name = "asio_retry_operations_total",
                                  attempts_name = "asio_retry_attempts_total",
                                  retries_name = "asio_retry_retries_total",
                                  hedges_name = "asio_retry_hedges_total",
                                  refused_name = "asio_retry_refused_total",
                                  pending_name = "asio_retry_pending", delays_name = "asio_retry_delay_seconds",
                                  lengths_name = "asio_retry_attempt_seconds";

// Of gRPC and OpenTelemetry, as OpenTelemetry writes them for Prometheus: `_` for `.`, the unit `s` in words,
// and no unit in braces.
inline constexpr std::string_view grpc_retries_name = "grpc_client_call_retries",
                                  grpc_hedges_name = "grpc_client_call_hedges",
                                  grpc_delays_name = "grpc_client_call_retry_delay_seconds",
                                  http_durations_name = "http_client_request_duration_seconds",
                                  http_active_name = "http_client_active_requests";

} // namespace asio_retry::detail
