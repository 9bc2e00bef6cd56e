#include <asio_retry/traffic/overload_advisor.hpp>

#include <asio_retry/retry_machine.hpp>
#include <asio_retry/traffic/attempt_counter.hpp>

#include "support/attempt_ends.hpp"
#include "support/gate_values.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <utility>
#include <vector>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;

constexpr auto elsewhere = overload_advice::retry_elsewhere;
constexpr auto do_not = overload_advice::do_not_retry;

void requests_of(overload_advisor& advisor, int first, int retries, time_point now = noon) {
    for (int i = 0; i < first; ++i)
        advisor.on_request(1, now);
    for (int i = 0; i < retries; ++i)
        advisor.on_request(2, now);
}

attempt_histogram attempts(std::uint64_t first, std::uint64_t retries) {
    attempt_histogram h;
    h.add(1, first);
    h.add(2, retries);
    return h;
}

TEST(overload_advisor, advises_nothing_where_nothing_came) {
    overload_advisor const advisor;
    EXPECT_EQ(advisor.retry_share(noon), 0);
    EXPECT_EQ(advisor.advise(noon), elsewhere);
}

TEST(overload_advisor, advises_against_retries_from_a_twentieth_of_a_hundred_on) {
    overload_advisor fewer, shorter, enough;
    requests_of(fewer, 0, 99);
    EXPECT_EQ(fewer.advise(noon), elsewhere) << "99 say nothing";
    requests_of(shorter, 96, 4);
    EXPECT_EQ(shorter.retry_share(noon), 0.04);
    EXPECT_EQ(shorter.advise(noon), elsewhere);
    requests_of(enough, 95, 5);
    EXPECT_EQ(enough.retry_share(noon), 0.05);
    EXPECT_EQ(enough.advise(noon), do_not);
}

TEST(overload_advisor, every_attempt_after_the_first_is_a_retry) {
    overload_advisor advisor;
    for (std::uint64_t number = 0; number <= 9; ++number)
        advisor.on_request(number, noon);
    EXPECT_EQ(advisor.retry_share(noon), 0.8) << "0 and 1 are none";
}

TEST(overload_advisor, weighs_what_a_client_says_about_its_attempts) {
    overload_advisor advisor({.retry_share = 0.1, .min_requests = 1});
    advisor.on_request(attempts(1, 1), noon);
    EXPECT_EQ(advisor.retry_share(noon), 0.5);
    advisor.on_request(attempt_histogram(), noon);
    EXPECT_EQ(advisor.retry_share(noon), 0.25) << "who says nothing has no retries";
    for (int i = 0; i < 3; ++i)
        advisor.on_request(1, noon);
    EXPECT_EQ(advisor.retry_share(noon), 0.1);
    EXPECT_EQ(advisor.advise(noon), do_not);
}

// What is added up is not rounded: a hundred clients that each say 0.05 reach 0.05.
TEST(overload_advisor, reaches_the_share_that_all_clients_have) {
    struct sender {
        std::uint64_t first, retries;
    };
    for (auto const [first, retries] :
         {sender{99, 1}, sender{95, 5}, sender{71, 29}, sender{119, 41}, sender{0, 1}}) {
        double const share = static_cast<double>(retries) / static_cast<double>(first + retries);
        overload_advisor advisor({.retry_share = share});
        for (int i = 0; i < 100; ++i)
            advisor.on_request(attempts(first, retries), noon);
        EXPECT_EQ(advisor.advise(noon), do_not) << share;
        EXPECT_EQ(advisor.retry_share(noon), share);
    }
}

TEST(overload_advisor, reaches_a_share_that_is_no_decimal) {
    for (std::uint64_t parts = 2; parts != 50; ++parts)
        for (std::uint64_t retries = 1; retries != parts; ++retries) {
            overload_advisor advisor(
                {.retry_share = static_cast<double>(retries) / static_cast<double>(parts), .min_requests = 1});
            for (std::uint64_t i = 0; i != parts; ++i)
                advisor.on_request(i < retries ? 2 : 1, noon);
            EXPECT_EQ(advisor.advise(noon), do_not) << retries << " of " << parts;
        }
}

TEST(overload_advisor, says_nothing_without_a_retry_however_small_the_share_is) {
    overload_advisor advisor({.retry_share = 1e-10, .min_requests = 1});
    advisor.on_request(1, noon);
    EXPECT_NE(advisor.advise(noon), do_not);
    advisor.on_request(2, noon);
    EXPECT_EQ(advisor.advise(noon), do_not);
}

TEST(overload_advisor, reaches_the_share_however_many_requests_there_are) {
    overload_advisor advisor({.min_requests = 1});
    for (int i = 1; i <= 3000; ++i) {
        advisor.on_request(attempts(95, 5), noon);
        EXPECT_EQ(advisor.advise(noon), do_not) << i;
    }
}

TEST(overload_advisor, forgets_in_ten_slots) {
    overload_advisor advisor;
    requests_of(advisor, 0, 50);
    requests_of(advisor, 50, 0, noon + 1s);
    EXPECT_EQ(advisor.advise(noon + 10s - 1ns), do_not);
    EXPECT_EQ(advisor.retry_share(noon + 10s), 0);
    EXPECT_EQ(advisor.advise(noon + 10s), elsewhere);
}

TEST(overload_advisor, time_that_runs_backwards_stands_still) {
    overload_advisor advisor({.min_requests = 2});
    advisor.on_request(1, noon);
    advisor.on_request(2, noon - 1h);
    EXPECT_EQ(advisor.retry_share(noon - 2h), 0.5);
    EXPECT_EQ(advisor.advise(noon), do_not);
}

TEST(overload_advisor, decision_04_refuses_nonsense) {
    auto const made = [](overload_advisor_options const& options) {
        return [options] { overload_advisor{options}; };
    };
    std::string const share = "overload_advisor.retry_share";
    EXPECT_THAT(made({.retry_share = 0}), refuses_option(share, "0", "must be in (0, 1]"));
    EXPECT_THAT(made({.retry_share = -0.1}), refuses_option(share, "-0.1", "must be in (0, 1]"));
    EXPECT_THAT(made({.retry_share = 1.5}), refuses_option(share, "1.5", "must be in (0, 1]"));
    EXPECT_THAT(made({.retry_share = nan}), refuses_option(share, "nan", "must be in (0, 1]"));
    EXPECT_THAT(made({.retry_share = infinity}), refuses_option(share, "inf", "must be in (0, 1]"));
    EXPECT_THAT(made({.min_requests = 0}),
                refuses_option("overload_advisor.min_requests", "0", "must be positive"));
    EXPECT_THAT(made({.window = 0s}), refuses_option("overload_advisor.window", "0s", "must be positive"));
    EXPECT_THAT(made({.window = -1ns}), refuses_option("overload_advisor.window", "-1ns", "must be positive"));
    EXPECT_NO_THROW(made({.retry_share = 1, .min_requests = 1, .window = 1ns})());
}

// One that keeps everything and counts anew each time.
TEST(overload_advisor, is_what_a_plain_one_is_over_2000_random_scripts) {
    int advised = 0, not_advised = 0;
    for (std::uint64_t seed = 1; seed <= 2000 && !HasFailure(); ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937_64 dice(seed);
        overload_advisor_options options;
        std::uint64_t const least = 1 + dice() % 100;
        options.retry_share = static_cast<double>(least) / 100;
        options.min_requests = 1 + dice() % 20;
        options.window = duration(static_cast<duration::rep>(1 + dice() % 1'000'000));
        duration const slot = std::max(options.window / 10, duration(1));
        overload_advisor advisor(options);
        std::vector<std::pair<time_point, unsigned>> all; // hundredths of a retry
        time_point now(duration(static_cast<duration::rep>(dice() % 1000)) - 500ns);
        for (int step = 0; step < 100; ++step) {
            now += duration(static_cast<duration::rep>(dice() % (dice() % 8 == 0 ? 2'000'000 : 100'000)));
            if (auto const what = dice() % 4; what < 2) {
                advisor.on_request(1 + what, now);
                all.emplace_back(now, what * 100);
            } else if (what == 2) {
                auto const hundredths = static_cast<unsigned>(dice() % 101);
                advisor.on_request(attempts(100 - hundredths, hundredths), now);
                all.emplace_back(now, hundredths);
            }
            auto const slot_of = [&](time_point t) {
                return (t - time_point(-1000 * slot)) / slot; // no time here is before that
            };
            std::uint64_t requests = 0, hundredths = 0;
            for (auto const& [when, of_a_retry] : all)
                if (slot_of(when) > slot_of(now) - 10) {
                    ++requests;
                    hundredths += of_a_retry;
                }
            double const share =
                requests == 0 ? 0 : static_cast<double>(hundredths) / 100 / static_cast<double>(requests);
            ASSERT_DOUBLE_EQ(advisor.retry_share(now), share) << "after step " << step;
            bool const against = requests >= options.min_requests && hundredths >= least * requests;
            ASSERT_EQ(advisor.advise(now), against ? do_not : elsewhere) << "after step " << step;
            ++(against ? advised : not_advised);
        }
    }
    EXPECT_GT(advised, 10'000);
    EXPECT_GT(not_advised, 10'000);
}

/// Services that call one another, one request after the other, each with retries of its own; the last rejects
/// everything, and says not to retry if it asks an advisor.
class rejecting_chain {
public:
    rejecting_chain(int retrying_layers, bool asks, bool tells_histograms = false)
        : layers_(retrying_layers)
        , asks_(asks)
        , counter_(tells_histograms ? std::make_shared<attempt_counter>() : nullptr) {}

    double hits_per_request(int requests) {
        for (int i = 0; i < requests; ++i, now_ += 10ms)
            (void)answer_of(0, 1);
        return static_cast<double>(hits_) / requests;
    }

private:
    judgement answer_of(int layer, std::uint64_t attempt_number) {
        return layer == layers_ ? rejection(attempt_number) : passed_on(layer);
    }

    judgement rejection(std::uint64_t attempt_number) {
        ++hits_;
        if (counter_)
            advisor_.on_request(*parse_attempt_histogram(to_string(counter_->recent(now_))), now_);
        else
            advisor_.on_request(attempt_number, now_);
        judgement said = judge_http(503);
        if (asks_ && advisor_.advise(now_) == do_not)
            said.said = pushback::never();
        return said;
    }

    judgement passed_on(int layer) {
        retry_policy const four = retry_policy().max_attempts(4).backoff(constant(1ms));
        retry_machine machine(layer + 1 == layers_ ? four.gate(counter_) : four);
        judgement said;
        for (retry_action action = machine.start(now_); action.what != retry_action::kind::complete;) {
            if (action.what == retry_action::kind::wait) {
                now_ += action.delay;
                action = machine.on_wait_over(now_);
                continue;
            }
            said = answer_of(layer + 1, machine.current_attempt().number);
            action = machine.on_failure(verdict::rejected(said), now_, dice_);
        }
        return said;
    }

    int const layers_;
    bool const asks_;
    std::shared_ptr<attempt_counter> const counter_; // of the last layer that retries
    overload_advisor advisor_;
    time_point now_ = noon;
    random dice_{1};
    int hits_ = 0;
};

TEST(overload_advisor, scheme_G2_G3_its_advice_goes_up_through_layers_that_retry) {
    EXPECT_LE(rejecting_chain(2, true).hits_per_request(5000), 1.15);
    EXPECT_LE(rejecting_chain(3, true).hits_per_request(5000), 1.4);
}

TEST(overload_advisor, scheme_G2_G3_histograms_of_the_senders_serve_as_well) {
    EXPECT_LE(rejecting_chain(2, true, true).hits_per_request(5000), 1.15);
    EXPECT_LE(rejecting_chain(3, true, true).hits_per_request(5000), 1.4);
}

TEST(overload_advisor, without_its_advice_layers_multiply) {
    EXPECT_EQ(rejecting_chain(2, false).hits_per_request(20), 16);
    EXPECT_EQ(rejecting_chain(3, false).hits_per_request(20), 64);
}

} // namespace
} // namespace asio_retry::test
