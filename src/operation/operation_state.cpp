#include <asio_retry/detail/operation/operation_state.hpp>

#include <array>
#include <cassert>

namespace asio_retry::detail {

using enum operation_event;

namespace {

// In the order of operation_stage. A scope may speak, and what owns the operation be destroyed, at any time.
constexpr std::array<operation_event, operation_stages> legal{
    start_refused | step_failed,
    attempt_ended | limit_reached | step_failed | coroutine_lost,
    attempt_ended | limit_reached | step_failed,
    wait_ended | step_failed, // waiting
    wait_ended | step_failed, // queued
    limit_reached,
};

} // namespace

operation_event operation_state::legal_in(operation_stage stage) noexcept {
    return legal[static_cast<std::size_t>(stage)] | scope_noticed | owner_dropped;
}

operation_step operation_state::next(operation_event events) noexcept {
    assert((events & ~legal_in(stage_)) == nothing);
    if ((events & limit_reached) != nothing)
        disarm_limit();
    if ((events & owner_dropped) != nothing)
        return operation_step::abandon;
    if (is(operation_stage::ending))
        return operation_step::finish;
    if ((events & start_refused) != nothing)
        return operation_step::refuse_start;
    if ((events & step_failed) != nothing)
        return operation_step::complete_failed;
    if ((events & wait_ended) != nothing)
        return operation_step::resume;
    if ((events & (attempt_ended | coroutine_lost)) != nothing)
        end_attempt();
    else if ((events & limit_reached) == nothing)
        return operation_step::leave;
    return is(operation_stage::judging) ? operation_step::conclude_attempt : operation_step::leave;
}

bool operation_state::is_lost(operation_event events) noexcept {
    return next(events) != operation_step::leave || is(operation_stage::judging);
}

} // namespace asio_retry::detail
