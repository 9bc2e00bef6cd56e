#include <asio_retry/on_endpoint.hpp>

#include <asio_retry/async_hedge.hpp>
#include <asio_retry/async_retry.hpp>
#include <asio_retry/before_retry.hpp>
#include <asio_retry/fail_if.hpp>
#include <asio_retry/retry.hpp>
#include <asio_retry/retry_scope.hpp>
#include <asio_retry/virtual_time.hpp>
#include <asio_retry/with_hooks.hpp>
#include <asio_retry/with_report.hpp>

#include "support/policies.hpp"
#include "support/recording_gate.hpp"
#include "support/scripted_operation.hpp"

#include <boost/asio.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;
using testing::Each;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

using servers = endpoint_set<std::string>;
using asked = std::vector<std::string>;

std::shared_ptr<servers> three() {
    return std::make_shared<servers>(asked{"a", "b", "c"});
}

/// Attempts that note the endpoint, and fail as long as there are errors.
struct server_script {
    asio::io_context& io;
    script played;
    asked order;

    error_code ask(std::string const& at) {
        order.push_back(at);
        return played.next();
    }
    template <typename Token>
    auto async_ask(std::string const& at, Token&& token) {
        order.push_back(at);
        return async_scripted(io, played, std::forward<Token>(token));
    }
    asio::awaitable<int> await_ask(std::string const& at) { return async_ask(at, asio::use_awaitable); }
};

std::uint32_t in_flight(servers const& set) {
    std::uint32_t sum = 0;
    set.for_each([&](std::string const&, endpoint_status const& status) { sum += status.in_flight; });
    return sum;
}

struct form {
    char const* name;
    std::function<void(asio::io_context&, std::shared_ptr<servers>, server_script&, retry_policy,
                       std::function<void(error_code)>)>
        start;
};

auto on_exception(std::function<void(error_code)> const& done) {
    return [done](std::exception_ptr e, auto...) { done(e ? code_of(e) : error_code()); };
}
auto on_code(std::function<void(error_code)> const& done) {
    return [done](error_code ec, auto...) { done(ec); };
}

std::vector<form> const forms{
    {"plain",
     [](auto& io, auto set, auto& s, auto policy, auto done) {
         async_retry(io, on_endpoint([&s](std::string const& at) { return s.ask(at); }, set), policy,
                     on_code(done));
     }},
    {"plain with its attempt",
     [](auto& io, auto set, auto& s, auto policy, auto done) {
         async_retry(io,
                     on_endpoint(
                         [&s](attempt which, std::string const& at) {
                             EXPECT_EQ(which.number, s.order.size() + 1);
                             return s.ask(at);
                         },
                         set),
                     policy, on_code(done));
     }},
    {"token",
     [](auto& io, auto set, auto& s, auto policy, auto done) {
         async_retry(
             io,
             on_endpoint([&s](std::string const& at,
                              auto&& token) { return s.async_ask(at, std::forward<decltype(token)>(token)); },
                         set),
             policy, on_code(done));
     }},
    {"token with its attempt",
     [](auto& io, auto set, auto& s, auto policy, auto done) {
         async_retry(
             io,
             on_endpoint([&s](attempt const&, std::string const& at,
                              auto&& token) { return s.async_ask(at, std::forward<decltype(token)>(token)); },
                         set),
             policy, on_code(done));
     }},
    {"deferred",
     [](auto& io, auto set, auto& s, auto policy, auto done) {
         async_retry(io,
                     on_endpoint([&s](std::string const& at) { return s.async_ask(at, asio::deferred); }, set),
                     policy, asio::deferred)(on_code(done));
     }},
    {"awaited",
     [](auto& io, auto set, auto& s, auto policy, auto done) {
         asio::co_spawn(
             io, async_retry(on_endpoint([&s](std::string const& at) { return s.await_ask(at); }, set), policy),
             on_exception(done));
     }},
    {"awaitable with a handler",
     [](auto& io, auto set, auto& s, auto policy, auto done) {
         async_retry(io, on_endpoint([&s](attempt, std::string const& at) { return s.await_ask(at); }, set),
                     policy, on_exception(done));
     }},
    {"judged",
     [](auto& io, auto set, auto& s, auto policy, auto done) {
         async_retry(io,
                     fail_if(on_endpoint(
                                 [&s](std::string const& at, auto&& token) {
                                     return s.async_ask(at, std::forward<decltype(token)>(token));
                                 },
                                 set),
                             [](int) { return false; }),
                     policy, on_code(done));
     }},
    {"after a step",
     [](auto& io, auto set, auto& s, auto policy, auto done) {
         async_retry(io,
                     before_retry(on_endpoint([&s](std::string const& at) { return s.ask(at); }, set), [] {}),
                     policy, on_code(done));
     }},
    {"with hooks",
     [](auto& io, auto set, auto& s, auto policy, auto done) {
         async_retry(io,
                     with_hooks(on_endpoint([&s](std::string const& at) { return s.ask(at); }, set),
                                [](retry_event const&) {}),
                     policy, on_code(done));
     }},
    {"blocking",
     [](auto&, auto set, auto& s, auto policy, auto done) {
         done(retry(on_endpoint([&s](std::string const& at) { return s.ask(at); }, set), policy));
     }},
};

class on_endpoint_forms : public testing::Test {
public:
    asio::io_context io;
    virtual_time time{io};
    std::shared_ptr<servers> set = three();
    std::vector<error_code> ends;

    std::function<void(error_code)> done() {
        return [this](error_code ec) { ends.push_back(ec); };
    }
};

TEST_F(on_endpoint_forms, ask_another_endpoint_in_each_attempt) {
    for (form const& one : forms) {
        SCOPED_TRACE(one.name);
        set = three();
        server_script s{io, script::failures(2), {}};
        one.start(io, set, s, retry_policy().max_attempts(3).backoff(constant(0ms)), done());
        io.restart();
        time.run();
        EXPECT_THAT(s.order, UnorderedElementsAre("a", "b", "c"));
        EXPECT_THAT(ends, ElementsAre(error_code()));
        EXPECT_EQ(in_flight(*set), 0u);
        ends.clear();
    }
}

TEST_F(on_endpoint_forms, ask_the_one_that_was_asked_longest_ago_when_all_were) {
    for (form const& one : forms) {
        SCOPED_TRACE(one.name);
        server_script s{io, script::failures(5), {}};
        one.start(io, three(), s, retry_policy().max_attempts(6).backoff(constant(0ms)), done());
        io.restart();
        time.run();
        ASSERT_THAT(s.order, SizeIs(6));
        EXPECT_THAT(asked(s.order.begin(), s.order.begin() + 3),
                    ElementsAre(s.order[3], s.order[4], s.order[5]));
        ends.clear();
    }
}

TEST_F(on_endpoint_forms, are_refused_as_by_a_gate_when_no_endpoint_may_be_asked) {
    for (form const& one : forms) {
        SCOPED_TRACE(one.name);
        auto const dead = std::make_shared<servers>(
            asked{"a"}, endpoint_options{.breaker = {.min_attempts = 1000, .consecutive = 1}});
        server_script s{io, script::failures(9), {}};
        auto const gate = std::make_shared<recording_gate>();
        one.start(io, dead, s, retry_policy().max_attempts(5).backoff(constant(0ms)).gate(gate), done());
        io.restart();
        time.run();
        EXPECT_THAT(s.order, ElementsAre("a"));
        EXPECT_THAT(ends, ElementsAre(refused())) << "the failure before the refusal";
        server_script again{io, script::failures(9), {}};
        one.start(io, dead, again, retry_policy().max_attempts(5), done());
        io.restart();
        time.run();
        EXPECT_THAT(again.order, IsEmpty());
        EXPECT_EQ(ends.back(), error::circuit_open);
        ends.clear();
    }
}

TEST_F(on_endpoint_forms, wait_when_refused_until_the_first_endpoint_may_be_asked) {
    auto const dead = std::make_shared<servers>(
        asked{"a"}, endpoint_options{
                        .breaker = {.min_attempts = 1000, .consecutive = 1, .open_for = 3s, .open_spread = 0}});
    server_script s{io, script::failures(1), {}};
    time_point const begin = time.now();
    async_retry(io, on_endpoint([&s](std::string const& at) { return s.ask(at); }, dead),
                retry_policy().max_attempts(5).backoff(constant(0ms)).wait_when_refused(), on_code(done()));
    time.run();
    EXPECT_THAT(s.order, ElementsAre("a", "a"));
    EXPECT_THAT(ends, ElementsAre(error_code()));
    EXPECT_EQ(time.now() - begin, 3s);
}

// More callers wait than there are probes: nobody waits for a probe that hangs.
TEST_F(on_endpoint_forms, wait_no_longer_than_the_probes_run) {
    for (int count : {1, 3}) {
        auto const few = std::make_shared<servers>(
            count == 1 ? asked{"a"} : asked{"a", "b", "c"},
            endpoint_options{.breaker = {.consecutive = 1, .open_for = 1s, .growth = 1, .probes = 1}});
        time_point const begin = time.now();
        auto const ask = [&](std::string const&) -> asio::awaitable<error_code> {
            auto twice = [n = 0]() mutable { return ++n == 1 ? refused() : error_code(); };
            auto const in_10ms = retry_policy().max_attempts(2).backoff(constant(10ms)).jitter(no_jitter());
            co_await async_retry(twice, in_10ms);
            co_return time.now() - begin < 500ms ? refused() : error_code();
        };
        ends.clear();
        for (int i = 0; i < 100; ++i)
            async_retry(io, on_endpoint(ask, few),
                        retry_policy().unlimited_attempts().backoff(constant(100ms)).wait_when_refused(),
                        [&](error_code ec) { ends.push_back(ec); });
        io.restart();
        time.run();
        EXPECT_EQ(ends, std::vector<error_code>(100));
        EXPECT_LT(time.now() - begin, 3s) << count;
    }
}

// As of a gate: what the server said is worth more than that the set refused.
TEST_F(on_endpoint_forms, end_with_the_last_failure_when_the_set_refuses_a_retry) {
    auto const dead = std::make_shared<servers>(
        asked{"a"}, endpoint_options{.breaker = {.consecutive = 1}, .remembered = 0s});
    for (bool waits : {false, true}) {
        auto policy = retry_policy().max_attempts(3).backoff(constant(10ms));
        if (waits)
            policy = policy.wait_when_refused().total_timeout(1s);
        server_script s{io, script::failures(9), {}};
        ends.clear();
        async_retry(io, on_endpoint([&s](std::string const& at) { return s.ask(at); }, dead), policy,
                    on_code(done()));
        io.restart();
        time.run();
        EXPECT_THAT(ends, ElementsAre(refused())) << waits;
        dead->assign({"b"});
        dead->assign({"a"});
    }
}

TEST_F(on_endpoint_forms, begin_anew_in_a_copy) {
    server_script s{io, script::failures(4), {}};
    auto const ask = on_endpoint([&s](std::string const& at) { return s.ask(at); }, set);
    for (int i = 0; i < 2; ++i) {
        s.order.clear();
        async_retry(io, ask, retry_policy().max_attempts(3).backoff(constant(0ms)), on_code(done()));
        io.restart();
        time.run();
        EXPECT_EQ(std::set<std::string>(s.order.begin(), s.order.end()).size(), s.order.size());
    }
}

TEST_F(on_endpoint_forms, repeat_their_choices_with_a_seed) {
    auto const run = [] {
        asio::io_context own;
        scheduler(own).seed(7);
        virtual_time own_time(own);
        auto const many = std::make_shared<servers>(asked{"a", "b", "c", "d", "e", "f", "g", "h"});
        server_script s{own, script::failures(7), {}};
        async_retry(own, on_endpoint([&s](std::string const& at) { return s.ask(at); }, many),
                    retry_policy().max_attempts(8).backoff(constant(0ms)), [](error_code) {});
        own_time.run();
        return s.order;
    };
    EXPECT_EQ(run(), run());
}

TEST_F(on_endpoint_forms, hedge_on_another_endpoint_and_abandon_the_loser) {
    asked order;
    std::vector<std::string> cancelled;
    auto const ask = [&](std::string const& at) -> asio::awaitable<std::string> {
        order.push_back(at);
        if (order.size() == 1) {
            asio::steady_timer forever(io, time_point::max());
            co_await forever.async_wait(asio::as_tuple(asio::use_awaitable));
            cancelled.push_back(at);
            throw boost::system::system_error(aborted());
        }
        co_return at;
    };
    std::string answer;
    asio::co_spawn(io, async_hedge(on_endpoint(ask, set), hedge_policy(20ms)),
                   [&](std::exception_ptr e, std::string from) {
                       EXPECT_FALSE(e);
                       answer = from;
                   });
    time.run();
    ASSERT_THAT(order, SizeIs(2));
    EXPECT_NE(order[0], order[1]);
    EXPECT_EQ(answer, order[1]);
    EXPECT_THAT(cancelled, ElementsAre(order[0]));
    EXPECT_EQ(in_flight(*set), 0u);
    set->for_each([](std::string const&, endpoint_status const& status) { EXPECT_EQ(status.rate, 0); });
}

TEST_F(on_endpoint_forms, free_the_endpoints_of_a_context_that_is_destroyed) {
    {
        asio::io_context own;
        auto const forever = std::make_shared<asio::steady_timer>(own, time_point::max());
        auto const wait = [forever](std::string const&, auto&& token) {
            return forever->async_wait(std::forward<decltype(token)>(token));
        };
        async_retry(own, on_endpoint(wait, set), retry_policy(), [](error_code) {});
        async_hedge(own, on_endpoint(wait, set), hedge_policy(1h), [](error_code) {});
        own.poll();
        EXPECT_EQ(in_flight(*set), 2u);
    }
    EXPECT_EQ(in_flight(*set), 0u);
}

/// Attempts that hear of no cancellation, and the endpoints that they got.
struct deaf_at_endpoints {
    using endpoint = std::shared_ptr<int>;

    std::vector<std::weak_ptr<int>> asked;
    std::vector<std::function<void(error_code)>> complete;

    template <typename Token>
    auto async_ask(endpoint const& at, Token&& token) {
        asked.push_back(at);
        return asio::async_initiate<Token, void(error_code)>(
            [this](auto handler) {
                auto shared = std::make_shared<decltype(handler)>(std::move(handler));
                complete.push_back([shared](error_code ec) { std::move (*shared)(ec); });
            },
            token);
    }
    auto by_token() {
        return [this](endpoint const& at, auto&& token) {
            return async_ask(at, std::forward<decltype(token)>(token));
        };
    }
    auto awaited() {
        return [this](endpoint const& at) -> asio::awaitable<void> {
            co_await async_ask(at,
                               asio::bind_cancellation_slot(asio::cancellation_slot(), asio::use_awaitable));
            EXPECT_EQ(*at, 1) << "it is still there";
        };
    }

    bool is_alive(std::size_t attempt) const { return !asked[attempt].expired(); }
};

class endpoints_left_behind : public testing::Test {
protected:
    using endpoint = deaf_at_endpoints::endpoint;
    using set_type = endpoint_set<endpoint>;
    static constexpr std::size_t attempts = 100; // an operation remembers 64 endpoints

    asio::io_context io;
    virtual_time time{io};
    deaf_at_endpoints deaf;
    std::shared_ptr<set_type> const set = std::make_shared<set_type>(
        made(attempts),
        endpoint_options{.breaker = {.min_attempts = 1000, .consecutive = 1000}, .remembered = 0s});
    retry_policy const policy = retry_policy()
                                    .max_attempts(attempts)
                                    .backoff(constant(1ms))
                                    .jitter(no_jitter())
                                    .attempt_timeout(1s)
                                    .deliver_at_once();

    static std::vector<endpoint> made(std::size_t count) {
        std::vector<endpoint> all;
        for (std::size_t i = 0; i != count; ++i)
            all.push_back(std::make_shared<int>(1));
        return all;
    }

    /// Ends the attempts in this order; each needs its endpoint until it ends.
    template <typename Operation>
    void end_after_the_set_was_changed(Operation operation) {
        async_retry(io, std::move(operation), policy, asio::detached);
        time.advance(90s);
        set->assign(made(1));
        time.run();
        ASSERT_EQ(deaf.asked.size(), attempts);
        int forgotten = 0;
        for (std::size_t i = 0; i != attempts; ++i) {
            EXPECT_TRUE(deaf.is_alive(i)) << i;
            deaf.complete[i](i % 2 == 0 ? error_code() : refused());
            deaf.complete[i] = nullptr;
            time.advance(0s);
            forgotten += deaf.is_alive(i) ? 0 : 1;
        }
        EXPECT_GT(forgotten, 0) << "those that were not asked again";
        for (std::size_t i = 0; i != 89; ++i) // the last ones are of the new list
            EXPECT_FALSE(deaf.is_alive(i)) << i;
    }
};

TEST_F(endpoints_left_behind, decision_64_live_until_their_attempts_have_ended) {
    end_after_the_set_was_changed(on_endpoint(deaf.by_token(), set));
}

TEST_F(endpoints_left_behind, decision_64_live_until_their_awaited_attempts_have_ended) {
    end_after_the_set_was_changed(on_endpoint(deaf.awaited(), set));
}

TEST_F(endpoints_left_behind, decision_64_live_in_other_operations_too) {
    retry_report report;
    end_after_the_set_was_changed(
        with_report(fail_if(on_endpoint(deaf.by_token(), set), [] { return false; }), report));
    EXPECT_EQ(report.attempts, attempts);
}

TEST_F(endpoints_left_behind, decision_64_of_a_hedge_live_until_their_attempts_have_ended) {
    async_hedge(io, on_endpoint(deaf.by_token(), set), hedge_policy(1s).max_attempts(3).deliver_at_once(),
                asio::detached);
    time.advance(5s);
    ASSERT_EQ(deaf.asked.size(), 3u);
    set->assign(made(1));
    deaf.complete[1]({});
    time.advance(0s);
    for (std::size_t i : {0u, 2u}) {
        EXPECT_TRUE(deaf.is_alive(i));
        deaf.complete[i]({});
        time.advance(0s);
    }
    deaf.complete.clear();
    for (std::size_t i : {0u, 1u, 2u})
        EXPECT_FALSE(deaf.is_alive(i));
}

/// Can only be moved. Its first attempt fails.
struct asker {
    std::unique_ptr<int> asked = std::make_unique<int>(0);

    error_code operator()(attempt which, std::string const&) {
        ++*asked;
        return which.number == 1 ? refused() : error_code();
    }
};

TEST_F(on_endpoint_forms, take_a_class_that_moves_on_a_pool_of_threads) {
    auto const lenient =
        std::make_shared<servers>(asked{"a", "b", "c"}, endpoint_options{.breaker = {.min_attempts = 1000}});
    asio::thread_pool pool(4);
    std::atomic<int> succeeded = 0;
    for (int i = 0; i < 200; ++i)
        async_retry(pool, on_endpoint(asker(), lenient), retry_policy().backoff(constant(0ms)),
                    [&](error_code ec) { succeeded += !ec; });
    pool.join();
    EXPECT_EQ(succeeded, 200);
    EXPECT_EQ(in_flight(*lenient), 0u);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
TEST_F(on_endpoint_forms, take_the_set_first_until_0_5) {
    server_script s{io, script::failures(2), {}};
    auto const ask = [&s](std::string const& at) { return s.ask(at); };
    EXPECT_FALSE(retry(on_endpoint(set, ask), retry_policy().max_attempts(3).backoff(constant(0ms))));
    EXPECT_THAT(s.order, UnorderedElementsAre("a", "b", "c"));
    static_assert(std::is_same_v<decltype(on_endpoint(set, ask)), decltype(on_endpoint(ask, set))>);
}
#pragma GCC diagnostic pop

TEST_F(on_endpoint_forms, refuse_what_is_empty_by_name) {
    auto const message = [](auto const& make) -> std::string {
        try {
            make();
        } catch (std::invalid_argument const& e) {
            return e.what();
        }
        return "nothing";
    };
    EXPECT_THAT(message([] { (void)on_endpoint([](std::string const&) {}, std::shared_ptr<servers>()); }),
                testing::HasSubstr("on_endpoint.endpoints = null: must be an endpoint_set"));
    EXPECT_THAT(message([&] { (void)on_endpoint(std::function<error_code(std::string const&)>(), set); }),
                testing::HasSubstr("on_endpoint.operation"));
}

} // namespace
} // namespace asio_retry::test
