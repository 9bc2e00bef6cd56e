#include "matrix_case.hpp"

namespace asio_retry::test {
namespace {

using type = asio::cancellation_type;

std::string_view name_of(place where) {
    switch (where) {
    case place::before_start:
        return "decision_18_before_start";
    case place::attempt_not_begun:
        return "decision_15_attempt_not_begun";
    case place::in_initiation:
        return "decision_15_in_initiation";
    case place::in_attempt:
        return "decision_14_in_attempt";
    case place::failure_queued:
        return "decision_15_failure_queued";
    case place::waiting:
        return "decision_13_waiting";
    case place::waiting_in_real_time:
        return "decision_13_waiting_in_real_time";
    case place::wait_over_and_queued:
        return "decision_15_wait_over_and_queued";
    case place::retry_queued:
        return "decision_15_retry_queued";
    case place::success_queued:
        return "decision_12_success_queued";
    case place::in_predicate:
        return "decision_21_in_predicate";
    case place::in_backoff:
        return "decision_21_in_backoff";
    case place::in_jitter:
        return "decision_21_in_jitter";
    case place::in_on_retry:
        return "decision_21_in_on_retry";
    case place::in_on_give_up:
        return "decision_21_in_on_give_up";
    case place::attempt_limit_queued:
        return "decision_10_attempt_limit_queued";
    case place::attempt_limit_passed:
        return "decision_10_attempt_limit_passed";
    case place::set_up_limit_queued:
        return "set_up_limit_queued";
    case place::set_up_limit_passed:
        return "set_up_limit_passed";
    case place::silence_queued:
        return "silence_queued";
    case place::silence_passed:
        return "silence_passed";
    case place::deadline_queued:
        return "decision_8_deadline_queued";
    case place::deadline_passed:
        return "decision_8_deadline_passed";
    case place::in_completion_handler:
        return "decision_18_in_completion_handler";
    case place::after_completion:
        return "decision_18_after_completion";
    }
    return {};
}

std::string_view name_of(means by) {
    switch (by) {
    case means::nothing:
        return "none";
    case means::terminal:
        return "terminal";
    case means::partial:
        return "partial";
    case means::total:
        return "total";
    case means::partial_and_total:
        return "partial_and_total";
    case means::all:
        return "all";
    case means::total_allowed:
        return "total_allowed";
    case means::scope:
        return "scope";
    case means::parent_scope:
        return "parent_scope";
    }
    return {};
}

std::string_view name_of(kind does) {
    switch (does) {
    case kind::honours_all:
        return "honours_all";
    case kind::honours_terminal:
        return "honours_terminal";
    case kind::ignores_and_succeeds:
        return "ignores_and_succeeds";
    case kind::ignores_and_fails:
        return "ignores_and_fails";
    case kind::completes_inline:
        return "completes_inline";
    case kind::succeeds_when_cancelled:
        return "succeeds_when_cancelled";
    case kind::fails_when_cancelled:
        return "fails_when_cancelled";
    case kind::cleans_up:
        return "cleans_up";
    case kind::disables_and_fails:
        return "disables_and_fails";
    case kind::throws:
        return "throws";
    case kind::never_completes:
        return "never_completes";
    }
    return {};
}

std::string_view name_of(executor_kind on) {
    switch (on) {
    case executor_kind::io_context:
        return "io_context";
    case executor_kind::strand:
        return "strand";
    case executor_kind::any:
        return "any_io_executor";
    }
    return {};
}

} // namespace

asio::cancellation_type_t matrix_case::emitted() const {
    switch (by) {
    case means::nothing:
        return type::none;
    case means::partial:
        return type::partial;
    case means::total:
    case means::total_allowed:
        return type::total;
    case means::partial_and_total:
        return type::partial | type::total;
    case means::all:
        return type::all;
    case means::terminal:
    case means::scope:
    case means::parent_scope:
        return type::terminal;
    }
    return type::none;
}

unsigned matrix_case::prior_failures() const {
    switch (at.where) {
    case place::before_start:
    case place::attempt_not_begun:
    case place::in_initiation:
    case place::in_attempt:
    case place::success_queued:
    case place::attempt_limit_queued:
    case place::attempt_limit_passed:
    case place::set_up_limit_queued:
    case place::set_up_limit_passed:
    case place::silence_queued:
    case place::silence_passed:
    case place::deadline_queued:
    case place::deadline_passed:
    case place::in_completion_handler:
    case place::after_completion:
        return at.attempt - 1;
    case place::failure_queued:
    case place::waiting:
    case place::waiting_in_real_time:
    case place::wait_over_and_queued:
    case place::retry_queued:
    case place::in_predicate:
    case place::in_backoff:
    case place::in_jitter:
    case place::in_on_retry:
    case place::in_on_give_up:
        return at.attempt;
    }
    return 0;
}

std::vector<point> all_points() {
    std::vector<point> points{{place::before_start, 1}, {place::attempt_not_begun, 1}};
    for (int where = static_cast<int>(place::in_initiation); where <= static_cast<int>(place::after_completion);
         ++where)
        for (unsigned attempt : {1u, 2u})
            points.push_back({static_cast<place>(where), attempt});
    points.push_back({place::in_attempt, 3});
    points.push_back({place::retry_queued, 3});
    return points;
}

std::string_view name_of(token with) {
    switch (with) {
    case token::callback:
        return "callback";
    case token::deferred:
        return "deferred";
    case token::any_handler:
        return "any_completion_handler";
    case token::future:
        return "use_future";
    case token::awaitable:
        return "use_awaitable";
    case token::tuple_awaitable:
        return "as_tuple_use_awaitable";
    }
    return {};
}

std::string name_of(point at) {
    return std::string(name_of(at.where)) + "_" + std::to_string(at.attempt);
}

std::string name_of(matrix_case const& c) {
    std::string name = name_of(c.at);
    name.append("/").append(name_of(c.by)).append("/").append(name_of(c.does));
    name.append("/").append(name_of(c.with)).append("/").append(name_of(c.on));
    name.append(c.shape == form::awaitable_operation ? "/awaitable" : "/token_operation");
    if (c.scoped)
        name.append("/scoped");
    if (c.limited)
        name.append("/limited");
    if (c.passes_all)
        name.append("/passes_all");
    return name;
}

std::optional<std::string_view> cannot_exist(matrix_case const& c) {
    bool const ends_at_once = c.does == kind::completes_inline || c.does == kind::throws;
    if (c.with == token::any_handler && c.shape == form::awaitable_operation)
        return "the executor of an any_completion_handler runs no coroutines";
    if (c.by_scope() && !c.scoped)
        return "the operation is in no scope";
    if (c.passes_all && c.shape != form::awaitable_operation)
        return "only a coroutine filters what its attempt sees";
    if (c.changes_its_state() && c.shape != form::awaitable_operation)
        return "only a coroutine has a cancellation state of its own";
    bool const only_terminal = c.by == means::nothing || c.by == means::terminal || c.by_scope();
    if (c.passes_all && only_terminal)
        return "nothing else comes";
    if (c.scoped && !only_terminal)
        return "it is the same as outside a scope";
    if (c.limited && c.on != executor_kind::any)
        return "which executor it is does not matter to that";
    if (c.limited && c.at_limit())
        return "the place brings its own limit";
    if (c.limited && (c.shape != form::awaitable_operation || !c.by_coroutine() || c.scoped))
        return "a limit that is far away only decides how a coroutine awaits awaitables";
    if (c.in_flight() && ends_at_once)
        return "such an attempt is never pending";
    if (c.at.where == place::attempt_not_begun) {
        if (c.shape != form::awaitable_operation)
            return "an operation given a token begins when it is initiated";
        if (c.by_coroutine())
            return "initiated on its executor, the coroutine of the attempt begins at once";
    }
    if (c.at.where == place::failure_queued && ends_at_once &&
        (c.at.attempt != 1 || c.shape == form::awaitable_operation || c.by_coroutine()))
        return "on the executor, an attempt that ends at once leaves no completion queued";
    if (c.at.where == place::success_queued) {
        if (c.does == kind::never_completes || c.fails_by_itself())
            return "the attempt succeeds";
        if (c.does == kind::completes_inline &&
            (c.at.attempt != 1 || c.shape == form::awaitable_operation || c.by_coroutine()))
            return "on the executor, an attempt that ends at once leaves no completion queued";
    }
    if (c.at.where == place::wait_over_and_queued && c.runs_on_own_executor())
        return "on a context's own executor the next attempt begins where the wait ends";
    bool const has_ended = c.at.where == place::in_completion_handler || c.at.where == place::after_completion;
    if (has_ended && c.does == kind::never_completes)
        return "the operation completes";
    if (c.at.where == place::in_completion_handler && (c.by_coroutine() || c.with == token::future))
        return "no completion handler of the caller's runs";
    return std::nullopt;
}

} // namespace asio_retry::test
