#include <asio_retry/on_endpoint.hpp>

#include <asio_retry/async_hedge.hpp>
#include <asio_retry/async_retry.hpp>
#include <asio_retry/retry.hpp>
#include <asio_retry/retry_scope.hpp>
#include <asio_retry/traffic/retry_budget.hpp>
#include <asio_retry/virtual_time.hpp>

#include "support/attempt_ends.hpp"
#include "support/endpoint_operation.hpp"
#include "support/policies.hpp"
#include "support/scripted_operation.hpp"

#include <boost/asio.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

// The wish of one server, in operations that ask several.

namespace asio_retry::test {
namespace wishes {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::SizeIs;

using fleet = endpoint_set<std::string>;

/// Servers, some of which fail with a wish, and who was asked when.
struct busy_servers {
    asio::io_context& io;
    virtual_time& time;
    std::map<std::string, pushback> wishes{};
    std::vector<std::string> order{};
    std::vector<duration> times{};
    time_point begin = time.now();

    error_code answer(attempt const& which, std::string const& at) {
        order.push_back(at);
        times.push_back(time.now() - begin);
        if (!wishes.contains(at))
            return {};
        which.heed(wishes[at]);
        return refused();
    }
    template <typename Token>
    auto async_answer(attempt const& which, std::string const& at, Token&& token) {
        return asio::async_initiate<Token, void(error_code)>(
            [this](auto handler, error_code ec) { post_completion(io, std::move(handler), ec); }, token,
            answer(which, at));
    }
};

class servers_with_wishes : public testing::Test {
protected:
    auto asking() {
        return on_endpoint(
            [this](attempt const& which, std::string const& at) { return all.answer(which, at); }, set);
    }

    using end = std::function<void(error_code)>;
    struct form {
        char const* name;
        std::function<void(servers_with_wishes&, retry_policy const&, end)> start;
    };

    static std::vector<form> forms() {
        return {
            {"plain",
             [](auto& t, auto const& policy, auto done) {
                 async_retry(t.io, t.asking(), policy, [done](error_code ec) { done(ec); });
             }},
            {"token",
             [](auto& t, auto const& policy, auto done) {
                 auto ask = [&t](attempt const& which, std::string const& at, auto&& token) {
                     return t.all.async_answer(which, at, std::forward<decltype(token)>(token));
                 };
                 async_retry(t.io, on_endpoint(ask, t.set), policy, [done](error_code ec) { done(ec); });
             }},
            {"awaited",
             [](auto& t, auto const& policy, auto done) {
                 auto ask = [&t](attempt which, std::string const& at) -> asio::awaitable<void> {
                     if (error_code const ec = t.all.answer(which, at))
                         throw boost::system::system_error(ec);
                     co_return;
                 };
                 asio::co_spawn(t.io, async_retry(on_endpoint(ask, t.set), policy),
                                [done](std::exception_ptr e) { done(e ? code_of(e) : error_code()); });
             }},
            {"hedge",
             [](auto& t, auto const& policy, auto done) {
                 auto const& common = policy.settings();
                 async_hedge(t.io, t.asking(),
                             hedge_policy(1h)
                                 .max_attempts(static_cast<std::int64_t>(*common.max_attempts))
                                 .pushback_limit(common.pushback_limit),
                             [done](error_code ec) { done(ec); });
             }},
        };
    }

    void run(form const& one, retry_policy const& policy) {
        SCOPED_TRACE(one.name);
        begin_anew();
        one.start(*this, policy, [this](error_code ec) { ends.push_back(ec); });
        io.restart();
        time.run();
        ASSERT_THAT(ends, SizeIs(1));
    }
    void begin_anew() {
        set = std::make_shared<fleet>(std::vector<std::string>{"a", "b", "c"},
                                      endpoint_options{.breaker = {.min_attempts = 1000, .consecutive = 0}});
        all.order.clear();
        all.times.clear();
        all.begin = time.now();
        ends.clear();
    }

    time_point resting_until(std::string const& name) {
        time_point until{};
        set->for_each(
            [&](std::string const& at, endpoint_status const& status) {
                if (at == name)
                    until = status.resting_until;
            },
            time.now());
        return until;
    }

    static retry_policy three_attempts() {
        return retry_policy().max_attempts(3).backoff(constant(0ms)).pushback_spread(0);
    }

    asio::io_context io;
    virtual_time time{io};
    busy_servers all{io, time};
    std::shared_ptr<fleet> set;
    std::vector<error_code> ends;
};

TEST_F(servers_with_wishes, decision_79_do_not_delay_a_retry_at_another_one) {
    all.wishes = {{"a", pushback::after(30s)}, {"b", pushback::after(20s)}};
    for (form const& one : forms()) {
        run(one, three_attempts());
        EXPECT_THAT(ends, ElementsAre(error_code())) << one.name;
        EXPECT_EQ(all.times.back(), 0s) << one.name;
        for (int i = 0; i < 20; ++i) {
            async_retry(io, asking(), three_attempts(), [](error_code) {});
            io.restart();
            time.run();
        }
        EXPECT_EQ(std::ranges::count(all.order, "a"), 1) << one.name;
        EXPECT_EQ(resting_until("a"), all.begin + 30s) << one.name;
        EXPECT_EQ(time.now(), all.begin) << one.name;
    }
}

TEST_F(servers_with_wishes, decision_79_wait_for_the_earliest_if_all_rest) {
    all.wishes = {{"a", pushback::after(30s)}, {"b", pushback::after(20s)}, {"c", pushback::after(25s)}};
    for (form const& one : forms()) {
        run(one, three_attempts().max_attempts(4));
        EXPECT_EQ(all.order.back(), "b") << one.name;
        EXPECT_THAT(all.times, ElementsAre(0s, 0s, 0s, 20s)) << one.name;
        EXPECT_THAT(ends, ElementsAre(refused())) << one.name;
    }
}

TEST_F(servers_with_wishes, decision_79_end_an_operation_whose_limit_is_before_the_earliest) {
    all.wishes = {{"a", pushback::after(30s)}, {"b", pushback::after(20s)}, {"c", pushback::after(25s)}};
    for (form const& one : forms()) {
        run(one, three_attempts().max_attempts(9).pushback_limit(20s - 1ns));
        EXPECT_THAT(all.times, ElementsAre(0s, 0s, 0s)) << one.name;
        EXPECT_THAT(ends, ElementsAre(refused())) << one.name;
        one.start(*this, three_attempts().pushback_limit(20s - 1ns),
                  [&](error_code ec) { ends.push_back(ec); });
        io.restart();
        time.run();
        EXPECT_THAT(ends, ElementsAre(refused(), error::cooling_down)) << one.name;
        EXPECT_EQ(time.now(), all.begin) << one.name;
    }
}

TEST_F(servers_with_wishes, decision_79_hold_a_first_attempt_back_too) {
    all.wishes = {{"a", pushback::after(3s)}, {"b", pushback::after(2s)}, {"c", pushback::after(3s)}};
    for (form const& one : forms()) {
        run(one, three_attempts());
        all.wishes.erase("b");
        one.start(*this, three_attempts(), [&](error_code ec) { ends.push_back(ec); });
        io.restart();
        time.run();
        EXPECT_EQ(all.order.back(), "b") << one.name;
        EXPECT_EQ(all.times.back(), 2s) << one.name;
        EXPECT_EQ(ends.back(), error_code()) << one.name;
        all.wishes.emplace("b", pushback::after(2s));
    }
}

class servers_with_breakers : public servers_with_wishes {
protected:
    void have_one_server(circuit_breaker_options options) {
        options.open_spread = 0;
        set = std::make_shared<fleet>(std::vector<std::string>{"a"}, endpoint_options{.breaker = options});
        all.begin = time.now();
    }
    void ask(retry_policy const& policy) {
        async_retry(io, asking(), policy, [&](error_code ec) { ends.push_back(ec); });
        io.restart();
    }
};

TEST_F(servers_with_breakers, decision_79_rest_also_while_a_breaker_refuses_them) {
    have_one_server({.consecutive = 1, .open_for = 5s});
    all.wishes = {{"a", pushback::after(30s)}};
    ask(three_attempts().max_attempts(1));
    time.advance(1s);
    all.wishes.clear();
    ask(three_attempts().max_attempts(1));
    time.run();
    EXPECT_THAT(all.times, ElementsAre(0s, 30s));
    EXPECT_THAT(ends, ElementsAre(refused(), error_code()));
}

TEST_F(servers_with_breakers, decision_78_end_who_sees_that_the_rest_is_too_long) {
    have_one_server({.consecutive = 1, .open_for = 5s});
    all.wishes = {{"a", pushback::after(20s)}};
    for (auto const& policy : {three_attempts().pushback_limit(10s), three_attempts().total_timeout(10s)}) {
        have_one_server({.consecutive = 1, .open_for = 5s});
        ask(policy.wait_when_refused());
        time.run();
        EXPECT_EQ(time.now(), all.begin);
    }
    EXPECT_THAT(ends, ElementsAre(refused(), refused()));
}

// The server asked for less than the limit. How long its breaker is open is no wish.
TEST_F(servers_with_breakers, decision_79_are_no_reason_to_wait_for_longer_than_they_said) {
    have_one_server({.consecutive = 1, .open_for = 5s});
    all.wishes = {{"a", pushback::after(1s)}};
    ask(three_attempts().max_attempts(2).pushback_limit(2s).wait_when_refused());
    time.run();
    EXPECT_THAT(all.times, ElementsAre(0s, 5s));
}

// A breaker knows when its probe has hung, and not when it ends.
TEST_F(servers_with_breakers, decision_79_do_not_wait_for_probes_that_have_hung) {
    endpoint_set<int> const one({1},
                                {.breaker = {.consecutive = 1, .open_for = 5s, .open_cap = 1h, .probes = 2}});
    random dice(std::uint64_t(1));
    endpoint_operation first(one, dice), slow_probe(one, dice), busy_probe(one, dice);
    ASSERT_TRUE(first.begin(time.now()));
    first.fail(time.now());
    time.advance(5s);
    ASSERT_TRUE(slow_probe.begin(time.now()));
    ASSERT_TRUE(busy_probe.begin(time.now()));
    attempt_end busy = failure(failure_kind::permanent, time.now()); // an answer, for the breaker
    busy.said = pushback::after(1s);
    busy_probe.end(busy, 1);
    EXPECT_EQ(busy_probe.choice.wish(busy.said, time.now()).delay(), 1s);
}

// The wait is cut short, and the server may not be asked then, because its breaker refuses.
TEST_F(servers_with_breakers, decision_79_that_breakers_refuse_are_not_asked_for_in_a_loop) {
    all.wishes = {{"a", pushback::after(30s)}};
    for (auto const over : {over_limit::clamp, over_limit::ignore})
        for (bool const waits : {false, true}) {
            have_one_server({.consecutive = 2, .open_for = 5s});
            all.times.clear();
            ends.clear();
            auto const policy = three_attempts().max_attempts(4).pushback_limit(1s, over);
            ask(waits ? policy.wait_when_refused() : policy);
            EXPECT_LT(time.advance(1h), 100u);
            EXPECT_THAT(ends, ElementsAre(refused()));
            EXPECT_THAT(all.times, SizeIs(waits ? 4 : 2));
        }
}

// Somebody else makes the server rest for longer. The spread is cut to what fits.
TEST_F(servers_with_wishes, decision_79_are_kept_with_as_much_of_the_spread_as_fits) {
    all.wishes = {{"a", pushback::after(1s)}, {"b", pushback::after(1s)}, {"c", pushback::after(1s)}};
    auto const patient = three_attempts().max_attempts(1);
    for (double const share : {0.0, 0.3, 1.0}) {
        SCOPED_TRACE(share);
        begin_anew();
        for (int i = 0; i != 3; ++i)
            async_retry(io, asking(), patient, [](error_code) {});
        io.restart();
        time.advance(0s);
        all.wishes.clear();
        async_retry(io, asking(), patient.total_timeout(3s).pushback_spread(share),
                    [&](error_code ec) { ends.push_back(ec); });
        io.restart();
        time.advance(500ms);
        all.wishes = {
            {"a", pushback::after(2400ms)}, {"b", pushback::after(2400ms)}, {"c", pushback::after(2400ms)}};
        time.advance(500ms);
        for (int i = 0; i != 3; ++i)
            async_retry(io, asking(), patient, [](error_code) {});
        io.restart();
        time.advance(0s);
        all.wishes.clear();
        time.run();
        EXPECT_THAT(ends, ElementsAre(error_code()));
        all.wishes = {{"a", pushback::after(1s)}, {"b", pushback::after(1s)}, {"c", pushback::after(1s)}};
    }
}

TEST_F(servers_with_wishes, decision_79_are_cut_short_as_the_policy_says) {
    all.wishes = {{"a", pushback::after(30s)}, {"b", pushback::after(20s)}, {"c", pushback::after(25s)}};
    for (auto const& [over, delay] : {std::pair(over_limit::clamp, duration(5s)), {over_limit::ignore, 0s}}) {
        run(forms().front(), three_attempts().max_attempts(4).pushback_limit(5s, over));
        EXPECT_EQ(all.order.back(), "b");
        EXPECT_THAT(all.times, ElementsAre(0s, 0s, 0s, delay));
        async_retry(io, asking(), three_attempts().max_attempts(1).pushback_limit(5s, over), [](error_code) {});
        io.restart();
        time.run();
        EXPECT_EQ(all.times.back(), delay + delay) << "a first attempt as well";
    }
}

TEST_F(servers_with_wishes, decision_79_are_cut_short_by_retry_now) {
    all.wishes = {{"a", pushback::after(3s)}, {"b", pushback::after(2s)}, {"c", pushback::after(3s)}};
    run(forms().front(), three_attempts());
    all.wishes.clear();
    retry_scope scope(io);
    async_retry(scope, asking(), three_attempts(), [&](error_code ec) { ends.push_back(ec); });
    io.restart();
    time.advance(1s);
    scope.retry_now();
    io.restart();
    time.run();
    EXPECT_EQ(all.order.back(), "b");
    EXPECT_EQ(all.times.back(), 1s);
    EXPECT_EQ(ends.back(), error_code());
}

// Somebody else always comes first, and its server wants a second more.
TEST_F(servers_with_wishes, decision_79_hold_an_attempt_back_for_no_longer_than_the_limit_altogether) {
    all.wishes = {{"a", pushback::after(1s)}, {"b", pushback::after(1s)}, {"c", pushback::after(1s)}};
    auto const policy = three_attempts().max_attempts(1000).pushback_limit(10s);
    for (auto const over : {over_limit::stop, over_limit::clamp}) {
        run(forms().front(), three_attempts());
        auto const others = std::make_shared<std::function<void()>>();
        *others = [&, others, left = 60]() mutable {
            if (left-- > 0)
                async_retry(io, asking(), policy.max_attempts(2), [&](error_code) { (*others)(); });
        };
        for (int i = 0; i < 3; ++i)
            (*others)();
        async_retry(io, asking(), policy.max_attempts(1).pushback_limit(10s, over),
                    [&](error_code ec) { ends.push_back(ec); });
        io.restart();
        time.advance(11s);
        EXPECT_THAT(ends, SizeIs(2));
        time.run();
        *others = nullptr;
    }
}

TEST_F(servers_with_wishes, decision_79_end_the_operation_if_one_wants_no_retry) {
    all.wishes = {{"a", pushback::never()}, {"b", pushback::never()}, {"c", pushback::never()}};
    for (form const& one : forms()) {
        run(one, three_attempts());
        EXPECT_THAT(all.order, SizeIs(1)) << one.name;
        EXPECT_THAT(ends, ElementsAre(refused())) << one.name;
        EXPECT_EQ(resting_until(all.order.front()), time_point::min()) << one.name;
    }
}

TEST_F(servers_with_wishes, decision_79_hold_a_hedge_back_while_all_rest) {
    begin_anew();
    set->assign({"a"});
    all.wishes = {{"a", pushback::after(2s)}};
    auto const gate = std::make_shared<retry_budget>();
    async_hedge(io, asking(), hedge_policy(10ms).max_attempts(2).gate(gate),
                [&](error_code ec) { ends.push_back(ec); });
    time.run();
    EXPECT_THAT(all.times, ElementsAre(0s, 2s));
    EXPECT_THAT(ends, ElementsAre(refused()));
}

TEST_F(servers_with_wishes, decision_79_are_heard_by_a_blocking_retry) {
    begin_anew();
    all.wishes = {{"a", pushback::after(30s)}, {"b", pushback::after(20ms)}, {"c", pushback::after(30s)}};
    auto const began = std::chrono::steady_clock::now();
    EXPECT_EQ(retry(asking(), three_attempts().max_attempts(4)), refused());
    EXPECT_EQ(all.order.back(), "b");
    all.wishes.erase("b");
    EXPECT_EQ(retry(asking(), three_attempts()), error_code());
    EXPECT_GE(std::chrono::steady_clock::now() - began, 40ms);
}

TEST_F(servers_with_wishes, decision_80_ask_one_that_refuses_at_once_less_often) {
    all.wishes = {{"a", pushback()}};
    for (form const& one : forms()) {
        begin_anew();
        for (int i = 0; i < 1000; ++i) {
            one.start(*this, three_attempts().max_attempts(1), [](error_code) {});
            io.restart();
            time.run();
        }
        EXPECT_THAT(all.order, SizeIs(1000)) << one.name;
        EXPECT_LT(std::ranges::count(all.order, "a"), 150) << one.name << ": 64 until all is known";
    }
}

TEST_F(servers_with_wishes, leave_nothing_in_a_context_that_is_destroyed_meanwhile) {
    all.wishes = {{"a", pushback::after(3s)}, {"b", pushback::after(2s)}, {"c", pushback::after(3s)}};
    run(forms().front(), three_attempts());
    auto const kept = std::make_shared<int>();
    for (form const& one : forms())
        one.start(*this, three_attempts(), [kept](error_code) { FAIL(); });
    io.restart();
    time.advance(1s);
    EXPECT_EQ(kept.use_count(), 5);
    EXPECT_THAT(all.order, SizeIs(3));
}

} // namespace
} // namespace wishes
} // namespace asio_retry::test
