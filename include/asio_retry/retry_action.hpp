#pragma once

#include <asio_retry/retry_machine.hpp> // defines retry_action
