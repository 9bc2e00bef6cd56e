#include "matrix_case.hpp"

namespace asio_retry::test {
namespace {

using type = asio::cancellation_type;

// In the order of the enumerators.
constexpr std::string_view names_of_places[] = {"decision_18_before_start",
                                                "decision_15_attempt_not_begun",
                                                "decision_15_in_initiation",
                                                "decision_14_in_attempt",
                                                "decision_15_failure_queued",
                                                "decision_13_waiting",
                                                "decision_13_waiting_in_real_time",
                                                "decision_15_wait_over_and_queued",
                                                "decision_15_retry_queued",
                                                "decision_12_success_queued",
                                                "decision_21_in_predicate",
                                                "decision_21_in_backoff",
                                                "decision_21_in_jitter",
                                                "decision_21_in_on_retry",
                                                "decision_21_in_on_give_up",
                                                "decision_10_attempt_limit_queued",
                                                "decision_10_attempt_limit_passed",
                                                "set_up_limit_queued",
                                                "set_up_limit_passed",
                                                "silence_queued",
                                                "silence_passed",
                                                "decision_8_deadline_queued",
                                                "decision_8_deadline_passed",
                                                "decision_18_in_completion_handler",
                                                "decision_18_after_completion"};
constexpr std::string_view names_of_means[] = {
    "none", "terminal",      "partial", "total",       "partial_and_total",
    "all",  "total_allowed", "scope",   "parent_scope"};
constexpr std::string_view names_of_kinds[] = {"honours_all",          "honours_terminal",
                                               "ignores_and_succeeds", "ignores_and_fails",
                                               "completes_inline",     "succeeds_when_cancelled",
                                               "fails_when_cancelled", "cleans_up",
                                               "disables_and_fails",   "throws",
                                               "never_completes"};
constexpr std::string_view names_of_executors[] = {"io_context", "strand", "any_io_executor"};
constexpr std::string_view names_of_tokens[] = {"callback",   "deferred",      "any_completion_handler",
                                                "use_future", "use_awaitable", "as_tuple_use_awaitable"};

template <std::size_t Count, typename Enumerator>
std::string_view name_in(std::string_view const (&names)[Count], Enumerator one) {
    return names[static_cast<std::size_t>(one)];
}

} // namespace

asio::cancellation_type_t matrix_case::emitted() const {
    constexpr type by_means[] = {
        type::none, type::terminal, type::partial,  type::total,   type::partial | type::total,
        type::all,  type::total,    type::terminal, type::terminal};
    return by_means[static_cast<std::size_t>(by)];
}

unsigned matrix_case::prior_failures() const {
    bool const is_of_failure = at.where >= place::failure_queued && at.where <= place::in_on_give_up;
    return is_of_failure && at.where != place::success_queued ? at.attempt : at.attempt - 1;
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
    return name_in(names_of_tokens, with);
}

std::string name_of(point at) {
    return std::string(name_in(names_of_places, at.where)) + "_" + std::to_string(at.attempt);
}

std::string name_of(matrix_case const& c) {
    std::string name = name_of(c.at);
    for (std::string_view const part : {name_in(names_of_means, c.by), name_in(names_of_kinds, c.does),
                                        name_of(c.with), name_in(names_of_executors, c.on)})
        name.append("/").append(part);
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
