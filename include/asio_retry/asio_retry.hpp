#pragma once

/// All of the library but `policy_json.hpp`, for which Boost.JSON has to be linked.

#include <asio_retry/async_retry.hpp>
#include <asio_retry/attempt.hpp>
#include <asio_retry/backoff.hpp>
#include <asio_retry/backoff_ticker.hpp>
#include <asio_retry/duration.hpp>
#include <asio_retry/error.hpp>
#include <asio_retry/fail_if.hpp>
#include <asio_retry/failure_class.hpp>
#include <asio_retry/fresh_connection.hpp>
#include <asio_retry/jitter.hpp>
#include <asio_retry/permanent.hpp>
#include <asio_retry/policy_text.hpp>
#include <asio_retry/profiles.hpp>
#include <asio_retry/pushback.hpp>
#include <asio_retry/random.hpp>
#include <asio_retry/retry.hpp>
#include <asio_retry/retry_event.hpp>
#include <asio_retry/retry_gate.hpp>
#include <asio_retry/retry_machine.hpp>
#include <asio_retry/retry_policy.hpp>
#include <asio_retry/retry_report.hpp>
#include <asio_retry/retry_scheduler.hpp>
#include <asio_retry/retry_scope.hpp>
#include <asio_retry/retry_settings.hpp>
#include <asio_retry/retry_waits.hpp>
#include <asio_retry/stop_reason.hpp>
#include <asio_retry/traffic/retry_budget.hpp>
#include <asio_retry/traffic/share_budget.hpp>
#include <asio_retry/traffic/token_budget.hpp>
#include <asio_retry/traffic/window_budget.hpp>
#include <asio_retry/verdict.hpp>
#include <asio_retry/virtual_time.hpp>
#include <asio_retry/with_report.hpp>
