#include <asio_retry/traffic/endpoint_set.hpp>

#include "support/attempt_ends.hpp"
#include "support/endpoint_operation.hpp"
#include "support/gate_values.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <queue>
#include <vector>

// How much of the load an endpoint gets whose answers are failures.

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;

/// Clients that each send a request when the one before has ended. A success takes 50 ms, a failure 1 ms.
class refusals {
public:
    explicit refusals(std::vector<double> shares_of_successes,
                      failure_kind failures_kind = failure_kind::throttled)
        : shares(std::move(shares_of_successes))
        , kind(failures_kind)
        , set(first_endpoints(static_cast<int>(shares.size())), never_ejecting()) {}

    /// Returns the share of the requests that the first endpoint gets.
    double run(int requests, int clients) {
        std::priority_queue<request> ends;
        int first = 0;
        for (int i = 0; i < requests; ++i) {
            if (i >= clients) {
                now = ends.top().end;
                auto const ended = ends.top();
                ends.pop();
                ended.fails ? ended.one->end(failure(kind, now, 1ms), 0) : ended.one->succeed(now, 50ms);
            }
            auto one = std::make_shared<endpoint_operation>(set, dice);
            int const at = one->begin(now).value();
            first += at == 0;
            bool const fails =
                static_cast<double>(dice() >> 11) * 0x1p-53 >= shares[static_cast<std::size_t>(at)];
            duration const took = !fails ? duration(50ms) : at == 0 ? duration(1ms) : slow_failure;
            ends.push({now + took, fails, std::move(one)});
        }
        for (; !ends.empty(); ends.pop())
            ends.top().one->abandon(now);
        return static_cast<double>(first) / requests;
    }

    std::vector<double> shares;
    duration slow_failure = 1ms; // of all but the first

private:
    struct request {
        time_point end;
        bool fails;
        std::shared_ptr<endpoint_operation> one;

        bool operator<(request const& other) const { return end > other.end; }
    };

    static endpoint_options never_ejecting() {
        return {.breaker = {.min_attempts = 1'000'000, .consecutive = 0}};
    }

    failure_kind kind;
    endpoint_set<int> set;
    random dice{1};
    time_point now = noon;
};

TEST(endpoint_weights, decision_80_a_fast_refusal_attracts_no_load) {
    for (failure_kind const kind :
         {failure_kind::transient, failure_kind::throttled, failure_kind::permanent, failure_kind::timeout})
        for (std::size_t const count : {2u, 3u, 8u}) {
            std::vector<double> shares(count, 1.0);
            shares[0] = 0;
            double const least = 1.0 / 16 / static_cast<double>(count);
            EXPECT_NEAR(refusals(shares, kind).run(20'000, 30), least, least / 2) << count;
        }
}

// Most fail, and only the first one fails fast.
TEST(endpoint_weights, decision_80_a_fast_refusal_attracts_no_load_from_others_that_fail) {
    for (std::size_t const count : {3u, 4u, 10u}) {
        std::vector<double> shares(count, 0.0);
        shares.back() = 1;
        refusals all(shares);
        all.slow_failure = 50ms;
        EXPECT_LT(all.run(20'000, 30), 1.0 / static_cast<double>(count)) << count;
    }
}

TEST(endpoint_weights, decision_80_the_load_falls_with_the_share_of_successes) {
    for (int const clients : {1, 30}) {
        double before = 0;
        for (double const good : {0.0, 0.25, 0.5, 0.75, 0.9, 0.95}) {
            double const share = refusals({good, 1, 1}).run(30'000, clients);
            EXPECT_LT(share, good < 0.8 ? good / 3 + 0.03 : 0.338) << good << " of " << clients;
            EXPECT_GT(share, before) << good << " of " << clients;
            before = share * 0.9;
        }
    }
}

TEST(endpoint_weights, decision_80_nothing_changes_if_all_answer_alike) {
    for (double const good : {0.0, 0.5, 0.9, 1.0})
        EXPECT_NEAR(refusals({good, good, good}).run(30'000, 30), 1.0 / 3, 0.02) << good;
}

TEST(endpoint_weights, decision_80_one_that_succeeds_again_gets_its_share_back) {
    refusals all({0, 1, 1});
    EXPECT_LT(all.run(5000, 30), 0.05);
    all.shares[0] = 1;
    all.run(10'000, 30);
    EXPECT_NEAR(all.run(10'000, 30), 1.0 / 3, 0.01);
}

TEST(endpoint_weights, decision_80_abandoned_attempts_are_no_answers) {
    endpoint_set<int> set({1, 2});
    random dice(1);
    int first = 0;
    for (int i = 0; i < 10'000; ++i) {
        endpoint_operation one(set, dice);
        if (one.begin(noon) == 1) {
            ++first;
            one.abandon(noon);
        } else {
            one.succeed(noon);
        }
    }
    EXPECT_NEAR(first, 5000, 200);
}

/// How often the second of two endpoints is chosen, which never succeeds.
int failing_one_is_chosen(bool abandons_half) {
    endpoint_set<int> set({1, 2}, {.breaker = {.min_attempts = 1'000'000, .consecutive = 0}});
    random dice(1);
    int chosen = 0;
    for (int i = 0; i < 10'000; ++i) {
        endpoint_operation one(set, dice);
        if (one.begin(noon) == 1)
            one.succeed(noon);
        else if (++chosen % 2 == 0 && abandons_half)
            one.abandon(noon);
        else
            one.end(failure(failure_kind::throttled, noon, 1ms), 0);
    }
    return chosen;
}

TEST(endpoint_weights, decision_80_abandoned_attempts_hide_no_failures) {
    int const without = failing_one_is_chosen(false);
    EXPECT_LT(without, 2500);
    EXPECT_NEAR(failing_one_is_chosen(true), without, 300);
}

} // namespace
} // namespace asio_retry::test
