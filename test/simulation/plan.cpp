#include "simulation/plan.hpp"

namespace asio_retry::simulation {
namespace {

asio::cancellation_type_t draw_type(dice& d) {
    using type = asio::cancellation_type;
    return d.pick<asio::cancellation_type_t>(
        {type::terminal, type::terminal, type::partial, type::total, type::all});
}

attempt_plan draw_attempt(dice& d) {
    using p = attempt_pace;
    using s = attempt_stop;
    using e = attempt_end;
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
    law.factor = static_cast<int>(2 + d.below(2));
    law.growing = static_cast<int>(1 + d.below(6));
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
    c.at_attempt = 1 + d.below(3);
    c.type = draw_type(d);
    return c;
}

} // namespace

operation_plan draw_operation(dice& d, std::size_t scopes) {
    operation_plan o;
    o.starts = d.one_in(3) ? 0ns : d.up_to(10s);
    o.form = static_cast<form_kind>(d.below(static_cast<std::uint64_t>(form_kind::count)));
    o.awaited = d.one_in(3);
    if (scopes != 0 && d.one_in(2))
        o.scope = d.below(scopes);
    for (std::uint64_t n = d.below(7); n != 0; --n)
        o.attempts.push_back(draw_attempt(d));
    o.law = draw_law(d);
    if (!d.one_in(4))
        o.max_attempts = 1 + d.below(6);
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
        o.gate_refuses_at = 1 + d.below(4);
    return o;
}

program draw_program(std::uint64_t seed) {
    dice d(seed * 0x9e3779b97f4a7c15u + 1);
    program p;
    p.seed = seed;
    std::size_t const scopes = d.below(4);
    for (std::size_t i = 0; i != scopes; ++i)
        p.scopes.push_back(i != 0 && d.one_in(2) ? std::optional<std::size_t>(d.below(i)) : std::nullopt);
    for (std::uint64_t n = 1 + d.below(5); n != 0; --n)
        p.operations.push_back(draw_operation(d, scopes));
    for (std::uint64_t n = d.below(5); n != 0; --n) {
        using kind = event_plan::kind;
        event_plan e;
        e.what = scopes == 0 ? kind::cancel
                             : d.pick({kind::cancel, kind::cancel, kind::cancel_scope, kind::destroy_scope,
                                       kind::drain_scope, kind::hurry_scope, kind::hurry_scope,
                                       kind::join_scope, kind::cancelled_join});
        e.at = d.up_to(d.one_in(2) ? 500ms : 12s);
        e.target = d.below(e.what == kind::cancel ? p.operations.size() : scopes);
        e.type = draw_type(d);
        e.timeout = d.one_in(3) ? 0s : d.up_to(6s);
        p.events.push_back(e);
    }
    if (d.one_in(8))
        p.destroyed_at = d.up_to(8s);
    return p;
}

} // namespace asio_retry::simulation
