#pragma once

#include <asio_retry/duration.hpp>
#include <asio_retry/error.hpp>
#include <asio_retry/retry_gate.hpp>

#include "world/dice.hpp"

#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/error.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

/// The plan of one operation, drawn before it starts.
namespace asio_retry::world {

using namespace std::chrono_literals;
namespace asio = boost::asio;

/// When an attempt ends by itself, what it does when it is told to stop, and how it ends.
enum class attempt_pace { at_once, posted, timed, hangs };
enum class attempt_stop { aborts, aborts_late, ignores, succeeds };
enum class fate { success, error, rejected, throws, drops };

struct attempt_plan {
    attempt_pace pace = attempt_pace::posted;
    attempt_stop when_told = attempt_stop::aborts;
    fate end = fate::success;
    error_code error;
    duration takes{};
    duration late{};
};

enum class shape_kind { constant, linear, exponential, truncated_binary, custom };
enum class jitter_kind { none, full, equal, decorrelated, proportional, custom };

struct law_plan {
    shape_kind shape = shape_kind::constant;
    duration base{};
    duration step{};
    int factor = 2;
    int growing = 3;
    std::optional<duration> cap;
    jitter_kind jitter = jitter_kind::none;
    double fraction = 0.5;
};

/// What a callable of the policy does besides its work.
struct callback_plan {
    enum class deed { nothing, cancels_itself, cancels_another, starts_another, cancels_scope, throws };
    deed what = deed::nothing;
    std::uint64_t at_attempt = 1;
    asio::cancellation_type_t type = asio::cancellation_type::terminal;
};

enum class form_kind { token, attempt_token, deferred, awaitable, awaitable_tuple, count };

struct operation_plan {
    form_kind form = form_kind::token;
    bool awaited = false;
    bool in_scope = false;
    std::vector<attempt_plan> attempts; // success from then on
    law_plan law;
    std::optional<std::uint64_t> max_attempts;
    std::optional<duration> max_elapsed, attempt_timeout, total_timeout, deadline;
    bool clamp = false;
    bool allow_total = false;
    std::optional<error_code> fatal; // not retryable
    callback_plan in_predicate, in_hook;
    bool give_up_throws = false;
    std::optional<std::uint64_t> gate_refuses_at; // the acquisition of that number
    bool has_gate = false;

    bool completes_with_code() const { return form != form_kind::awaitable; }
    bool limits_attempts() const { return attempt_timeout || total_timeout || deadline; }
};

operation_plan draw_operation(dice& d);

/// Of an operation that shares things with others.
attempt_plan draw_shared_attempt(dice& d, duration unit);

asio::cancellation_type_t draw_type(dice& d);

} // namespace asio_retry::world
