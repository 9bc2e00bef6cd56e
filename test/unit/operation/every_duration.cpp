#include <asio_retry/asio_retry.hpp>

#include "policy/duration_text.hpp"

#include <boost/asio/io_context.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;
using std::chrono::hours;
using std::chrono::years;

// Every public function and option that takes a duration: given one, each says which it has kept. A function
// that refuses it throws, and one that cannot be asked says nothing.
using kept_value = std::optional<duration>;

/// Refers to what asks for it: of one type, so that who judges is compiled once.
class duration_question {
public:
    template <typename F>
    duration_question(F const& function)
        : function_(&function)
        , ask_([](void const* asked) -> kept_value { return (*static_cast<F const*>(asked))(); }) {}

    kept_value operator()() const { return ask_(function_); }

private:
    void const* function_;
    kept_value (*ask_)(void const*);
};

using duration_judge = void (*)(char const* name, duration_question const& ask);

template <typename D>
using steady_point_of = std::chrono::time_point<std::chrono::steady_clock, D>;

template <typename D>
void each_of_a_policy(D d, duration_judge each) {
    retry_policy const p;
    each("reset_after", [=]() -> kept_value { return p.reset_after(d).settings().reset_after; });
    each("max_elapsed", [=]() -> kept_value { return p.max_elapsed(d).settings().max_elapsed; });
    each("max_waited", [=]() -> kept_value { return p.max_waited(d).settings().max_waited; });
    each("attempt_timeout", [=]() -> kept_value { return p.attempt_timeout(d).settings().attempt_timeout; });
    each("setup_timeout", [=]() -> kept_value { return p.setup_timeout(d).settings().setup_timeout; });
    each("idle_timeout", [=]() -> kept_value { return p.idle_timeout(d).settings().idle_timeout; });
    each("total_timeout", [=]() -> kept_value { return p.total_timeout(d).settings().total_timeout; });
    each("pushback_limit", [=]() -> kept_value { return p.pushback_limit(d).settings().pushback_limit; });
    each("deadline", [=]() -> kept_value {
        return p.deadline(steady_point_of<D>(d)).settings().deadline.value().time_since_epoch();
    });
    hedge_policy const h(1s);
    each("hedge_policy", [=]() -> kept_value { return hedge_policy(d).settings().delay; });
    each("hedge_policy::total_timeout",
         [=]() -> kept_value { return h.total_timeout(d).settings().common.settings().total_timeout; });
    each("hedge_policy::pushback_limit",
         [=]() -> kept_value { return h.pushback_limit(d).settings().common.settings().pushback_limit; });
    each("hedge_policy::deadline", [=]() -> kept_value {
        return h.deadline(steady_point_of<D>(d))
            .settings()
            .common.settings()
            .deadline.value()
            .time_since_epoch();
    });
}

template <typename D>
void each_of_a_backoff(D d, duration_judge each) {
    each("constant", [=]() -> kept_value { return constant(d).base(); });
    each("linear.initial", [=]() -> kept_value { return linear(d, 0s).base(); });
    each("linear.step", [=]() -> kept_value { return linear(0s, d).ceiling(2); });
    each("exponential", [=]() -> kept_value { return exponential(d).base(); });
    each("stepwise_exponential.base",
         [=]() -> kept_value { return stepwise_exponential(d, 2, duration::max()).base(); });
    each("stepwise_exponential.greatest",
         [=]() -> kept_value { return stepwise_exponential(1s, 2, d).ceiling(99); });
    each("polynomial", [=]() -> kept_value { return polynomial(d, 1).base(); });
    each("fibonacci", [=]() -> kept_value { return fibonacci(d).base(); });
    each("truncated_binary", [=]() -> kept_value { return truncated_binary(1, d).base(); });
    each("slotted_binary", [=]() -> kept_value { return slotted_binary(d, 1).base(); });
    each("schedule{}", [=]() -> kept_value { return schedule({d}).base(); });
    each("schedule{1s, }", [=]() -> kept_value { return schedule({1s, d}).ceiling(2); });
    each("schedule(vector)", [=]() -> kept_value { return schedule(std::vector<D>{d}).base(); });
    each("cap", [=]() -> kept_value { return constant(0s).cap(d).cap(); });
    each("a callable", [=]() -> kept_value { return backoff([=](std::uint64_t) { return d; }).ceiling(1); });
}

template <typename D>
void each_of_a_jitter(D d, duration_judge each) {
    backoff_step const step{.cap = duration::max()};
    each("unit", [=]() -> kept_value { return no_jitter().unit(d).unit(); });
    each("jitter::cap", [=]() -> kept_value { return no_jitter().cap(d).cap(); });
    each("at_least", [=]() -> kept_value { return no_jitter().at_least(d).at_least(); });
    each("additive_jitter", [=]() -> kept_value { return additive_jitter(d).kind().width; });
    each("windowed_jitter", [=]() -> kept_value { return windowed_jitter(d).kind().width; });
    each("symmetric_jitter", [=]() -> kept_value { return symmetric_jitter(d).kind().width; });
    each("uniform_jitter", [=]() -> kept_value { return uniform_jitter(d).kind().width; });
    each("a callable for a jitter", [=]() -> kept_value {
        random source(1);
        return jitter([=](backoff_step const&, random&) { return d; }).draw(step, source);
    });
    each("random::uniform", [=]() -> kept_value {
        random source(1);
        return source.uniform(d, d);
    });
}

template <typename D>
void each_of_the_traffic(D d, duration_judge each) {
    each("pushback::after", [=]() -> kept_value { return pushback::after(d).delay(); });
    each("circuit_breaker_options.window", [=]() -> kept_value {
        circuit_breaker_options const o{.window = d};
        circuit_breaker const breaker(o);
        return o.window;
    });
    each("circuit_breaker_options.slow", [=]() -> kept_value {
        circuit_breaker_options const o{.slow_rate = 0.5, .slow = d};
        circuit_breaker const breaker(o);
        return o.slow;
    });
    each("circuit_breaker_options.open_for", [=]() -> kept_value {
        circuit_breaker_options const o{.open_for = d, .open_cap = duration::max()};
        circuit_breaker const breaker(o);
        return o.open_for;
    });
    each("circuit_breaker_options.open_cap", [=]() -> kept_value {
        circuit_breaker_options const o{.open_for = 1s, .open_cap = d};
        circuit_breaker const breaker(o);
        return o.open_cap;
    });
    each("cooldown_options", [=]() -> kept_value {
        cooldown_options const o{.greatest = d};
        cooldown const gate(o);
        return o.greatest;
    });
    each("retry_budget_options", [=]() -> kept_value {
        retry_budget_options const o{.window = d};
        retry_budget const gate(o);
        return o.window;
    });
    each("adaptive_throttle_options", [=]() -> kept_value {
        adaptive_throttle_options const o{.window = d};
        adaptive_throttle const gate(o);
        return o.window;
    });
    each("overload_advisor_options", [=]() -> kept_value {
        overload_advisor_options const o{.window = d};
        overload_advisor const advisor(o);
        return o.window;
    });
    each("fleet_budget_options.interval", [=]() -> kept_value {
        fleet_budget_options const o{.interval = d, .greatest_interval = duration::max()};
        fleet_budget const gate(o);
        return o.interval;
    });
    each("fleet_budget_options.greatest_interval", [=]() -> kept_value {
        fleet_budget_options const o{.greatest_interval = d};
        fleet_budget const gate(o);
        return o.greatest_interval;
    });
    each("fleet_budget_options.lease", [=]() -> kept_value {
        fleet_budget_options const o{.lease = d};
        fleet_budget const gate(o);
        return o.lease;
    });
    each("fleet_budget_options.window", [=]() -> kept_value {
        fleet_budget_options const o{.window = d};
        fleet_budget const gate(o);
        return o.window;
    });
    each("aimd_options", [=]() -> kept_value {
        aimd_options const o{.timeout = d};
        aimd const algorithm(o);
        return o.timeout;
    });
    each("aimd::update", [=]() -> kept_value {
        aimd().update(d, 1, false);
        gradient().update(d, 1, false);
        return {};
    });
    each("latency_quantile", [=]() -> kept_value { return latency_quantile(0.5, d).value(); });
    each("latency_quantile::record", [=]() -> kept_value {
        latency_quantile learnt(0.5, 1s, 1);
        learnt.record(d);
        return {};
    });
    each("attempt_counter", [=]() -> kept_value {
        attempt_counter const counter(d);
        return {};
    });
}

template <typename D>
void each_of_a_profile(D d, duration_judge each) {
    using namespace profiles;
    auto const cap_of = [](retry_policy const& p) -> kept_value { return p.settings().backoff.cap(); };
    auto const base_of = [](retry_policy const& p) -> kept_value { return p.settings().backoff.base(); };
    each("scala_timer", [=]() -> kept_value { return base_of(scala_timer(1, d)); });
    each("aws_exponential", [=]() -> kept_value { return cap_of(aws_exponential(0s, d)); });
    each("aws_exponential.base", [=]() -> kept_value { return base_of(aws_exponential(d, duration::max())); });
    each("aws_full_jitter", [=]() -> kept_value { return cap_of(aws_full_jitter(0s, d)); });
    each("aws_equal_jitter", [=]() -> kept_value { return cap_of(aws_equal_jitter(0s, d)); });
    each("aws_decorrelated", [=]() -> kept_value { return aws_decorrelated(0s, d).settings().jitter.cap(); });
    each("aws_decorrelated_in_range", [=]() -> kept_value { return cap_of(aws_decorrelated_in_range(0s, d)); });
    each("java_equal_jitter", [=]() -> kept_value { return cap_of(java_equal_jitter(3, 0s, d)); });
    each("ethernet", [=]() -> kept_value { return ethernet(d).settings().jitter.unit(); });
    each("polly_v2", [=]() -> kept_value { return base_of(polly_v2(d)); });
    each("go_backoff_options.max_interval",
         [=]() -> kept_value { return go_backoff_options{.max_interval = d}.max_interval; });
    each("go_backoff_options.initial_interval",
         [=]() -> kept_value { return go_backoff_options{.initial_interval = d}.initial_interval; });
    each("go_backoff_options.max_elapsed_time",
         [=]() -> kept_value { return go_backoff({.max_elapsed_time = d}).settings().max_elapsed; });
}

template <typename D>
void each_of_the_time(D d, duration_judge each) {
    each("saturating_add", [=]() -> kept_value { return saturating_add(time_point(), d).time_since_epoch(); });
    each("elapsed_between",
         [=]() -> kept_value { return elapsed_between(time_point(), steady_point_of<D>(d)); });
    each("slack", [=]() -> kept_value {
        boost::asio::io_context context(1);
        return scheduler(context).slack(d).slack();
    });
    each("retry_scope", [=]() -> kept_value {
        boost::asio::io_context context(1);
        return retry_scope(context, steady_point_of<D>(d)).deadline().time_since_epoch();
    });
    each("async_drain", [=]() -> kept_value {
        boost::asio::io_context context(1);
        retry_scope scope(context);
        bool drained = false;
        scope.async_drain(d, [&](auto, std::size_t) { drained = true; });
        context.run();
        EXPECT_TRUE(drained);
        return {};
    });
    each("advance", [=]() -> kept_value {
        boost::asio::io_context context(1);
        virtual_time time(context);
        auto const before = time.now();
        time.advance(d);
        return time.now() == time_point::max() ? duration::max() : time.now() - before;
    });
    each("jump", [=]() -> kept_value {
        boost::asio::io_context context(1);
        virtual_time time(context);
        auto const before = time.now();
        time.jump(d);
        return time.now() == time_point::max() ? duration::max() : time.now() - before;
    });
}

template <typename D>
void each_that_takes(D d, duration_judge each) {
    each_of_a_policy(d, each);
    each_of_a_backoff(d, each);
    each_of_a_jitter(d, each);
    each_of_the_traffic(d, each);
    each_of_a_profile(d, each);
    each_of_the_time(d, each);
}

/// Each keeps the greatest, or refuses it by its own value.
template <typename D>
void expect_held(D d) {
    each_that_takes(d, [](char const* name, duration_question const& ask) {
        try {
            if (kept_value const value = ask()) {
                EXPECT_EQ(*value, duration::max()) << name;
            }
        } catch (std::invalid_argument const& refusal) {
            EXPECT_NE(std::string(refusal.what()).find(detail::to_text(duration::max())), std::string::npos)
                << name << ": " << refusal.what();
        }
    });
}

TEST(every_duration, decision_56_is_held_at_the_greatest_or_refused_by_its_value) {
    expect_held(duration::max());
    expect_held(hours::max());
    expect_held(years(600));
    expect_held(years::max());
    expect_held(std::chrono::duration<std::uint64_t>(std::numeric_limits<std::uint64_t>::max()));
    expect_held(std::chrono::duration<double>(std::numeric_limits<double>::infinity()));
    expect_held(std::chrono::duration<double>(1e300));
}

TEST(every_duration, decision_56_below_the_least_is_no_greater_one) {
    auto const expect_least = [](char const* name, duration_question const& ask) {
        try {
            if (kept_value const value = ask()) {
                EXPECT_LE(*value, 0s) << name;
            }
        } catch (std::invalid_argument const& refusal) {
            std::string const message = refusal.what();
            EXPECT_TRUE(message.find(detail::to_text(duration::min())) != std::string::npos ||
                        message.find("must not be below the base") != std::string::npos)
                << name << ": " << message;
        }
    };
    each_that_takes(hours::min(), expect_least);
    each_that_takes(years(-600), expect_least);
    each_that_takes(std::chrono::duration<double>(-1e300), expect_least);
}

TEST(every_duration, of_any_unit_is_kept_exactly) {
    auto const expect_kept = [](char const* name, duration_question const& ask) {
        if (kept_value const value = ask()) {
            EXPECT_EQ(*value, 1h) << name;
        }
    };
    each_that_takes(1h, expect_kept);
    each_that_takes(std::chrono::duration<double>(3600), expect_kept);
    each_that_takes(std::chrono::duration<std::uint64_t>(3600), expect_kept);
}

TEST(every_duration, decision_56_what_is_no_number_is_refused) {
    each_that_takes(std::chrono::duration<double>(std::numeric_limits<double>::quiet_NaN()),
                    [](char const* name, duration_question const& ask) {
                        EXPECT_THROW((void)ask(), std::invalid_argument) << name;
                    });
}

} // namespace
} // namespace asio_retry::test
