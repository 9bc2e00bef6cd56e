#pragma once

#include <boost/asio/cancellation_type.hpp>

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace asio_retry::test {

namespace asio = boost::asio;

/// When the cancellation arrives. What the name leaves open, `point::attempt` says.
enum class place {
    before_start,          ///< the operation has not been initiated
    attempt_not_begun,     ///< the first attempt was spawned, but its coroutine has not begun
    in_initiation,         ///< the attempt is being initiated: its callable cancels
    in_attempt,            ///< the attempt is pending
    failure_queued,        ///< the attempt has failed and its completion is queued; no wait has begun
    waiting,               ///< the wait after the attempt is half over
    waiting_in_real_time,  ///< the same by the steady clock, with an hour to go
    wait_over_and_queued,  ///< the wait after the attempt is over and its continuation is queued
    retry_queued,          ///< the attempt after this one is queued without a wait
    success_queued,        ///< the attempt has succeeded and its completion is queued
    in_predicate,          ///< inside retry_if, which is asked about the attempt
    in_backoff,            ///< inside the backoff after the attempt
    in_jitter,             ///< inside the jitter after the attempt
    in_on_retry,           ///< inside on_retry after the attempt
    in_on_give_up,         ///< inside on_give_up, the attempt having been the last allowed
    attempt_limit_queued,  ///< the attempt has reached its timeout and the notice of it is queued
    attempt_limit_passed,  ///< the attempt has been told that its time is over
    set_up_limit_queued,   ///< the same where the attempt has not said in time that it is set up
    set_up_limit_passed,   ///< and
    silence_queued,        ///< where it has been silent for too long
    silence_passed,        ///< and
    deadline_queued,       ///< the deadline has passed and the notice of it is queued
    deadline_passed,       ///< the attempt has been told that the deadline has passed
    in_completion_handler, ///< inside the completion handler
    after_completion,      ///< the completion handler has run
};

struct point {
    place where;
    unsigned attempt; ///< counted from 1
};

/// By what the operation is cancelled.
enum class means {
    nothing, ///< an emit of cancellation_type::none
    terminal,
    partial,
    total,
    partial_and_total,
    all,
    total_allowed, ///< total, with allow_total_cancellation() in the policy
    scope,
    parent_scope,
};

/// What the attempt does that is pending when the cancellation arrives, or else the next one.
enum class kind {
    honours_all,
    honours_terminal,
    ignores_and_succeeds,
    ignores_and_fails,
    completes_inline,
    succeeds_when_cancelled,
    fails_when_cancelled, ///< with another error
    cleans_up,            ///< when cancelled: resets its cancellation state, says goodbye and fails
    disables_and_fails,   ///< cancellation, from its beginning
    throws,               ///< instead of being initiated
    never_completes,      ///< until its handler is destroyed with the context
};

enum class form { token_operation, awaitable_operation };
enum class token { callback, deferred, any_handler, future, awaitable, tuple_awaitable };
enum class executor_kind { io_context, strand, any };

inline constexpr std::array all_kinds{kind::honours_all,          kind::honours_terminal,
                                      kind::ignores_and_succeeds, kind::ignores_and_fails,
                                      kind::completes_inline,     kind::succeeds_when_cancelled,
                                      kind::fails_when_cancelled, kind::cleans_up,
                                      kind::disables_and_fails,   kind::throws,
                                      kind::never_completes};
inline constexpr std::array all_means{
    means::nothing,       means::terminal,          means::partial, means::total,       means::all,
    means::total_allowed, means::partial_and_total, means::scope,   means::parent_scope};
inline constexpr std::array all_tokens{token::callback, token::deferred,  token::any_handler,
                                       token::future,   token::awaitable, token::tuple_awaitable};

/// Every place, for the attempts for which it makes a difference.
std::vector<point> all_points();

struct matrix_case {
    point at;
    means by;
    kind does;
    form shape;
    token with;
    executor_kind on;
    bool scoped;     ///< started in a retry_scope
    bool limited;    ///< under a time limit that is far away
    bool passes_all; ///< awaitables: the coroutine of the attempt lets all types in, and not only terminal

    bool by_scope() const { return by == means::scope || by == means::parent_scope; }
    /// In a coroutine, whose cancellation state is its to change.
    bool changes_its_state() const { return does == kind::cleans_up || does == kind::disables_and_fails; }
    bool fails_by_itself() const {
        return does == kind::ignores_and_fails || does == kind::disables_and_fails || does == kind::throws;
    }
    bool by_coroutine() const { return with == token::awaitable || with == token::tuple_awaitable; }
    bool at_limit() const {
        return at.where >= place::attempt_limit_queued && at.where <= place::deadline_passed;
    }
    bool at_deadline() const {
        return at.where == place::deadline_queued || at.where == place::deadline_passed;
    }
    bool at_set_up_limit() const {
        return at.where == place::set_up_limit_queued || at.where == place::set_up_limit_passed;
    }
    bool at_silence() const { return at.where == place::silence_queued || at.where == place::silence_passed; }
    bool in_flight() const { return at.where == place::in_attempt || at_limit(); }

    /// The coroutine that awaits the operation makes its attempts itself, in a scope as outside: one thread
    /// runs the context.
    bool direct() const { return shape == form::awaitable_operation && by_coroutine(); }

    /// Nothing between the operation and its context: no strand, of the caller's or of the attempts', and no
    /// executor that was erased twice.
    bool runs_on_own_executor() const {
        bool const keeps_attempts_apart =
            shape == form::awaitable_operation && on == executor_kind::any && !by_coroutine();
        return on != executor_kind::strand && with != token::any_handler && !keeps_attempts_apart;
    }

    asio::cancellation_type_t emitted() const;

    /// How many attempts fail by themselves before the one that `does` is about.
    unsigned prior_failures() const;

    /// How many fail by themselves at all; the next one succeeds.
    unsigned failures() const { return prior_failures() + (fails_by_itself() ? 1 : 0); }
};

std::string name_of(point at);
std::string_view name_of(token with);
std::string name_of(matrix_case const& c);

/// Why there is no such case, or why it would prove nothing more; nothing if there is one.
std::optional<std::string_view> cannot_exist(matrix_case const& c);

} // namespace asio_retry::test
