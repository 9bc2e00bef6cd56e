#pragma once

#include <asio_retry/async_hedge.hpp>
#include <asio_retry/async_retry.hpp>
#include <asio_retry/backoff_ticker.hpp>
#include <asio_retry/on_endpoint.hpp>
#include <asio_retry/retry_scope.hpp>
#include <asio_retry/traffic/circuit_breaker.hpp>
#include <asio_retry/traffic/cooldown.hpp>
#include <asio_retry/traffic/rate_limit.hpp>

#include "support/scripted_operation.hpp"

#include <boost/asio/async_result.hpp>
#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

// Everything that promises a time, for programs that stand still between 1.5 s and a later time.

namespace asio_retry::test::late_promises {

using namespace std::chrono_literals;

struct beginning {
    duration at; // since the start
    int who;
    friend auto operator<=>(beginning const&, beginning const&) = default;
};
using beginnings = std::vector<beginning>;

/// Where the operations of one promise run.
struct place {
    asio::io_context& io;
    std::function<time_point()> now;
    time_point const start = now();
    std::shared_ptr<retry_scope> scope = std::make_shared<retry_scope>(io);
    std::vector<std::shared_ptr<void>> kept{};
    beginnings begun{};

    void begins(int who) { begun.push_back({now() - start, who}); }

    void later(duration wait, std::function<void()> call) {
        async_retry(
            io, [failed = false]() mutable { return std::exchange(failed, true) ? error_code() : refused(); },
            retry_policy().backoff(constant(wait)), [call = std::move(call)](error_code) { call(); });
    }

    /// Operations that have one attempt, and wait for it.
    void crowd(int count, std::shared_ptr<retry_gate> gate) {
        auto const policy = retry_policy().max_attempts(1).backoff(constant(0s)).gate(gate).wait_when_refused();
        for (int i = 0; i != count; ++i)
            async_retry(*scope, [this, i] { return begins(i), error_code(); }, policy, [](error_code) {});
    }

    /// Operations whose second attempt waits.
    void second_attempts(int count, retry_policy const& policy, pushback said) {
        for (int i = 0; i != count; ++i)
            async_retry(
                *scope,
                [this, i, said](attempt const& which) {
                    if (which.number != 1)
                        return begins(i), error_code();
                    which.heed(said);
                    return refused();
                },
                policy, [](error_code) {});
    }
};

/// A program stands still between the two times.
struct stop {
    duration from, until;
    bool has_delayed(beginning const& one) const { return from < one.at && one.at < until; }
};

// --- when late operations begin, by when they would have begun without the stop

/// At once. The others keep their times.
inline beginnings at_once(beginnings control, stop const& still) {
    for (beginning& one : control)
        if (still.has_delayed(one))
            one.at = still.until;
    return control;
}

/// One after the other.
inline beginnings each_10ms(beginnings control, stop const& still) {
    duration next = still.until;
    for (beginning& one : control)
        if (one.at > still.from)
            one.at = std::exchange(next, next + 10ms);
    return control;
}

/// Each once. The next time is a second later.
inline beginnings each_second(beginnings control, stop const& still) {
    std::map<int, duration> next;
    for (beginning& one : control)
        if (one.at > still.from) {
            duration& its = next.try_emplace(one.who, std::max(still.until, one.at)).first->second;
            one.at = std::exchange(its, its + 1s);
        }
    return control;
}

/// Two find out whether the server is back, and that takes 100 ms.
inline beginnings two_and_then_all(beginnings control, stop const& still) {
    for (beginning& one : control)
        one.at = one.at < 1800ms ? still.until : still.until + 100ms;
    return control;
}

// --- what holds whenever the program stands still, and however late each line of it runs

inline void begins_from_1s_on(beginnings const& begun) {
    for (beginning const& one : begun)
        EXPECT_GE(one.at, 1s);
}

inline void begins(beginnings const&) {}

/// A begin is seen after it was admitted, and before the next one is. An attempt that is late by less than 10
/// ms counts as on time. So two more than the burst of 1 may be seen together.
inline void keeps_the_rate(beginnings const& begun) {
    duration arrival = begun.front().at; // the theoretical one
    for (beginning const& one : begun) {
        EXPECT_GE(one.at, arrival - 2 * 10ms);
        arrival = std::max(one.at, arrival) + 10ms;
    }
}

/// All wait for the same times. So nobody begins again before each other one has begun.
inline void takes_turns(beginnings const& begun) {
    std::map<int, int> counts;
    for (beginning const& one : begun) {
        int const before = counts[one.who]++;
        for (auto const& [other, count] : counts)
            EXPECT_GE(count, before) << other;
    }
}

inline void waits_for_two(beginnings const& begun) {
    EXPECT_GE(begun.at(2).at, begun.at(1).at + 100ms);
}

/// An operation whose attempts end when somebody calls the handler that `start` gets.
template <typename Start>
auto lasting(Start start) {
    return [start](auto&& token) {
        return asio::async_initiate<decltype(token), void(error_code)>(
            [start](auto handler) { start(std::make_shared<decltype(handler)>(std::move(handler))); }, token);
    };
}

struct promise {
    char const* name;
    void (*arrange)(place&);
    beginnings (*late)(beginnings control, stop const& still);
    void (*holds)(beginnings const& begun);
};

inline std::shared_ptr<cooldown> paused_for_a_second(place& here) {
    auto const pause = std::make_shared<cooldown>(cooldown_options{.spread = 1});
    attempt_end failed;
    failed.outcome = attempt_end::how::failed;
    failed.said = pushback::after(1s);
    failed.now = here.now();
    pause->on_end(failed);
    return pause;
}

inline void wait_for_probes(place& here) {
    auto const breaker = std::make_shared<circuit_breaker>(
        circuit_breaker_options{.consecutive = 1, .open_for = 1700ms, .open_spread = 0, .probes = 2});
    attempt_end failed;
    failed.outcome = attempt_end::how::failed;
    failed.kind = failure_kind::transient;
    failed.now = here.now();
    breaker->on_end(failed);
    auto const policy =
        retry_policy().max_attempts(1).backoff(constant(50ms)).gate(breaker).wait_when_refused();
    for (int i = 0; i != 50; ++i)
        async_retry(*here.scope, lasting([&here, i](auto handler) {
            here.begins(i);
            here.later(100ms, [handler] { std::move (*handler)(error_code()); });
        }),
                    policy, [](error_code) {});
}

inline void wait_for_hedges(place& here) {
    for (int i = 0; i != 20; ++i)
        async_hedge(*here.scope, lasting([&here, i](auto handler) {
            here.begins(i);
            here.kept.push_back(handler);
        }),
                    hedge_policy(1s).max_attempts(4), [](error_code) {});
}

inline void wait_for_ticks(place& here) {
    struct ticks {
        ticks(place& its_place, int its_number)
            : here(its_place)
            , number(its_number)
            , ticker(here.io, retry_policy().backoff(constant(1s)).max_attempts(4)) {}

        void go_on() {
            ticker.async_wait([this](error_code ec) {
                if (ec)
                    return;
                here.begins(number);
                go_on();
            });
        }

        place& here;
        int const number;
        backoff_ticker ticker;
    };
    for (int i = 0; i != 20; ++i) {
        auto const one = std::make_shared<ticks>(here, i);
        here.kept.push_back(one);
        one->go_on();
    }
}

inline void wait_for_an_endpoint(place& here) {
    auto const servers = std::make_shared<endpoint_set<int>>(std::vector{1});
    auto const policy = retry_policy().backoff(constant(0s));
    async_retry(*here.scope,
                on_endpoint(
                    [](attempt const& which, int) {
                        if (which.number == 1)
                            which.heed(pushback::after(2s));
                        return which.number == 1 ? refused() : error_code();
                    },
                    servers),
                policy, [](error_code) {});
    here.later(10ms, [&here, servers, policy] {
        for (int i = 0; i != 20; ++i)
            async_retry(*here.scope,
                        on_endpoint([&here, i](int) { return here.begins(i), error_code(); }, servers), policy,
                        [](error_code) {});
    });
}

inline std::vector<promise> const& all() {
    static std::vector<promise> const list{
        {"rate_limit", [](place& here) { here.crowd(250, std::make_shared<rate_limit>(100, 1s)); }, each_10ms,
         keeps_the_rate},
        {"rate_limit among other gates",
         [](place& here) {
             here.crowd(
                 250, all_gates({std::make_shared<circuit_breaker>(), std::make_shared<rate_limit>(100, 1s)}));
         },
         each_10ms, keeps_the_rate},
        {"cooldown", [](place& here) { here.crowd(100, paused_for_a_second(here)); }, at_once,
         begins_from_1s_on},
        {"Retry-After",
         [](place& here) {
             here.second_attempts(100, retry_policy().backoff(constant(0s)).pushback_spread(1),
                                  pushback::after(1s));
         },
         at_once, begins_from_1s_on},
        {"retry_now",
         [](place& here) {
             here.second_attempts(100, retry_policy().backoff(constant(1h)), pushback());
             here.later(10ms, [&here] { here.scope->retry_now(2s); });
         },
         at_once, begins},
        {"probes of a breaker", wait_for_probes, two_and_then_all, waits_for_two},
        {"hedges", wait_for_hedges, each_second, takes_turns},
        {"tickers", wait_for_ticks, each_second, takes_turns},
        {"an endpoint that rests", wait_for_an_endpoint, at_once, begins_from_1s_on},
    };
    return list;
}

} // namespace asio_retry::test::late_promises
