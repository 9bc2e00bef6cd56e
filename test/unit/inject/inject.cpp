#include <asio_retry/inject.hpp>

#include <asio_retry/async_hedge.hpp>
#include <asio_retry/async_retry.hpp>
#include <asio_retry/before_retry.hpp>
#include <asio_retry/fail_if.hpp>
#include <asio_retry/on_endpoint.hpp>
#include <asio_retry/virtual_time.hpp>
#include <asio_retry/with_hooks.hpp>
#include <asio_retry/with_report.hpp>

#include "support/refuses.hpp"
#include "support/scripted_operation.hpp"

#include <boost/asio.hpp>
#include <boost/system/result.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

using plan_ptr = std::shared_ptr<fault_plan>;
using done_type = std::function<void(error_code)>;

plan_ptr enabled(fault_options const& options) {
    auto const plan = std::make_shared<fault_plan>(options);
    plan->enable();
    return plan;
}

error_code lost() {
    return asio::error::connection_reset;
}

/// Attempts that note the endpoint, if they get one, and play a script.
struct server {
    asio::io_context& io;
    script played;

    template <typename Token>
    auto async_ask(Token&& token) {
        return async_scripted(io, played, std::forward<Token>(token));
    }
    asio::awaitable<int> await_ask() { return async_ask(asio::use_awaitable); }
    asio::awaitable<void> await_nothing() { co_await async_ask(asio::use_awaitable); }
    asio::awaitable<std::tuple<error_code, int>> await_code() {
        return async_ask(asio::as_tuple(asio::use_awaitable));
    }
};

struct form {
    char const* name;
    std::function<void(asio::io_context&, plan_ptr, server&, retry_policy, done_type)> start;
};

auto on_exception(done_type const& done) {
    return [done](std::exception_ptr e, auto...) { done(e ? code_of(e) : error_code()); };
}
auto on_code(done_type const& done) {
    return [done](error_code ec, auto...) { done(ec); };
}

/// The form of an operation that `make` returns for a server.
template <typename Make>
form coded(char const* name, Make make) {
    return {name, [make](auto& io, auto plan, server& s, auto policy, auto done) {
                async_retry(io, inject(make(s), plan), policy, on_code(done));
            }};
}
template <typename Make>
form thrown(char const* name, Make make) {
    return {name, [make](auto& io, auto plan, server& s, auto policy, auto done) {
                async_retry(io, inject(make(s), plan), policy, on_exception(done));
            }};
}

auto token_operation(server& s) {
    return [&s](auto&& token) { return s.async_ask(std::forward<decltype(token)>(token)); };
}

std::shared_ptr<endpoint_set<std::string>> servers() {
    return std::make_shared<endpoint_set<std::string>>(std::vector<std::string>{"a"});
}

std::vector<form> const forms{
    coded("plain with a code", [](server& s) { return [&s] { return s.played.next(); }; }),
    coded("plain with a result",
          [](server& s) {
              return [&s]() -> boost::system::result<int> {
                  if (error_code const ec = s.played.next())
                      return ec;
                  return 1;
              };
          }),
    thrown("plain that throws",
           [](server& s) {
               return [&s](attempt const&) {
                   if (error_code const ec = s.played.next())
                       throw boost::system::system_error(ec);
               };
           }),
    coded("token", [](server& s) { return token_operation(s); }),
    coded("token with its attempt",
          [](server& s) {
              return [&s](attempt const& which, auto&& token) {
                  EXPECT_NE(which.monitor, nullptr);
                  return s.async_ask(std::forward<decltype(token)>(token));
              };
          }),
    coded("inline",
          [](server& s) {
              return
                  [&s](auto&& token) { return async_inline(s.played, std::forward<decltype(token)>(token)); };
          }),
    coded("deferred", [](server& s) { return [&s] { return s.async_ask(asio::deferred); }; }),
    thrown("awaitable with a handler", [](server& s) { return [&s] { return s.await_ask(); }; }),
    thrown("awaitable of nothing", [](server& s) { return [&s] { return s.await_nothing(); }; }),
    coded("awaitable of a code", [](server& s) { return [&s] { return s.await_code(); }; }),
    {"awaited",
     [](auto& io, auto plan, server& s, auto policy, auto done) {
         auto ask = [&s](attempt const& which) -> asio::awaitable<int> {
             EXPECT_NE(which.monitor, nullptr);
             co_return co_await s.await_ask();
         };
         asio::co_spawn(io, async_retry(inject(ask, plan), policy), on_exception(done));
     }},
    {"token that is awaited",
     [](auto& io, auto plan, server& s, auto policy, auto done) {
         auto body = [](plan_ptr faults, server& to_ask, retry_policy p) -> asio::awaitable<void> {
             co_await async_retry(inject(token_operation(to_ask), faults), p, asio::use_awaitable);
         };
         asio::co_spawn(io, body(plan, s, policy), on_exception(done));
     }},
    {"judged",
     [](auto& io, auto plan, server& s, auto policy, auto done) {
         async_retry(io, fail_if(inject(token_operation(s), plan), [](int) { return false; }), policy,
                     on_code(done));
     }},
    coded("around a judged one",
          [](server& s) { return fail_if(token_operation(s), [](int) { return false; }); }),
    {"with hooks",
     [](auto& io, auto plan, server& s, auto policy, auto done) {
         async_retry(io, with_hooks(inject(token_operation(s), plan), nullptr, [](stop_reason) {}), policy,
                     on_code(done));
     }},
    {"after a step",
     [](auto& io, auto plan, server& s, auto policy, auto done) {
         async_retry(io, before_retry(inject(token_operation(s), plan), [] {}), policy, on_code(done));
     }},
    coded("around a plain step",
          [](server& s) { return before_retry([&s] { return s.played.next(); }, [] {}); }),
    {"plain after an asynchronous step",
     [](auto& io, auto plan, server& s, auto policy, auto done) {
         auto step = [&io](auto&& token) {
             return asio::post(io, asio::append(std::forward<decltype(token)>(token), error_code()));
         };
         async_retry(io, before_retry(inject([&s] { return s.played.next(); }, plan), step), policy,
                     on_code(done));
     }},
    {"token with an endpoint",
     [](auto& io, auto plan, server& s, auto policy, auto done) {
         auto const ask = [&s](attempt const& which, std::string const& at, auto&& token) {
             EXPECT_NE(which.monitor, nullptr);
             EXPECT_EQ(at, "a");
             return s.async_ask(std::forward<decltype(token)>(token));
         };
         async_retry(io, on_endpoint(inject(ask, plan), servers()), policy, on_code(done));
     }},
    {"plain with an endpoint",
     [](auto& io, auto plan, server& s, auto policy, auto done) {
         auto const ask = [&s](std::string const& at) {
             EXPECT_EQ(at, "a");
             return s.played.next();
         };
         async_retry(io, on_endpoint(inject(ask, plan), servers()), policy, on_code(done));
     }},
    {"awaitable with an endpoint",
     [](auto& io, auto plan, server& s, auto policy, auto done) {
         auto const ask = [&s](std::string const& at) -> asio::awaitable<int> {
             EXPECT_EQ(at, "a");
             co_return co_await s.await_ask();
         };
         asio::co_spawn(io, async_retry(on_endpoint(inject(ask, plan), servers()), policy), on_exception(done));
     }},
    {"deferred with an endpoint",
     [](auto& io, auto plan, server& s, auto policy, auto done) {
         auto const ask = [&s](std::string const&) { return s.async_ask(asio::deferred); };
         async_retry(io, on_endpoint(inject(ask, plan), servers()), policy, on_code(done));
     }},
    coded("around an endpoint",
          [](server& s) {
              return on_endpoint(
                  [&s](std::string const&, auto&& token) {
                      return s.async_ask(std::forward<decltype(token)>(token));
                  },
                  servers());
          }),
    coded("within another plan",
          [](server& s) { return inject(token_operation(s), enabled({.delays = {1, 0ms, 0ms}})); }),
    coded("plain within another plan",
          [](server& s) { return inject([&s] { return s.played.next(); }, enabled({.lost_answers = {}})); }),
};

class inject_forms : public testing::Test {
public:
    asio::io_context io;
    virtual_time time{io};
    std::vector<error_code> ends;
    retry_policy const thrice = retry_policy().max_attempts(3).backoff(constant(0s)).jitter(no_jitter());

    done_type done() {
        return [this](error_code ec) { ends.push_back(ec); };
    }

    /// Runs an operation of each form to its end. Then `expect(plan, attempts, duration)`.
    template <typename Expect>
    void run_each(fault_options const& options, retry_policy const& policy, std::size_t failures,
                  Expect expect) {
        for (form const& one : forms) {
            SCOPED_TRACE(one.name);
            ends.clear();
            auto const plan = enabled(options);
            server s{io, script::failures(failures)};
            time_point const begin = time.now();
            one.start(io, plan, s, policy, done());
            EXPECT_THAT(ends.size(), testing::Le(1u));
            io.restart();
            time.run();
            ASSERT_EQ(ends.size(), 1u);
            expect(*plan, s.played.attempts, time.now() - begin);
            EXPECT_EQ(scheduler(io).pending(), 0u);
        }
    }
};

TEST_F(inject_forms, fail_without_being_made) {
    run_each({.errors = {1, lost()}}, thrice, 0,
             [&](fault_plan const& plan, std::size_t attempts, duration took) {
                 EXPECT_EQ(attempts, 0u);
                 EXPECT_THAT(ends, ElementsAre(lost()));
                 EXPECT_EQ(plan.counts(), (fault_counts{.attempts = 3, .errors = 3}));
                 EXPECT_EQ(took, 0s);
             });
}

TEST_F(inject_forms, decision_71_lose_the_answer_of_an_attempt_that_was_made) {
    run_each({.lost_answers = {1, lost()}}, thrice, 1,
             [&](fault_plan const& plan, std::size_t attempts, duration) {
                 EXPECT_EQ(attempts, 3u);
                 EXPECT_THAT(ends, ElementsAre(lost()));
                 EXPECT_EQ(plan.counts(), (fault_counts{.attempts = 3, .lost_answers = 2}))
                     << "a failure is no answer to lose";
             });
    run_each({.lost_answers = {1, lost()}}, thrice, 3,
             [&](fault_plan const& plan, std::size_t attempts, duration) {
                 EXPECT_EQ(attempts, 3u);
                 EXPECT_THAT(ends, ElementsAre(refused()));
                 EXPECT_EQ(plan.counts().lost_answers, 0u);
             });
}

TEST_F(inject_forms, are_made_after_their_delay) {
    run_each({.delays = {1, 10s, 10s}}, thrice, 2,
             [&](fault_plan const& plan, std::size_t attempts, duration took) {
                 EXPECT_EQ(attempts, 3u);
                 EXPECT_THAT(ends, ElementsAre(error_code()));
                 EXPECT_EQ(plan.counts(), (fault_counts{.attempts = 3, .delays = 3}));
                 EXPECT_EQ(took, 30s);
             });
}

TEST_F(inject_forms, decision_71_hang_until_a_limit_ends_the_attempt) {
    run_each({.hangs = 1}, thrice.attempt_timeout(2s), 0,
             [&](fault_plan const& plan, std::size_t attempts, duration took) {
                 EXPECT_EQ(attempts, 0u);
                 EXPECT_THAT(ends, ElementsAre(timed_out()));
                 EXPECT_EQ(plan.counts(), (fault_counts{.attempts = 3, .hangs = 3}));
                 EXPECT_EQ(took, 6s);
             });
    run_each({.delays = {1, 1h, 1h}}, thrice.total_timeout(2s), 0,
             [&](fault_plan const&, std::size_t attempts, duration took) {
                 EXPECT_EQ(attempts, 0u);
                 EXPECT_THAT(ends, ElementsAre(timed_out()));
                 EXPECT_EQ(took, 2s);
             });
    run_each({.hangs = 1}, thrice.attempt_timeout(2s).deliver_at_once(), 0,
             [&](fault_plan const&, std::size_t, duration took) {
                 EXPECT_THAT(ends, ElementsAre(timed_out()));
                 EXPECT_EQ(took, 6s);
             });
}

TEST_F(inject_forms, are_those_of_the_operation_without_a_fault) {
    run_each({.hangs = 0}, thrice, 2, [&](fault_plan const& plan, std::size_t attempts, duration took) {
        EXPECT_EQ(attempts, 3u);
        EXPECT_THAT(ends, ElementsAre(error_code()));
        EXPECT_EQ(plan.counts(), fault_counts{.attempts = 3});
        EXPECT_EQ(took, 0s);
    });
    for (form const& one : forms) {
        SCOPED_TRACE(one.name);
        ends.clear();
        auto const plan = std::make_shared<fault_plan>(fault_options{.hangs = 1});
        server s{io, script::failures(2)};
        one.start(io, plan, s, thrice, done());
        io.restart();
        time.run();
        EXPECT_THAT(ends, ElementsAre(error_code()));
        EXPECT_EQ(s.played.attempts, 3u);
        EXPECT_EQ(plan->counts(), fault_counts()) << "a plan that is disabled sees nothing";
    }
}

TEST_F(inject_forms, decision_71_are_made_when_the_plan_is_disabled) {
    for (form const& one : forms) {
        SCOPED_TRACE(one.name);
        for (fault_options const& options : {fault_options{.hangs = 1}, {.delays = {1, 10h, 10h}}}) {
            ends.clear();
            auto const plan = enabled(options);
            server s{io, script::failures(2)};
            time_point const begin = time.now();
            one.start(io, plan, s, thrice, done());
            io.restart();
            time.advance(1h);
            EXPECT_EQ(s.played.attempts, 0u);
            plan->disable();
            time.run();
            EXPECT_THAT(ends, ElementsAre(error_code()));
            EXPECT_EQ(s.played.attempts, 3u);
            EXPECT_EQ(time.now() - begin, 1h);
        }
    }
}

TEST_F(inject_forms, leave_nothing_behind_when_their_context_is_destroyed) {
    for (form const& one : forms) {
        SCOPED_TRACE(one.name);
        auto const held = std::make_shared<int>();
        auto const plan = enabled({.hangs = 1});
        server s{io, {}};
        {
            asio::io_context own;
            one.start(own, plan, s, thrice, [held](error_code) { ADD_FAILURE(); });
            own.poll();
            EXPECT_GT(held.use_count(), 1);
        }
        EXPECT_EQ(held.use_count(), 1);
        plan->disable();
        EXPECT_EQ(plan.use_count(), 1);
    }
}

TEST_F(inject_forms, end_when_their_scope_is_cancelled) {
    retry_scope scope(io.get_executor());
    auto const plan = enabled({.hangs = 1});
    server s{io, {}};
    async_retry(scope, inject(token_operation(s), plan), thrice, on_code(done()));
    async_retry(scope, inject([&s] { return s.played.next(); }, plan), thrice, on_code(done()));
    async_retry(scope, inject([&s] { return s.await_code(); }, plan), thrice, on_code(done()));
    time.advance(1s);
    EXPECT_THAT(ends, IsEmpty());
    scope.cancel();
    time.run();
    EXPECT_THAT(ends, ElementsAre(aborted(), aborted(), aborted()));
    EXPECT_EQ(s.played.attempts, 0u);
}

// --- their place

TEST(inject, refuses_what_is_empty_by_name) {
    auto const plan = std::make_shared<fault_plan>();
    EXPECT_THAT([&] { (void)inject(std::function<error_code()>(), plan); }, refuses("inject.operation"));
    EXPECT_THAT([&] { (void)inject([] { return error_code(); }, plan_ptr()); },
                refuses("inject.faults = null: must be a fault_plan"));
}

TEST(inject, takes_an_operation_that_can_only_be_moved) {
    asio::io_context io;
    virtual_time time(io);
    error_code end;
    async_retry(io,
                inject(
                    [only = std::make_unique<int>(1)](auto&& token) {
                        return asio::post(
                            asio::append(std::forward<decltype(token)>(token), error_code(), *only));
                    },
                    enabled({.delays = {1, 1s, 1s}})),
                retry_policy(), [&](error_code ec, int value) {
                    end = ec;
                    EXPECT_EQ(value, 1);
                });
    time.run();
    EXPECT_EQ(end, error_code());
}

TEST(inject, is_told_to_a_report_and_to_the_rules_of_the_policy) {
    asio::io_context io;
    virtual_time time(io);
    retry_report report;
    int calls = 0;
    async_retry(io,
                with_report(inject([&] { return ++calls, error_code(); },
                                   enabled({.errors = {1, asio::error::access_denied}})),
                            report),
                retry_policy().retry_if([](error_code ec) { return ec != asio::error::access_denied; }),
                [](error_code ec) { EXPECT_EQ(ec, asio::error::access_denied); });
    time.run();
    EXPECT_EQ(report.attempts, 1u);
    EXPECT_EQ(calls, 0);
}

// The same each time, in the order of the attempts.
TEST(inject, decision_71_repeats_a_day_in_virtual_time) {
    auto const day = [] {
        asio::io_context io;
        virtual_time time(io);
        time_point const begin = time.now();
        auto const plan = enabled({.errors = {0.2, lost()},
                                   .lost_answers = {0.1, lost()},
                                   .delays = {0.3, 10ms, 3s},
                                   .hangs = 0.1,
                                   .seed = 7});
        std::vector<std::pair<error_code, duration>> ends;
        auto const policy = retry_policy().max_attempts(4).attempt_timeout(2s);
        for (int i = 0; i != 100; ++i)
            async_retry(io, inject([] { return error_code(); }, plan), policy,
                        [&](error_code ec) { ends.emplace_back(ec, time.now() - begin); });
        time.run();
        auto const counts = plan->counts();
        EXPECT_GT(std::min({counts.errors, counts.lost_answers, counts.delays, counts.hangs}), 0u);
        return ends;
    };
    EXPECT_EQ(day(), day());
}

} // namespace
} // namespace asio_retry::test
