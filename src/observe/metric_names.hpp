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

} // namespace asio_retry::detail
