#pragma once

#include <asio_retry.hpp>

asio_retry::retry_policy policy();

/// Refuses the first time.
asio_retry::error_code attempt_once(int& attempts);
