// One operation inside an attempt of another: whose limit it was, and what gates in both layers are told.
#include <asio_retry/async_hedge.hpp>
#include <asio_retry/async_retry.hpp>
#include <asio_retry/on_endpoint.hpp>
#include <asio_retry/retry.hpp>
#include <asio_retry/retry_scope.hpp>
#include <asio_retry/traffic/adaptive_throttle.hpp>
#include <asio_retry/traffic/circuit_breaker.hpp>
#include <asio_retry/traffic/concurrency_limit.hpp>
#include <asio_retry/traffic/keyed_gates.hpp>
#include <asio_retry/traffic/rate_limit.hpp>
#include <asio_retry/traffic/retry_budget.hpp>
#include <asio_retry/traffic/token_budget.hpp>

#include "support/in_virtual_time.hpp"
#include "support/manual_waits.hpp"
#include "support/recording_gate.hpp"
#include "support/recording_observer.hpp"
#include "support/script.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace asio_retry::test::layers {
namespace {

enum class form { given, nested_in, hedge, endpoint, blocking };
constexpr std::array all_forms = {form::given, form::nested_in, form::hedge, form::endpoint, form::blocking};
constexpr std::string_view names_of_forms[] = {"async_retry(attempt, ...)", "nested_in", "async_hedge",
                                               "on_endpoint", "blocking"};

enum class ending { success, failure, outer_limit, inner_limit, cancelled };
constexpr std::array all_endings = {ending::success, ending::failure, ending::outer_limit, ending::inner_limit,
                                    ending::cancelled};
constexpr std::string_view names_of_endings[] = {"success", "failure", "outer limit", "inner limit",
                                                 "cancelled"};

std::string name_of(form f, ending e) {
    return std::string(names_of_forms[static_cast<std::size_t>(f)]) + ", " +
           std::string(names_of_endings[static_cast<std::size_t>(e)]);
}

using servers = endpoint_set<std::string>;

/// A request inside an operation inside an attempt of another operation. It takes 10 ms, or for ever.
struct two_layers : in_virtual_time {
    retry_policy outer = endless_every_100ms().max_attempts(1);
    retry_policy inner = endless_every_100ms().max_attempts(1);
    std::shared_ptr<servers> set = std::make_shared<servers>(std::vector<std::string>{"a"},
                                                             endpoint_options{.breaker = {.consecutive = 1}});
    std::optional<retry_scope> scope; ///< of the outer operation
    error_code result;
    manual_waits waits; ///< of the blocking form

    void play(form f, ending e) {
        if (e == ending::inner_limit)
            inner = inner.total_timeout(50ms);
        if (f == form::blocking)
            return block(e);
        asio::cancellation_signal signal;
        auto done = asio::bind_cancellation_slot(signal.slot(), [this](std::exception_ptr thrown) {
            result = thrown ? code_of(thrown) : error_code();
        });
        auto const around = [this, f, e](attempt a) { return nest(a, f, e); };
        if (scope)
            async_retry(*scope, around, outer, std::move(done));
        else
            async_retry(io, around, outer, std::move(done));
        time.advance(30ms);
        if (e == ending::cancelled)
            signal.emit(asio::cancellation_type::terminal);
        time.run();
    }

    /// Many at once. Returns how many succeed.
    int play_at_once(form f, int count) {
        int good = 0;
        for (int i = 0; i != count; ++i)
            async_retry(
                io, [this, f](attempt a) { return nest(a, f, ending::success); }, outer,
                [&](std::exception_ptr e) { good += !e; });
        time.run();
        return good;
    }

    /// A set of servers around the inner operation.
    auto at_each_server() {
        return on_endpoint(
            [this](attempt a, std::string const&) { return nest(a, form::given, ending::success); }, set);
    }

    bool is_ejected() const {
        bool ejected = false;
        set->for_each([&](std::string const&, endpoint_status const& of) {
            ejected = of.state != breaker_state::closed;
            EXPECT_EQ(of.in_flight, 0u);
        });
        return ejected;
    }

private:
    static asio::awaitable<void> wait(duration length) {
        auto fails_once = [has_failed = false]() mutable {
            return std::exchange(has_failed, true) ? error_code() : asio::error::try_again;
        };
        auto const once = retry_policy().backoff(constant(length)).jitter(no_jitter());
        co_await async_retry(co_await asio::this_coro::executor, fails_once, once, asio::use_awaitable);
    }

    static asio::awaitable<void> request(ending e) {
        co_await wait(e <= ending::failure ? duration(10ms) : duration(1h));
        if (e == ending::failure)
            throw boost::system::system_error(asio::error::connection_reset);
    }

    asio::awaitable<void> nest(attempt a, form f, ending e) {
        auto const innermost = [e] { return request(e); };
        auto const at_server = [e](std::string const&) { return request(e); };
        retry_settings const& s = inner.settings();
        switch (f) {
        case form::nested_in:
            co_return co_await async_retry(innermost, inner.nested_in(a), asio::use_awaitable);
        case form::hedge: {
            auto hedging = hedge_policy(1h).max_attempts(1).gate(s.gate).observe(s.observer);
            if (s.total_timeout)
                hedging = hedging.total_timeout(*s.total_timeout);
            co_return co_await async_hedge(a, innermost, hedging, asio::use_awaitable);
        }
        case form::endpoint:
            co_return co_await async_retry(a, on_endpoint(at_server, set), inner, asio::use_awaitable);
        default:
            co_return co_await async_retry(a, innermost, inner, asio::use_awaitable);
        }
    }

    void block(ending e) {
        auto const innermost = [this, e]() -> error_code {
            if (e == ending::success)
                return {};
            waits.time += e == ending::failure       ? duration(10ms)
                          : e == ending::outer_limit ? duration(100ms)
                                                     : duration(50ms);
            waits.stop = e == ending::cancelled;
            return e == ending::failure ? asio::error::connection_reset : asio::error::operation_aborted;
        };
        auto const around = [&](attempt a) { return retry(innermost, inner.nested_in(a), waits); };
        result = retry(around, outer, waits);
    }
};

// --- whose limit it was

struct outer_limit_case {
    char const* name;
    std::function<void(two_layers&, form)> set;
};

std::vector<outer_limit_case> outer_limit_cases() {
    return {
        {"attempt_timeout", [](two_layers& l, form) { l.outer = l.outer.attempt_timeout(100ms); }},
        {"total_timeout", [](two_layers& l, form) { l.outer = l.outer.total_timeout(100ms); }},
        {"deadline",
         [](two_layers& l, form f) {
             l.outer = l.outer.deadline((f == form::blocking ? l.waits.time : l.begin) + 100ms);
         }},
        {"deadline of a scope",
         [](two_layers& l, form f) {
             if (f == form::blocking)
                 l.outer = l.outer.attempt_timeout(100ms); // it has no scope
             else
                 l.scope.emplace(l.io, l.begin + 100ms);
         }},
    };
}

TEST(layers, decision_74_an_outer_limit_is_the_inherited_deadline_of_the_inner_operation) {
    for (form const f : all_forms)
        for (outer_limit_case const& limit : outer_limit_cases()) {
            SCOPED_TRACE(name_of(f, ending::outer_limit) + ", " + limit.name);
            two_layers layers;
            limit.set(layers, f);
            auto const gate = std::make_shared<recording_gate>();
            auto const observer = std::make_shared<recording_observer>();
            std::vector<retry_event> heard;
            layers.inner = layers.inner.gate(gate).observe(observer).on_give_up(
                [&](retry_event const& event) { heard.push_back(event); });
            layers.play(f, ending::outer_limit);
            EXPECT_EQ(layers.result, detail::timed_out_error());
            ASSERT_EQ(gate->ends.size(), 1u);
            EXPECT_EQ(gate->ends[0].outcome, attempt_end::how::failed);
            EXPECT_EQ(gate->ends[0].kind, failure_kind::timeout);
            EXPECT_EQ(layers.is_ejected(), f == form::endpoint);
            ASSERT_EQ(observer->events.size(), 4u);
            for (observation const& each : {observer->events[2], observer->events[3]}) {
                EXPECT_EQ(each.error, detail::timed_out_error());
                EXPECT_EQ(each.stopped, interruption::deadline);
                EXPECT_EQ(each.limit, time_limit::inherited);
            }
            EXPECT_EQ(observer->events[3].reason, stop_reason::deadline);
            if (f == form::hedge)
                continue; // which has no such hook
            EXPECT_EQ(heard.at(0).reason, stop_reason::deadline);
            EXPECT_EQ(heard[0].limit, time_limit::inherited);
            EXPECT_EQ(heard[0].message(), "inherited deadline reached after 100 ms");
        }
}

// At 30 ms, though the inner operation would have had 50 ms.
TEST(layers, decision_74_a_cancellation_before_the_deadline_remains_one) {
    for (form const f : {form::given, form::nested_in, form::hedge, form::endpoint}) {
        SCOPED_TRACE(name_of(f, ending::cancelled));
        two_layers layers;
        auto const gate = std::make_shared<recording_gate>();
        layers.outer = layers.outer.attempt_timeout(100ms);
        layers.inner = layers.inner.total_timeout(50ms).gate(gate);
        layers.play(f, ending::cancelled);
        EXPECT_EQ(layers.result, detail::aborted_error());
        EXPECT_EQ(gate->ends.at(0).outcome, attempt_end::how::abandoned);
        EXPECT_FALSE(layers.is_ejected());
    }
}

TEST(layers, decision_74_a_machine_knows_when_it_was_cancelled) {
    auto const ends = [](retry_policy const& policy, duration cancelled, duration ended) {
        machine_script script(policy.gate(std::make_shared<recording_gate>()));
        script.start();
        script.machine.cancel(script.begin + cancelled);
        script.machine.cancel(script.begin + ended);
        retry_action const end = script.fail(ended, detail::aborted_error());
        EXPECT_EQ(end.reason, script.give_ups.at(0).reason);
        return script.give_ups[0];
    };
    auto const policy = endless_every_100ms().total_timeout(1s);
    EXPECT_EQ(ends(policy, 999ms, 2s).reason, stop_reason::cancelled) << "its clean-up took a second";
    EXPECT_EQ(ends(policy, 1s, 1s).reason, stop_reason::deadline);
    EXPECT_EQ(ends(policy, 1s, 1s).limit, time_limit::total_timeout);
    EXPECT_EQ(ends(policy, 1s, 1s).kind, failure_kind::timeout);
    EXPECT_EQ(ends(endless_every_100ms().deadline(time_point(1h + 1s)), 2s, 2s).limit, time_limit::deadline);
    attempt const around{1, time_point(1h + 1s), nullptr};
    EXPECT_EQ(ends(endless_every_100ms().nested_in(around), 1s, 1s).limit, time_limit::inherited);
    EXPECT_EQ(ends(policy.nested_in(around), 1s, 1s).limit, time_limit::total_timeout) << "as early";
    EXPECT_EQ(ends(endless_every_100ms().deadline(around.deadline).nested_in(around), 1s, 1s).limit,
              time_limit::deadline);
    EXPECT_EQ(ends(endless_every_100ms().nested_in(around).deadline(time_point(1h)), 1s, 1s).limit,
              time_limit::deadline)
        << "given later";
    EXPECT_EQ(ends(endless_every_100ms(), 1h, 1h).reason, stop_reason::cancelled) << "it has no deadline";
}

TEST(layers, decision_74_so_does_the_machine_of_a_hedge) {
    auto const ends = [](int cancelled, void (*cancel)(hedge_machine&, time_point)) {
        auto const gate = std::make_shared<recording_gate>();
        hedge_script script(hedge_policy(1h).total_timeout(10ms).gate(gate));
        script.start();
        cancel(script.machine, hedge_script::at(cancelled));
        script.fail(1, 20, verdict::failure(detail::aborted_error()));
        EXPECT_EQ(script.delivered.reason == stop_reason::deadline,
                  gate->ends.at(0).kind == failure_kind::timeout);
        return script.delivered.reason;
    };
    auto const by_caller = [](hedge_machine& m, time_point now) { m.cancel(true, now); };
    auto const total = [](hedge_machine& m, time_point now) { m.cancel_total(now); };
    auto const by_scope = [](hedge_machine& m, time_point now) { m.cancel_by_scope(now); };
    EXPECT_EQ(ends(9, by_caller), stop_reason::cancelled);
    EXPECT_EQ(ends(10, by_caller), stop_reason::deadline);
    EXPECT_EQ(ends(10, total), stop_reason::deadline);
    EXPECT_EQ(ends(9, by_scope), stop_reason::cancelled);
    EXPECT_EQ(ends(10, by_scope), stop_reason::deadline);
}

TEST(layers, decision_74_a_wait_that_is_cancelled_at_the_deadline_ends_by_it) {
    machine_script script(endless_every_100ms().total_timeout(100ms));
    script.start();
    EXPECT_THAT(script.fail(), is_wait(100ms));
    script.machine.cancel(script.begin + 100ms);
    EXPECT_THAT(script.wake(100ms), is_completion(stop_reason::deadline, detail::timed_out_error()));
}

// --- gates in both layers

/// A gate of the library, and what it is told.
class told_gate final : public retry_gate {
public:
    explicit told_gate(std::shared_ptr<retry_gate> real)
        : real_(std::move(real)) {}

    bool acquire(failure_kind kind, time_point now) noexcept override { return real_->acquire(kind, now); }
    void give_back(failure_kind kind) noexcept override { real_->give_back(kind); }
    admission admit(std::uint64_t number, time_point now) noexcept override {
        return note(real_->admit(number, now), now);
    }
    admission enqueue(gate_waiter& waiter, std::uint64_t number, time_point now) noexcept override {
        return note(real_->enqueue(waiter, number, now), now);
    }
    admission leave(gate_waiter& waiter, std::uint64_t number, time_point now) noexcept override {
        return note(real_->leave(waiter, number, now), now);
    }
    admission admit_again(admission const& before, std::uint64_t number, time_point now) noexcept override {
        return real_->admit_again(before, number, now);
    }
    void on_end(attempt_end const& end) noexcept override {
        constexpr std::string_view words[] = {"succeeded", "failed", "abandoned"};
        told += std::string(", ").append(words[static_cast<std::size_t>(end.outcome)]);
        if (end.kind != failure_kind::none)
            told += ' ' + std::string(to_string(end.kind));
        --held;
        real_->on_end(end);
    }
    bool measures_time() const noexcept override { return real_->measures_time(); }
    std::string_view name() const noexcept override { return real_->name(); }

    std::string told;
    int held = 0;

private:
    admission note(admission const& answer, time_point now) noexcept {
        if (answer.until <= now || answer.reserved) {
            told += told.empty() ? "admitted" : ", admitted";
            ++held;
        }
        return answer;
    }

    std::shared_ptr<retry_gate> real_;
};

/// Gates for both layers; those in `seen` are told what is compared.
struct layered_gates {
    std::string name;
    std::shared_ptr<retry_gate> outer, inner;
    std::vector<std::shared_ptr<told_gate>> seen;
    std::function<std::size_t()> in_flight = [] { return std::size_t(0); };
};

std::shared_ptr<told_gate> told(std::shared_ptr<retry_gate> real) {
    return std::make_shared<told_gate>(std::move(real));
}

layered_gates shared(std::string name, std::shared_ptr<retry_gate> real) {
    auto const gate = told(std::move(real));
    return {std::move(name), gate, gate, {gate}};
}

layered_gates limited(std::string name, std::optional<queue_options> queue) {
    aimd const one({.initial = 1, .least = 1, .greatest = 1});
    auto const limit = queue ? std::make_shared<concurrency_limit<aimd>>(one, *queue)
                             : std::make_shared<concurrency_limit<aimd>>(one);
    layered_gates result = shared(std::move(name), limit);
    result.in_flight = [limit] { return std::size_t(limit->in_flight()); };
    return result;
}

std::vector<layered_gates> layered_gate_cases() {
    auto const budget = told(std::make_shared<retry_budget>());
    auto const breaker = told(std::make_shared<circuit_breaker>());
    auto const throttle = told(std::make_shared<adaptive_throttle>());
    keyed_gates<told_gate> keyed([] { return told(std::make_shared<circuit_breaker>()); });
    return {
        shared("token_budget", std::make_shared<token_budget>()),
        shared("retry_budget", std::make_shared<retry_budget>()),
        shared("breaker", std::make_shared<circuit_breaker>()),
        shared("adaptive_throttle", std::make_shared<adaptive_throttle>()),
        shared("rate_limit", std::make_shared<rate_limit>(1, 1h)),
        limited("concurrency_limit", std::nullopt),
        limited("queue", queue_options{.greatest = 10, .longest_wait = 1s}),
        {"all_gates",
         all_gates({budget, breaker}),
         all_gates({breaker, throttle}),
         {budget, breaker, throttle}},
        {"keyed_gates", keyed.at("a"), keyed.at("a"), {keyed.at("a")}},
    };
}

std::string_view expected_end(ending e) {
    switch (e) {
    case ending::success:
        return "admitted, succeeded";
    case ending::failure:
        return "admitted, failed transient";
    case ending::outer_limit:
    case ending::inner_limit:
        return "admitted, failed timeout";
    case ending::cancelled:
        break;
    }
    return "admitted, abandoned";
}

TEST(layers, decision_75_each_gate_is_told_of_one_request_once) {
    for (form const f : all_forms)
        for (ending const e : all_endings)
            for (layered_gates const& gates : layered_gate_cases()) {
                SCOPED_TRACE(name_of(f, e) + ", " + gates.name);
                two_layers layers;
                layers.outer = layers.outer.gate(gates.outer).attempt_timeout(100ms);
                layers.inner = layers.inner.gate(gates.inner);
                layers.play(f, e);
                for (auto const& each : gates.seen) {
                    EXPECT_EQ(each->told, expected_end(e));
                    EXPECT_EQ(each->held, 0);
                }
                EXPECT_EQ(gates.in_flight(), 0u);
            }
}

// Each would wait for its own place in the inner layer.
TEST(layers, decision_75_operations_do_not_wait_for_their_own_places) {
    for (form const f : {form::given, form::nested_in, form::hedge, form::endpoint}) {
        SCOPED_TRACE(name_of(f, ending::success));
        two_layers layers;
        auto const limit =
            std::make_shared<concurrency_limit<aimd>>(aimd({.initial = 4, .least = 4, .greatest = 4}),
                                                      queue_options{.greatest = 100, .longest_wait = 1s});
        layers.outer = layers.outer.gate(limit);
        layers.inner = layers.inner.gate(limit);
        EXPECT_EQ(layers.play_at_once(f, 8), 8);
        EXPECT_EQ(layers.time.now() - layers.begin, 20ms);
        EXPECT_EQ(limit->in_flight(), 0u);
    }
}

// --- a limit of the caller's own, further in

TEST(layers, decision_76_a_limit_inside_does_not_eject_servers) {
    two_layers layers;
    auto const own = std::make_shared<concurrency_limit<aimd>>(aimd({.initial = 4, .least = 4, .greatest = 4}));
    auto const breaker = std::make_shared<circuit_breaker>(circuit_breaker_options{.consecutive = 1});
    layers.outer = layers.outer.gate(breaker);
    layers.inner = layers.inner.gate(own);
    EXPECT_EQ(layers.play_at_once(form::given, 40), 4);
    EXPECT_EQ(breaker->state(layers.time.now()), breaker_state::closed);

    int good = 0;
    for (int i = 0; i != 40; ++i)
        async_retry(layers.io, layers.at_each_server(), layers.outer.gate(nullptr),
                    [&](std::exception_ptr e) { good += !e; });
    layers.time.run();
    EXPECT_EQ(good, 4);
    EXPECT_FALSE(layers.is_ejected());
}

} // namespace
} // namespace asio_retry::test::layers
