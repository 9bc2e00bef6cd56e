#pragma once

#include <asio_retry/duration.hpp>
#include <asio_retry/error.hpp>
#include <asio_retry/retry_gate.hpp>

#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/error.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <random>
#include <vector>

/// What a seed decides beforehand: the program that is run.
namespace asio_retry::simulation {

using namespace std::chrono_literals;
namespace asio = boost::asio;

class dice {
public:
    explicit dice(std::uint64_t seed)
        : engine_(seed) {}

    /// Slightly biased, and the same on every platform.
    std::uint64_t below(std::uint64_t end) { return engine_() % end; }
    bool one_in(std::uint64_t n) { return below(n) == 0; }
    duration up_to(duration greatest) {
        return duration(1 + static_cast<duration::rep>(below(static_cast<std::uint64_t>(greatest.count()))));
    }
    template <typename T>
    T pick(std::initializer_list<T> choices) {
        return choices.begin()[below(choices.size())];
    }

private:
    std::mt19937_64 engine_;
};

/// Every operation that goes on is cancelled then.
inline constexpr duration horizon = 60s;

/// When an attempt ends by itself, what it does when it is told to stop, and how it ends.
enum class attempt_pace { at_once, posted, timed, hangs };
enum class attempt_stop { aborts, aborts_late, ignores, succeeds };
enum class attempt_end { success, error, rejected, throws, drops };

struct attempt_plan {
    attempt_pace pace = attempt_pace::posted;
    attempt_stop when_told = attempt_stop::aborts;
    attempt_end end = attempt_end::success;
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
    duration starts{};
    form_kind form = form_kind::token;
    bool awaited = false;
    std::optional<std::size_t> scope;
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

struct event_plan {
    enum class kind {
        cancel,
        cancel_scope,
        destroy_scope,
        drain_scope,
        hurry_scope,
        join_scope,
        cancelled_join
    };
    kind what = kind::cancel;
    duration at{};
    std::size_t target = 0;
    duration timeout{}; // of a drain
    asio::cancellation_type_t type = asio::cancellation_type::terminal;
};

struct program {
    std::uint64_t seed = 0;
    std::vector<operation_plan> operations;
    std::vector<std::optional<std::size_t>> scopes; // each with its parent
    std::vector<event_plan> events;
    std::optional<duration> destroyed_at;
};

operation_plan draw_operation(dice& d, std::size_t scopes);
program draw_program(std::uint64_t seed);

} // namespace asio_retry::simulation
