#pragma once

#include <asio_retry/detail/policy/config.hpp>
#include <asio_retry/retry_settings.hpp>
#include <asio_retry/verdict.hpp>

namespace asio_retry::detail {

/// Whether a failure that is not permanent is one to retry. Throws what the predicate throws.
ASIO_RETRY_DECL bool is_retryable(retry_settings const& settings, verdict const& failure);

} // namespace asio_retry::detail
