#include "world/planned.hpp"

#include "support/plain_jitters.hpp"
#include "world/attempts.hpp"

#include <asio_retry/fail_if.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <cmath>
#include <memory>
#include <tuple>
#include <utility>

namespace asio_retry::world {
namespace {

/// One operation, with what its callables draw.
class planned_start {
public:
    planned_start(record& one, dice& d)
        : one_(&one)
        , dice_(&d) {}

    void operator()();

private:
    operation_plan const& plan() const { return one_->planned->plan; }

    template <typename Attempt>
    void start_as(Attempt attempt);
    retry_policy policy();
    retry_policy watched(retry_policy policy);

    record* one_;
    dice* dice_; // that of the thread, which outlives the place
};

/// The gate of one operation, which its plan refuses once.
struct planned_gate final : retry_gate {
    explicit planned_gate(record& told)
        : of(told) {}

    bool acquire(failure_kind, time_point) noexcept override {
        bool const granted = ++of.planned->asked_gate != of.planned->plan.gate_refuses_at;
        of.where.note(of, "gate", granted);
        of.planned->watched.leased(granted);
        return granted;
    }
    void give_back(failure_kind) noexcept override { of.planned->watched.lease_returned(); }

    record& of;
};

void perform(callback_plan const& plan, record& by, dice& d, bool in_predicate) {
    using deed = callback_plan::deed;
    place& where = by.where;
    if (plan.at_attempt != by.planned->watched.attempts())
        return;
    switch (plan.what) {
    case deed::nothing:
        return;
    case deed::cancels_itself:
        return where.cancel(by, plan.type);
    case deed::cancels_another:
        return where.cancel(*where.any_planned(d), plan.type);
    case deed::starts_another:
        return d.one_in(2) ? start_planned(where, d) : void();
    case deed::cancels_scope:
        return where.cancel_a_scope(d);
    case deed::throws:
        if (in_predicate)
            by.planned->watched.predicate_threw();
        else
            by.planned->watched.hook_threw();
        throw boost::system::system_error(asio::error::already_open);
    }
}

// --- its policy

backoff shape_of(law_plan const& law) {
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
}

jitter kind_of(law_plan const& law) {
    if (law.jitter < jitter_kind::proportional)
        return test::plain_jitter(static_cast<int>(law.jitter));
    if (law.jitter == jitter_kind::proportional)
        return proportional_jitter(law.fraction);
    return
        [](backoff_step const& step, random& source) { return source.uniform(step.ceiling / 3, step.ceiling); };
}

retry_policy planned_start::policy() {
    operation_plan const& p = plan();
    backoff const shape = shape_of(p.law);
    retry_policy policy =
        retry_policy().backoff(p.law.cap ? shape.cap(*p.law.cap) : shape).jitter(kind_of(p.law));
    policy = p.max_attempts ? policy.max_attempts(static_cast<std::int64_t>(*p.max_attempts))
                            : policy.unlimited_attempts();
    if (p.max_elapsed)
        policy = policy.max_elapsed(*p.max_elapsed);
    if (p.attempt_timeout)
        policy = policy.attempt_timeout(*p.attempt_timeout);
    if (p.total_timeout)
        policy = policy.total_timeout(*p.total_timeout);
    if (p.deadline)
        policy = policy.deadline(one_->where.begin() + *p.deadline);
    if (p.clamp)
        policy = policy.clamp();
    if (p.allow_total)
        policy = policy.allow_total_cancellation();
    if (p.has_gate)
        policy = policy.gate(std::make_shared<planned_gate>(*one_));
    return watched(policy);
}

/// Its callables tell the model, and do what the plan says.
retry_policy planned_start::watched(retry_policy policy) {
    record& one = *one_;
    dice& d = *dice_;
    return policy
        .retry_if([&one, &d](error_code const& error) {
            bool const retryable = error != one.planned->plan.fatal;
            one.where.note(one, "predicate", error.value(), retryable);
            one.planned->watched.predicate(error, retryable, one.where.since());
            perform(one.planned->plan.in_predicate, one, d, true);
            return retryable;
        })
        .on_retry([&one, &d](retry_event const& e) {
            one.where.note(one, "retry", static_cast<std::int64_t>(e.attempt), e.delay.count());
            one.planned->watched.retrying(e, one.where.since());
            perform(one.planned->plan.in_hook, one, d, false);
        })
        .on_give_up([&one](retry_event const& e) {
            one.where.note(one, "give_up", static_cast<int>(e.reason), e.error.value());
            one.planned->watched.gave_up(e, one.where.since());
            if (one.planned->plan.give_up_throws) // which changes nothing
                throw boost::system::system_error(asio::error::already_open);
        });
}

// --- its attempts

attempt_plan plan_of(record const& one, std::uint64_t number) {
    auto const& attempts = one.planned->plan.attempts;
    return number <= attempts.size() ? attempts[number - 1] : attempt_plan();
}

/// The attempt begins. Throws, or returns how it ends, if it does not get as far as an asynchronous operation.
std::optional<attempt_plan> throw_or_end_at_once(record& one, std::uint64_t number) {
    attempt_plan const plan = plan_of(one, number);
    operation_plan const& all = one.planned->plan;
    one.where.note(one, "begin", static_cast<std::int64_t>(number));
    one.planned->watched.began(number, one.where.since());
    bool const throws = plan.end == fate::throws;
    bool const is_over =
        all.form >= form_kind::awaitable && plan.pace == attempt_pace::at_once && plan.end != fate::drops;
    if (!throws && !is_over)
        return std::nullopt;
    one.where.note(one, "end", static_cast<int>(plan.end));
    one.planned->watched.ended(plan.end, throws || plan.end == fate::error ? plan.error : error_code(), false,
                               one.where.since());
    if (throws)
        throw boost::system::system_error(plan.error);
    return plan;
}

void planned_start::operator()() {
    presence const here(*one_);
    switch (plan().form) {
    case form_kind::token:
        return start_as([one = here, n = std::uint64_t()](auto token) mutable {
            throw_or_end_at_once(*one, ++n);
            return async_attempt(*one, plan_of(*one, n), std::move(token));
        });
    case form_kind::attempt_token:
    case form_kind::count:
        return start_as([one = here](attempt const& a, auto token) {
            throw_or_end_at_once(*one, a.number);
            return async_attempt(*one, plan_of(*one, a.number), std::move(token));
        });
    case form_kind::deferred:
        return start_as([one = here](attempt const& a) {
            throw_or_end_at_once(*one, a.number);
            return async_attempt(*one, plan_of(*one, a.number), asio::deferred);
        });
    case form_kind::awaitable:
        return start_as([one = here](attempt a) -> asio::awaitable<int> {
            auto const over = throw_or_end_at_once(*one, a.number);
            if (over && over->end == fate::error)
                throw boost::system::system_error(over->error);
            if (over)
                co_return over->end == fate::rejected ? -1 : 1;
            co_return co_await async_attempt(*one, plan_of(*one, a.number), asio::use_awaitable);
        });
    case form_kind::awaitable_tuple:
        return start_as([one = here](attempt a) -> asio::awaitable<std::tuple<error_code, int>> {
            auto const over = throw_or_end_at_once(*one, a.number);
            if (over)
                co_return std::tuple(over->end == fate::error ? over->error : error_code(),
                                     over->end == fate::rejected ? -1 : 1);
            co_return co_await async_attempt(*one, plan_of(*one, a.number),
                                             asio::as_tuple(asio::use_awaitable));
        });
    }
}

// --- its start

template <typename Attempt>
asio::awaitable<int> await(record& one, dice& d, Attempt attempt, retry_policy policy) {
    // From a coroutine that is cancelled and never was suspended, Asio lets an exception escape.
    co_await asio::post(one.where.io(), asio::use_awaitable);
    one.planned->watched.initiated(one.where.since());
    auto judged = fail_if(std::move(attempt), [](int value) { return value < 0; });
    if (retry_scope* const scope = one.where.scope_for(one, d))
        co_return co_await async_retry(*scope, std::move(judged), policy, asio::use_awaitable);
    co_return co_await async_retry(std::move(judged), policy, asio::use_awaitable);
}

template <typename Attempt>
void planned_start::start_as(Attempt attempt) {
    place& where = one_->where;
    planned_operation& planned = *one_->planned;
    where.note(*one_, "start", static_cast<int>(plan().form), plan().awaited);
    auto handler = asio::bind_cancellation_slot(planned.signal.slot(), witness(*one_));
    if (plan().awaited)
        return asio::co_spawn(where.io(), await(*one_, *dice_, std::move(attempt), policy()),
                              std::move(handler));
    planned.watched.initiated(where.since());
    auto judged = fail_if(std::move(attempt), [](int value) { return value < 0; });
    retry_policy const its_policy = policy();
    if (retry_scope* const scope = where.scope_for(*one_, *dice_))
        async_retry(*scope, std::move(judged), its_policy, std::move(handler));
    else
        async_retry(where.io(), std::move(judged), its_policy, std::move(handler));
}

} // namespace

void start_planned(place& where, dice& d) {
    planned_start(where.add(draw_operation(d)), d)();
}

} // namespace asio_retry::world
