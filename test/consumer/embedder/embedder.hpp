#pragma once

#include <asio_retry/retry_policy.hpp>

asio_retry::retry_policy usual_policy();
