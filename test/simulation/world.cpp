#include "simulation/world.hpp"

#include "support/plain_jitters.hpp"

#include <boost/asio/append.hpp>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <cmath>
#include <tuple>
#include <utility>

namespace asio_retry::simulation {

using attempt_signature = void(error_code, int);

struct world::gate final : retry_gate {
    gate(world& w, operation& o)
        : in(w)
        , of(o) {}
    bool acquire(failure_kind, time_point) noexcept override;
    void give_back(failure_kind) noexcept override;

    world& in;
    operation& of;
    std::uint64_t asked = 0;
};

struct world::operation {
    operation(world& w, std::size_t number, operation_plan p)
        : who(number)
        , plan(std::move(p))
        , watched(plan, [&w, number](std::string const& what) { w.complain(number, what); }) {}

    std::size_t const who;
    operation_plan const plan;
    model watched;
    asio::cancellation_signal signal;
    bool was_cancelled = false;
    int handlers_destroyed = 0;
    int callables_destroyed = 0;
    bool rejected_at_once = false;
    bool started = false;
    std::optional<std::size_t> in_scope;
    std::vector<std::shared_ptr<running_attempt>> hanging;
};

/// Counts its destruction, which happens once, wherever it was moved to.
struct world::remains {
    explicit remains(int& c)
        : count(&c) {}
    remains(remains&& other) noexcept
        : count(std::exchange(other.count, nullptr)) {}
    remains& operator=(remains&&) = delete;
    ~remains() {
        if (count)
            ++*count;
    }
    int* count;
};

struct world::running_attempt {
    operation& of;
    attempt_plan plan;
    asio::any_completion_handler<attempt_signature> handler;
    asio::cancellation_slot slot;
    bool is_over = false;
    bool hears = false;
};

struct world::scope_watch {
    std::optional<retry_scope> itself;
    std::optional<std::size_t> parent;
    bool is_drained = false;
    std::size_t joins = 0;
    std::size_t joined = 0;
};

bool world::gate::acquire(failure_kind, time_point) noexcept {
    bool const granted = ++asked != of.plan.gate_refuses_at;
    in.trace_.add(in.now(), of.who, "gate", granted);
    of.watched.leased(granted);
    return granted;
}

void world::gate::give_back(failure_kind) noexcept {
    of.watched.lease_returned();
}

world::world(std::uint64_t seed)
    : program_(draw_program(seed))
    , dice_(~seed)
    , io_(std::in_place)
    , time_(std::in_place, *io_) {
    scheduler(*io_).seed(seed); // each seed draws delays of its own
    begin_ = time_->now();
}

world::~world() = default;

std::size_t world::operations() const {
    return operations_.size();
}

std::size_t world::attempts() const {
    std::size_t sum = 0;
    for (operation const& o : operations_)
        sum += o.watched.attempts();
    return sum;
}

duration world::now() const {
    return time_ ? time_->now() - begin_ : *program_.destroyed_at;
}

void world::complain(std::size_t who, std::string const& what) {
    trace_.add(now(), who, "VIOLATION");
    violations_.push_back(std::to_string(now().count()) + " ns  #" + std::to_string(who) + " " + what);
}

template <typename Function>
void world::after(duration delay, Function function) {
    async_retry(
        *io_,
        [first = true]() mutable {
            return std::exchange(first, false) ? error_code(asio::error::connection_refused) : error_code();
        },
        retry_policy().backoff(constant(delay)).jitter(no_jitter()),
        [run = std::move(function)](error_code) mutable { run(); });
}

// --- attempts

attempt_plan world::plan_of(operation const& o, std::uint64_t number) const {
    if (number <= o.plan.attempts.size())
        return o.plan.attempts[number - 1];
    return attempt_plan();
}

void world::finish(std::shared_ptr<running_attempt> const& a, attempt_end how, error_code const& error) {
    using end = attempt_end;
    if (std::exchange(a->is_over, true))
        return;
    if (a->slot.is_connected())
        a->slot.clear();
    auto handler = std::move(a->handler);
    if (how == end::drops) {
        trace_.add(now(), a->of.who, "drop");
        a->of.watched.dropped();
        return; // and with it the handler
    }
    trace_.add(now(), a->of.who, "end", static_cast<int>(how), error.value());
    a->of.watched.ended(how, error, a->hears, now());
    int const value = how == end::rejected ? -1 : 1;
    if (a->plan.pace == attempt_pace::at_once)
        std::move(handler)(error, value);
    else
        asio::post(*io_, asio::append(std::move(handler), error, value));
}

void world::stop(std::shared_ptr<running_attempt> const& a) {
    using stop = attempt_stop;
    using end = attempt_end;
    switch (a->plan.when_told) {
    case stop::aborts:
        return finish(a, end::error, asio::error::operation_aborted);
    case stop::aborts_late:
        return after(a->plan.late, [this, a] { finish(a, end::error, asio::error::operation_aborted); });
    case stop::ignores:
        return;
    case stop::succeeds:
        return finish(a, end::success, {});
    }
}

template <typename Token>
auto world::async_attempt(operation& o, std::uint64_t number, Token&& token) {
    return asio::async_initiate<Token, attempt_signature>(
        [this, &o, number](auto handler) {
            using pace = attempt_pace;
            using end = attempt_end;
            auto const a = std::make_shared<running_attempt>(running_attempt{o, plan_of(o, number), {}, {}});
            a->slot = asio::get_associated_cancellation_slot(handler);
            asio::any_completion_handler<attempt_signature>(std::move(handler)).swap(a->handler);
            a->hears = a->slot.is_connected();
            if (a->hears) {
                a->slot.assign([this, w = std::weak_ptr(a)](asio::cancellation_type_t type) {
                    auto const told = w.lock();
                    if (!told || told->is_over)
                        return;
                    trace_.add(now(), told->of.who, "told", static_cast<int>(type));
                    told->of.watched.told(type, now());
                    stop(told);
                });
            }
            end const how = a->plan.end;
            error_code const error = how == end::error || how == end::throws ? a->plan.error : error_code();
            switch (a->plan.pace) {
            case pace::at_once:
            case pace::posted:
                return finish(a, how, error);
            case pace::timed:
                return after(a->plan.takes, [this, a, how, error] { finish(a, how, error); });
            case pace::hangs:
                if (a->plan.when_told == attempt_stop::ignores)
                    return after(a->plan.takes + 5s, [this, a, how, error] { finish(a, how, error); });
                a->of.hanging.push_back(a);
                return;
            }
        },
        token);
}

/// The attempt begins. Throws, or says that it is over, if it does not get as far as an asynchronous operation.
error_code world::throw_or_end_at_once(operation& o, std::uint64_t number, bool& over) {
    using end = attempt_end;
    attempt_plan const plan = plan_of(o, number);
    trace_.add(now(), o.who, "begin", static_cast<std::int64_t>(number));
    o.watched.began(number, now());
    over = false;
    if (plan.end == end::throws) {
        trace_.add(now(), o.who, "throw");
        o.watched.ended(end::throws, plan.error, false, now());
        throw boost::system::system_error(plan.error);
    }
    if (o.plan.form < form_kind::awaitable || plan.pace != attempt_pace::at_once || plan.end == end::drops)
        return {};
    over = true;
    error_code const error = plan.end == end::error ? plan.error : error_code();
    trace_.add(now(), o.who, "end", static_cast<int>(plan.end), error.value());
    o.watched.ended(plan.end, error, false, now());
    o.rejected_at_once = plan.end == end::rejected;
    return error;
}

// --- operations

retry_policy world::policy_of(operation& o) {
    operation_plan const& p = o.plan;
    law_plan const& law = p.law;
    auto const shape = [&]() -> backoff {
        switch (law.shape) {
        case shape_kind::constant:
            return constant(law.base);
        case shape_kind::linear:
            return linear(law.base, law.step);
        case shape_kind::exponential:
            return exponential(law.base, law.factor);
        case shape_kind::truncated_binary:
            return truncated_binary(law.growing, law.base);
        case shape_kind::custom:
            break;
        }
        return [half = static_cast<double>(law.base.count()) / 2](std::uint64_t failures) {
            return duration(std::llround(half * (static_cast<double>(failures) + 1)));
        };
    }();
    auto const kind = [&]() -> jitter {
        if (law.jitter < jitter_kind::proportional)
            return test::plain_jitter(static_cast<int>(law.jitter));
        if (law.jitter == jitter_kind::proportional)
            return proportional_jitter(law.fraction);
        return [](backoff_step const& step, random& source) {
            return source.uniform(step.ceiling / 3, step.ceiling);
        };
    }();
    retry_policy policy = retry_policy().backoff(law.cap ? shape.cap(*law.cap) : shape).jitter(kind);
    policy = p.max_attempts ? policy.max_attempts(static_cast<std::int64_t>(*p.max_attempts))
                            : policy.unlimited_attempts();
    if (p.max_elapsed)
        policy = policy.max_elapsed(*p.max_elapsed);
    if (p.attempt_timeout)
        policy = policy.attempt_timeout(*p.attempt_timeout);
    if (p.total_timeout)
        policy = policy.total_timeout(*p.total_timeout);
    if (p.deadline)
        policy = policy.deadline(begin_ + *p.deadline);
    if (p.clamp)
        policy = policy.clamp();
    if (p.allow_total)
        policy = policy.allow_total_cancellation();
    if (p.has_gate)
        policy = policy.gate(std::make_shared<gate>(*this, o));
    return policy
        .retry_if([this, &o](error_code const& error) {
            bool const retryable = error != o.plan.fatal;
            trace_.add(now(), o.who, "predicate", error.value(), retryable);
            o.watched.predicate(error, retryable, now());
            perform(o.plan.in_predicate, o, "predicate");
            return retryable;
        })
        .on_retry([this, &o](retry_event const& e) {
            trace_.add(now(), o.who, "retry", static_cast<std::int64_t>(e.attempt), e.delay.count());
            o.watched.retrying(e, now());
            perform(o.plan.in_hook, o, "hook");
        })
        .on_give_up([this, &o](retry_event const& e) {
            trace_.add(now(), o.who, "give_up", static_cast<int>(e.reason), e.error.value());
            o.watched.gave_up(e, now());
            if (o.plan.give_up_throws) // which changes nothing
                throw boost::system::system_error(asio::error::already_open);
        });
}

void world::perform(callback_plan const& plan, operation& by, char const* where) {
    using deed = callback_plan::deed;
    if (plan.at_attempt != by.watched.attempts())
        return;
    switch (plan.what) {
    case deed::nothing:
        return;
    case deed::cancels_itself:
        return cancel(by, plan.type);
    case deed::cancels_another:
        return cancel(operations_[dice_.below(operations_.size())], plan.type);
    case deed::starts_another:
        if (started_by_callables_++ < 3) {
            operation_plan p = draw_operation(dice_, scopes_.size());
            p.deadline.reset();
            start(add(std::move(p)));
        }
        return;
    case deed::cancels_scope:
        if (!scopes_.empty())
            cancel_scope(dice_.below(scopes_.size()), false);
        return;
    case deed::throws:
        if (where[0] == 'p')
            by.watched.predicate_threw();
        else
            by.watched.hook_threw();
        throw boost::system::system_error(asio::error::already_open);
    }
}

world::operation& world::add(operation_plan plan) {
    return operations_.emplace_back(*this, operations_.size(), std::move(plan));
}

void world::completed(operation& o, error_code const& error, int value) {
    trace_.add(now(), o.who, "complete", error.value(), value);
    if (destroyed_)
        complain(o.who, "it completes though its context is gone");
    o.watched.completed(error, value == 1, now());
}

void world::start(operation& o) {
    remains callable(o.callables_destroyed);
    switch (o.plan.form) {
    case form_kind::token:
        return start_as(o, [this, &o, r = std::move(callable), n = std::uint64_t()](auto token) mutable {
            bool over = false;
            throw_or_end_at_once(o, ++n, over);
            return async_attempt(o, n, std::move(token));
        });
    case form_kind::attempt_token:
        return start_as(o, [this, &o, r = std::move(callable)](attempt const& a, auto token) {
            bool over = false;
            throw_or_end_at_once(o, a.number, over);
            return async_attempt(o, a.number, std::move(token));
        });
    case form_kind::deferred:
        return start_as(o, [this, &o, r = std::move(callable)](attempt const& a) {
            bool over = false;
            throw_or_end_at_once(o, a.number, over);
            return async_attempt(o, a.number, asio::deferred);
        });
    case form_kind::awaitable:
        return start_as(o, [this, &o, r = std::move(callable)](attempt a) -> asio::awaitable<int> {
            bool over = false;
            error_code const error = throw_or_end_at_once(o, a.number, over);
            if (error)
                throw boost::system::system_error(error);
            if (over)
                co_return o.rejected_at_once ? -1 : 1;
            co_return co_await async_attempt(o, a.number, asio::use_awaitable);
        });
    case form_kind::awaitable_tuple:
    case form_kind::count:
        return start_as(
            o, [this, &o, r = std::move(callable)](attempt a) -> asio::awaitable<std::tuple<error_code, int>> {
                bool over = false;
                error_code const error = throw_or_end_at_once(o, a.number, over);
                if (over)
                    co_return std::tuple(error, o.rejected_at_once ? -1 : 1);
                co_return co_await async_attempt(o, a.number, asio::as_tuple(asio::use_awaitable));
            });
    }
}

/// The scope in which the operation starts; null if it is gone or was never meant.
retry_scope* world::scope_of(operation& o) {
    if (!o.plan.scope || !scopes_[*o.plan.scope].itself)
        return nullptr;
    retry_scope& scope = *scopes_[*o.plan.scope].itself;
    o.in_scope = o.plan.scope;
    if (scope.cancelled())
        o.watched.cancelled_by_scope(now());
    for (std::size_t i = 0; i != scopes_.size(); ++i)
        if (scopes_[i].is_drained && is_below(o.in_scope, i))
            o.watched.drained_by_scope(0s, now());
    return &scope;
}

template <typename Attempt>
asio::awaitable<int> world::await(operation& o, Attempt attempt) {
    // From a coroutine that is cancelled and never was suspended, Asio lets an exception escape.
    co_await asio::post(*io_, asio::use_awaitable);
    o.watched.initiated(now());
    auto judged = fail_if(std::move(attempt), [](int value) { return value < 0; });
    retry_policy const policy = policy_of(o);
    if (retry_scope* const scope = scope_of(o))
        co_return co_await async_retry(*scope, std::move(judged), policy, asio::use_awaitable);
    co_return co_await async_retry(std::move(judged), policy, asio::use_awaitable);
}

template <typename Attempt>
void world::start_as(operation& o, Attempt attempt) {
    trace_.add(now(), o.who, "start", static_cast<int>(o.plan.form), o.plan.awaited);
    o.started = true;
    if (o.plan.awaited) {
        asio::co_spawn(*io_, await(o, std::move(attempt)),
                       asio::bind_cancellation_slot(
                           o.signal.slot(),
                           [this, &o, r = remains(o.handlers_destroyed)](std::exception_ptr e, int value) {
                               completed(o, e ? code_of(e) : error_code(), value);
                           }));
        return;
    }
    o.watched.initiated(now());
    auto handler = [this, &o, r = remains(o.handlers_destroyed)](auto const& failure, int value) {
        if constexpr (std::is_same_v<std::decay_t<decltype(failure)>, error_code>)
            completed(o, failure, value);
        else
            completed(o, failure ? code_of(failure) : error_code(), value);
    };
    auto judged = fail_if(std::move(attempt), [](int value) { return value < 0; });
    retry_policy const policy = policy_of(o);
    auto token = asio::bind_cancellation_slot(o.signal.slot(), std::move(handler));
    if (retry_scope* const scope = scope_of(o))
        async_retry(*scope, std::move(judged), policy, std::move(token));
    else
        async_retry(*io_, std::move(judged), policy, std::move(token));
}

// --- what happens to them

void world::cancel(operation& o, asio::cancellation_type_t type) {
    // A coroutine forgets a cancellation when one follows that it filters out: Asio keeps only the last.
    bool const is_filtered = (type & asio::cancellation_type::terminal) == asio::cancellation_type::none;
    if (!o.started || (o.plan.awaited && is_filtered && o.was_cancelled))
        return;
    o.was_cancelled = true;
    trace_.add(now(), o.who, "cancel", static_cast<int>(type));
    o.watched.cancelled(type, now());
    o.signal.emit(type);
}

bool world::is_below(std::optional<std::size_t> scope_number, std::size_t top) const {
    while (scope_number && *scope_number != top)
        scope_number = program_.scopes[*scope_number];
    return scope_number.has_value();
}

void world::cancel_scope(std::size_t number, bool by_destruction) {
    scope_watch& s = scopes_[number];
    if (!s.itself)
        return;
    trace_.add(now(), number, by_destruction ? "destroy_scope" : "cancel_scope");
    for (operation& o : operations_)
        if (is_below(o.in_scope, number))
            o.watched.cancelled_by_scope(now());
    if (by_destruction)
        s.itself.reset();
    else
        s.itself->cancel();
}

void world::hurry_scope(std::size_t number) {
    scope_watch& s = scopes_[number];
    if (!s.itself)
        return;
    trace_.add(now(), number, "retry_now");
    for (operation& o : operations_)
        if (is_below(o.in_scope, number))
            o.watched.hurried_by_scope(now());
    s.itself->retry_now();
}

void world::drain(std::size_t number, duration timeout) {
    scope_watch& s = scopes_[number];
    if (!s.itself)
        return;
    trace_.add(now(), number, "drain");
    s.is_drained = true;
    ++s.joins;
    std::vector<operation*> waited_for;
    for (operation& o : operations_)
        if (is_below(o.in_scope, number) && !o.watched.is_over()) {
            o.watched.drained_by_scope(timeout, now());
            waited_for.push_back(&o);
        }
    s.itself->async_drain(timeout,
                          [this, &s, number, waited_for](error_code const& error, std::size_t cancelled) {
                              trace_.add(now(), number, "drained", static_cast<int>(cancelled));
                              ++s.joined;
                              if (error)
                                  complain(number, "a drain that nobody cancelled fails");
                              if (cancelled > waited_for.size())
                                  complain(number, "a drain cancels more than there was");
                              for (operation const* const o : waited_for)
                                  if (!o->watched.is_over())
                                      complain(o->who, "a drain does not wait for its handler");
                          });
}

void world::join(std::size_t number, bool is_cancelled) {
    scope_watch& s = scopes_[number];
    if (!s.itself)
        return;
    ++s.joins;
    std::vector<operation const*> waited_for;
    for (operation const& o : operations_)
        if (is_below(o.in_scope, number) && !o.watched.is_over())
            waited_for.push_back(&o);
    auto const signal = std::make_shared<asio::cancellation_signal>();
    s.itself->async_join(asio::bind_cancellation_slot(
        signal->slot(), [this, &s, number, signal, is_cancelled, waited_for](error_code const& error) {
            trace_.add(now(), number, "joined", error.value());
            ++s.joined;
            if (error && !is_cancelled)
                complain(number, "a join that nobody cancelled fails");
            for (operation const* const o : waited_for)
                if (!error && !o->watched.is_over())
                    complain(o->who, "a join does not wait for its handler");
        }));
    if (is_cancelled)
        after(10ms, [signal] { signal->emit(asio::cancellation_type::total); });
}

void world::happen(event_plan const& e) {
    switch (e.what) {
    case event_plan::kind::cancel:
        return cancel(operations_[e.target], e.type);
    case event_plan::kind::cancel_scope:
        return cancel_scope(e.target, false);
    case event_plan::kind::destroy_scope:
        return cancel_scope(e.target, true);
    case event_plan::kind::drain_scope:
        return drain(e.target, e.timeout);
    case event_plan::kind::hurry_scope:
        return hurry_scope(e.target);
    case event_plan::kind::join_scope:
        return join(e.target, false);
    case event_plan::kind::cancelled_join:
        return join(e.target, true);
    }
}

// --- the run

void world::run() {
    for (auto const& parent : program_.scopes) {
        scope_watch& s = scopes_.emplace_back();
        if (parent)
            s.itself.emplace(*scopes_[*parent].itself);
        else
            s.itself.emplace(io_->get_executor());
    }
    for (operation_plan const& plan : program_.operations) {
        operation& o = add(plan);
        after(plan.starts, [this, &o] { start(o); });
    }
    for (event_plan const& e : program_.events)
        after(e.at, [this, &e] { happen(e); });
    after(horizon, [this] {
        for (operation& o : operations_)
            cancel(o, asio::cancellation_type::terminal);
    });
    if (program_.destroyed_at) {
        struct the_end {};
        after(*program_.destroyed_at, [this] {
            cut_off();
            throw the_end();
        });
        try {
            time_->run();
        } catch (the_end) { // what was queued behind it stays so
        }
        destroy();
    } else {
        time_->run();
        check_dry();
    }
    for (operation const& o : operations_)
        check_end_of(o);
}

/// Makes something to be queued when the context ends.
void world::cut_off() {
    if (dice_.one_in(2) && !operations_.empty())
        cancel(operations_[dice_.below(operations_.size())], asio::cancellation_type::terminal);
    for (std::size_t i = 0; i != scopes_.size(); ++i)
        if (dice_.one_in(2))
            cancel_scope(i, false);
    if (dice_.one_in(2))
        io_->poll_one();
}

/// The context ends with whatever goes on in it; an attempt that hangs ends with it.
void world::destroy() {
    trace_.add(now(), 0, "destroy");
    for (operation& o : operations_)
        o.hanging.clear();
    scopes_.clear();
    destroyed_ = true;
    time_.reset();
    io_.reset();
}

void world::check_dry() {
    io_->restart();
    if (io_->poll() != 0 || !io_->stopped())
        complain(0, "the context does not run dry");
    if (scheduler(*io_).pending() != 0)
        complain(0, "waits are left");
    for (scope_watch const& s : scopes_) {
        if (s.itself && s.itself->pending() != 0)
            complain(0, "operations are left in a scope");
        if (s.joins != s.joined)
            complain(0, "a join never ends");
    }
}

void world::check_end_of(operation const& o) {
    if (!o.started)
        return;
    if (!destroyed_ && !o.watched.is_over())
        complain(o.who, "it never completes");
    if (o.handlers_destroyed != 1)
        complain(o.who, "its handler is destroyed " + std::to_string(o.handlers_destroyed) + " times");
    if (o.callables_destroyed != 1)
        complain(o.who, "its operation is destroyed " + std::to_string(o.callables_destroyed) + " times");
    if (o.watched.holds_lease() && !o.watched.is_over())
        complain(o.who, "its lease is lost");
}

} // namespace asio_retry::simulation
