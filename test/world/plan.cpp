#include "world/plan.hpp"

namespace asio_retry::world {
namespace {

attempt_plan draw_attempt(dice& d) {
    using p = attempt_pace;
    using s = attempt_stop;
    using e = fate;
    attempt_plan a;
    a.pace = d.pick({p::at_once, p::posted, p::posted, p::timed, p::timed, p::timed, p::hangs});
    a.when_told = d.pick({s::aborts, s::aborts, s::aborts_late, s::ignores, s::succeeds});
    a.end = d.pick({e::error, e::error, e::error, e::error, e::error, e::rejected, e::throws, e::success});
    if (d.one_in(40))
        a.end = e::drops;
    a.error = d.pick<error_code>({asio::error::connection_refused, asio::error::connection_reset,
                                  asio::error::connection_refused, asio::error::operation_aborted,
                                  asio::error::timed_out});
    a.takes = d.up_to(d.pick<duration>({1ms, 300ms, 3s}));
    a.late = d.up_to(500ms);
    return a;
}

law_plan draw_law(dice& d) {
    law_plan law;
    law.shape = static_cast<shape_kind>(d.below(5));
    law.base = d.one_in(20) ? 0ns : d.up_to(d.pick<duration>({1ms, 200ms, 2s}));
    law.step = d.up_to(500ms);
    law.factor = 2 + d.below(2);
    law.growing = 1 + d.below(6);
    if (d.one_in(2))
        law.cap = law.base + d.up_to(5s);
    law.jitter = static_cast<jitter_kind>(d.below(6));
    law.fraction = d.pick({0.0, 0.25, 0.5, 1.0});
    return law;
}

callback_plan draw_callback(dice& d) {
    using deed = callback_plan::deed;
    callback_plan c;
    if (d.one_in(4))
        c.what = d.pick({deed::cancels_itself, deed::cancels_another, deed::starts_another, deed::cancels_scope,
                         deed::throws});
    c.at_attempt = 1 + d.below(std::uint64_t(3));
    c.type = draw_type(d);
    return c;
}

} // namespace

asio::cancellation_type_t draw_type(dice& d) {
    using type = asio::cancellation_type;
    return d.pick<asio::cancellation_type_t>(
        {type::terminal, type::terminal, type::partial, type::total, type::all});
}

operation_plan draw_operation(dice& d) {
    operation_plan o;
    o.form = static_cast<form_kind>(d.below(static_cast<int>(form_kind::count)));
    o.awaited = d.one_in(3);
    o.in_scope = d.one_in(2);
    for (int n = d.below(7); n != 0; --n)
        o.attempts.push_back(draw_attempt(d));
    o.law = draw_law(d);
    if (!d.one_in(4))
        o.max_attempts = 1 + d.below(std::uint64_t(6));
    if (d.one_in(4))
        o.max_elapsed = d.up_to(8s);
    if (d.one_in(3))
        o.attempt_timeout = d.up_to(2s);
    if (d.one_in(4))
        o.total_timeout = d.up_to(10s);
    if (d.one_in(8))
        o.deadline = d.up_to(20s);
    o.clamp = d.one_in(4);
    o.allow_total = d.one_in(3);
    if (d.one_in(3))
        o.fatal = d.pick<error_code>(
            {asio::error::connection_reset, asio::error::operation_aborted, asio::error::timed_out});
    o.in_predicate = draw_callback(d);
    o.in_hook = draw_callback(d);
    o.give_up_throws = d.one_in(15);
    o.has_gate = d.one_in(3);
    if (o.has_gate && d.one_in(2))
        o.gate_refuses_at = 1 + d.below(std::uint64_t(4));
    return o;
}

attempt_plan draw_shared_attempt(dice& d, duration unit) {
    using p = attempt_pace;
    using s = attempt_stop;
    attempt_plan a;
    a.pace = d.pick({p::at_once, p::posted, p::posted, p::timed, p::hangs, p::hangs, p::hangs, p::hangs});
    a.when_told = d.pick({s::aborts, s::aborts, s::aborts, s::aborts_late, s::ignores});
    a.end = d.one_in(2) ? fate::success : d.one_in(6) ? fate::throws : fate::error;
    a.error =
        d.pick<error_code>({asio::error::connection_refused, asio::error::operation_aborted, asio::error::eof});
    a.takes = d.up_to(8 * unit);
    a.late = d.up_to(2 * unit);
    return a;
}

} // namespace asio_retry::world
