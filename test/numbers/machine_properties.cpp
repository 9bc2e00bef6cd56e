#include <asio_retry/retry_machine.hpp>

#include "numbers/any_jitter.hpp"
#include "numbers/any_shape.hpp"
#include "numbers/whole_range.hpp"

#include <boost/multiprecision/cpp_int.hpp>
#include <boost/system/errc.hpp>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <ostream>
#include <vector>

namespace asio_retry::test {
namespace {

/// Times are worked out without a bound.
using instant = boost::multiprecision::int128_t;

time_point as_time(instant const& t) {
    return time_point(duration(static_cast<std::int64_t>(std::min<instant>(t, duration::max().count()))));
}

enum class outcome { fails, is_not_retryable, reaches_its_limit, is_cancelled, succeeds };

struct one_attempt {
    outcome what;
    std::int64_t took;
    std::int64_t woken_late; ///< the wait after it
};

std::ostream& operator<<(std::ostream& out, one_attempt const& a) {
    constexpr char const* words[] = {"fails", "is not retryable", "reaches its limit", "is cancelled",
                                     "succeeds"};
    return out << words[static_cast<int>(a.what)] << " after " << a.took << "ns, woken " << a.woken_late
               << "ns late";
}

struct limits {
    std::optional<std::int64_t> max_attempts, max_elapsed, attempt_timeout, total_timeout, deadline;
    bool clamp = false;
};

std::ostream& operator<<(std::ostream& out, limits const& l) {
    auto const print = [&](char const* name, std::optional<std::int64_t> const& value) {
        if (value)
            out << name << "(" << *value << ") ";
    };
    print("max_attempts", l.max_attempts);
    print("max_elapsed", l.max_elapsed);
    print("attempt_timeout", l.attempt_timeout);
    print("total_timeout", l.total_timeout);
    print("deadline", l.deadline);
    return out << (l.clamp ? "clamp" : "");
}

rc::Gen<limits> any_limits() {
    auto const perhaps = [](rc::Gen<std::int64_t> gen) {
        return rc::gen::apply(
            [](bool is_set, std::int64_t value) { return is_set ? std::optional(value) : std::nullopt; },
            rc::gen::map(between(0, 3), [](int n) { return n == 0; }), std::move(gen));
    };
    auto const positive =
        rc::gen::map(non_negative_nanoseconds(), [](std::int64_t n) { return std::max<std::int64_t>(n, 1); });
    return rc::gen::apply([](auto attempts, auto elapsed, auto one, auto total, auto deadline,
                             bool clamp) { return limits{attempts, elapsed, one, total, deadline, clamp}; },
                          perhaps(positive), perhaps(non_negative_nanoseconds()), perhaps(positive),
                          perhaps(non_negative_nanoseconds()), perhaps(any_nanoseconds()),
                          rc::gen::arbitrary<bool>());
}

/// Long sequences: all but a few attempts fail and take short, so that many of them follow one another.
rc::Gen<std::vector<one_attempt>> any_history() {
    auto const time = rc::gen::oneOf(between<std::int64_t>(0, 1000), between<std::int64_t>(0, 1000),
                                     between<std::int64_t>(0, 1000), non_negative_nanoseconds());
    auto const what = rc::gen::map(between(0, 199), [](int n) { return n < 5 ? outcome(n) : outcome::fails; });
    return rc::gen::container<std::vector<one_attempt>>(
        300, rc::gen::apply(
                 [](outcome o, std::int64_t took, std::int64_t late) { return one_attempt{o, took, late}; },
                 what, time, time));
}

retry_policy policy_of(backoff const& shape, jitter const& kind, limits const& l) {
    retry_policy policy = retry_policy().backoff(shape).jitter(kind).unlimited_attempts();
    if (l.max_attempts)
        policy = policy.max_attempts(*l.max_attempts);
    if (l.max_elapsed)
        policy = policy.max_elapsed(duration(*l.max_elapsed));
    if (l.attempt_timeout)
        policy = policy.attempt_timeout(duration(*l.attempt_timeout));
    if (l.total_timeout)
        policy = policy.total_timeout(duration(*l.total_timeout));
    if (l.deadline)
        policy = policy.deadline(time_point(duration(*l.deadline)));
    return l.clamp ? policy.clamp() : policy;
}

/// When the operation has to end, and how long it may still wait.
class time_left {
public:
    time_left(limits const& l, instant const& begin)
        : begin_(begin)
        , max_elapsed_(l.max_elapsed) {
        auto const at = [this](instant const& t) {
            if (t < greatest_ && (!deadline_ || t < *deadline_))
                deadline_ = t;
        };
        if (l.total_timeout)
            at(begin + *l.total_timeout);
        if (l.deadline)
            at(*l.deadline);
    }

    /// None where it is not before the greatest time point.
    std::optional<instant> const& deadline() const { return deadline_; }

    struct room {
        instant wait;
        stop_reason limit;
    };
    room at(instant const& now) const {
        room r{greatest_, stop_reason::deadline};
        if (deadline_)
            r.wait = std::min<instant>(*deadline_ - now, greatest_);
        if (max_elapsed_) {
            instant const left = *max_elapsed_ - std::min<instant>(now - begin_, greatest_);
            if (left < r.wait)
                r = {left, stop_reason::elapsed};
        }
        return r;
    }

    /// How long a wait may be that leaves an attempt time before the deadline if one took `longest`: that,
    /// rounded up to whole bits, within a tenth and a half of what is left.
    instant leaving_time(instant const& now, instant const& longest) const {
        if (!deadline_)
            return greatest_;
        instant bits = 0;
        while (bits < longest)
            bits = 2 * bits + 1;
        instant const all = std::min<instant>(*deadline_ - now, greatest_);
        return all - std::clamp<instant>(bits, all / 10, all / 2);
    }

private:
    instant const greatest_ = duration::max().count();
    instant begin_;
    std::optional<instant> max_elapsed_, deadline_;
};

error_code const refused = boost::system::errc::make_error_code(boost::system::errc::connection_refused);

// The operation's clock goes from anywhere up to the last representable point, where it stays.
RC_GTEST_PROP(decision_01, every_wait_of_a_machine_is_the_drawn_delay_and_ends_within_the_limits, ()) {
    shape_fields const fields = *any_shape();
    jitter_fields const kind_fields = *any_jitter();
    limits const limited = *any_limits();
    std::uint64_t const seed = *any_count();
    instant const begin = *any_nanoseconds();
    std::vector<one_attempt> const history = *any_history();

    backoff const shape = fields.build();
    jitter const kind = kind_fields.build();
    time_left const left(limited, begin);
    random source(seed), twin(seed);
    retry_machine machine(policy_of(shape, kind, limited));

    instant now = begin;
    std::uint64_t attempts = 0;
    duration base{}, previous{};
    instant longest = 0;
    bool at_edge = false;
    auto const completes = [](retry_action const& action, stop_reason reason) {
        RC_ASSERT(action.what == retry_action::kind::complete);
        RC_ASSERT(to_string(action.reason) == to_string(reason));
    };

    retry_action action = machine.start(as_time(now));
    for (one_attempt const& made : history) {
        if (left.deadline() && now >= *left.deadline() && attempts == 0)
            return completes(action, stop_reason::deadline);
        RC_ASSERT(action.what == retry_action::kind::attempt);
        ++attempts;
        RC_ASSERT(machine.current_attempt().number == attempts);

        time_point const told_to_stop = machine.attempt_limit(as_time(now));
        instant expected_stop = duration::max().count();
        if (limited.attempt_timeout)
            expected_stop = std::min<instant>(expected_stop, now + *limited.attempt_timeout);
        bool const deadline_is_first = left.deadline() && *left.deadline() <= expected_stop;
        if (deadline_is_first)
            expected_stop = *left.deadline();
        RC_ASSERT(told_to_stop == as_time(expected_stop));

        outcome what = made.what;
        if (what == outcome::reaches_its_limit) {
            if (told_to_stop == time_point::max())
                what = outcome::fails;
            else
                machine.on_attempt_limit(told_to_stop);
        }
        instant const began = now;
        now = std::min<instant>(now + made.took, duration::max().count());
        longest = std::max<instant>(longest, now - began);
        error_code failure = refused;
        switch (what) {
        case outcome::succeeds:
            return completes(machine.on_success(), stop_reason::succeeded);
        case outcome::is_cancelled:
            machine.cancel();
            return completes(machine.on_failure(verdict::failure(failure), as_time(now), source),
                             stop_reason::cancelled);
        case outcome::is_not_retryable:
            return completes(
                machine.on_failure(verdict::failure(detail::aborted_error()), as_time(now), source),
                stop_reason::not_retryable);
        case outcome::reaches_its_limit:
            failure = detail::aborted_error();
            break;
        case outcome::fails:
            break;
        }
        action = machine.on_failure(verdict::failure(failure), as_time(now), source);
        if (what == outcome::reaches_its_limit && deadline_is_first)
            return completes(action, stop_reason::deadline);
        if (limited.max_attempts && attempts == static_cast<std::uint64_t>(*limited.max_attempts))
            return completes(action, stop_reason::attempts);

        duration const ceiling = shape.ceiling(attempts);
        if (base == duration::zero())
            base = previous = ceiling;
        duration const drawn = kind.draw({attempts, ceiling, base, shape.cap(), previous}, twin);
        previous = drawn;
        RC_ASSERT(drawn >= duration::zero());
        RC_ASSERT(drawn <= shape.cap());
        auto const [longest_wait, limit] = left.at(now);
        if (at_edge)
            return completes(action, limit);
        bool const is_last = drawn.count() > longest_wait;
        if (is_last && (!limited.clamp || longest_wait <= 0))
            return completes(action, limit);
        instant const wait = std::min({instant(drawn.count()), longest_wait,
                                       limited.clamp ? left.leaving_time(now, longest) : longest_wait});
        at_edge = limited.clamp && is_last;
        RC_ASSERT(action.what == retry_action::kind::wait);
        RC_ASSERT(instant(action.delay.count()) == wait);

        now = std::min<instant>(now + wait + made.woken_late, duration::max().count());
        action = machine.on_wait_over(as_time(now));
        if (left.deadline() && now > *left.deadline() && !at_edge)
            return completes(action, stop_reason::deadline);
    }
}

// No attempt and no wait takes any time, so that nothing but the number of failures ends the operation.
RC_GTEST_PROP(decision_03, a_seed_and_the_outcomes_repeat_every_delay, ()) {
    retry_policy const policy =
        retry_policy().backoff((*any_shape()).build()).jitter((*any_jitter()).build()).unlimited_attempts();
    std::uint64_t const seed = *any_count(), stream = *any_count();
    auto const delays = [&] {
        random source(seed, stream);
        retry_machine machine(policy);
        std::vector<std::int64_t> waited;
        machine.start();
        for (int i = 0; i < 50; ++i) {
            waited.push_back(machine.on_failure(verdict::failure(refused), {}, source).delay.count());
            machine.on_wait_over({});
        }
        return waited;
    };
    RC_ASSERT(delays() == delays());
}

} // namespace
} // namespace asio_retry::test
