#include <asio_retry/traffic/fleet_budget.hpp>

#include "support/attempt_ends.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <optional>
#include <random>
#include <string>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;

/// A fleet's budget as its documentation has it, in floating point, on one thread.
class plain_fleet_budget {
public:
    explicit plain_fleet_budget(fleet_budget_options const& o)
        : options(o)
        , interval(o.interval) {}

    std::optional<fleet_request> poll(time_point now) {
        look(now);
        long const used = std::max(reserved, early > 0 ? 1L : 0L);
        if (asked || used <= held || (answer && now - *answer < interval))
            return std::nullopt;
        asked = fleet_request{earned, static_cast<std::uint32_t>(used - held) + options.batch - 1};
        earned = 0;
        return asked;
    }

    void granted(std::uint32_t tokens, time_point now) {
        look(now);
        held += tokens;
        is_empty = tokens == 0;
        interval =
            is_empty ? std::min<duration>(interval * 2, options.greatest_interval) : duration(options.interval);
        end(now);
    }

    void unavailable(time_point now) {
        look(now);
        earned += asked->earned;
        double const whole = std::floor(earned + 1e-6);
        held += static_cast<long>(whole);
        earned -= whole;
        is_empty = false;
        interval = options.interval;
        end(now);
    }

    bool acquire(time_point now) {
        look(now);
        bool const refuses = is_empty && now - *answer < interval;
        if (refuses && reserved + 1 > held)
            return false;
        ++reserved;
        return true;
    }

    bool admit() {
        if (held == 0) {
            ++early;
            return false;
        }
        --held;
        --reserved;
        return true;
    }

    void undo() {
        ++held;
        ++reserved;
    }

    fleet_budget_options const options;
    long reserved = 0, held = 0, successes = 0, early = 0;
    double earned = 0;

private:
    void end(time_point now) {
        asked.reset();
        early = 0;
        answer = now;
    }

    double left_after(duration passed) const {
        return std::exp(-std::chrono::duration<double>(passed) / std::chrono::duration<double>(options.window));
    }

    // What is earned at a constant rate over some time, fading meanwhile, is what the integral says.
    void look(time_point now) {
        if (last && now > *last) {
            double const windows =
                std::chrono::duration<double>(now - *last) / std::chrono::duration<double>(options.window);
            earned = earned * left_after(now - *last) +
                     options.ratio * static_cast<double>(successes) / windows * (1 - left_after(now - *last));
        } else if (last) {
            earned += options.ratio * static_cast<double>(successes);
        }
        successes = 0;
        if (answer && now >= *answer + options.lease && held > reserved) {
            time_point const since = std::max(*answer + options.lease, *last);
            earned += static_cast<double>(held - reserved) * left_after(now - since);
            held = reserved;
        }
        last = now;
    }

    duration interval;
    std::optional<fleet_request> asked;
    bool is_empty = false;
    std::optional<time_point> answer, last;
};

struct what_was_seen {
    int questions = 0, answers_of_none = 0, unavailable = 0, refused_reservations = 0, refused_attempts = 0,
        attempts = 0, undone = 0, leases_over = 0;
};

class fleet_script {
public:
    explicit fleet_script(std::uint64_t seed)
        : dice(seed)
        , options(draw_options())
        , model(options)
        , budget(options) {}

    void play(what_was_seen& seen) {
        for (int step = 0; step < 120 && !testing::Test::HasFailure(); ++step) {
            if (one_in(3))
                now += one_in(8) ? duration(below(20'000'000'000)) : duration(below(800'000'000));
            act(seen);
            ASSERT_EQ(budget.held(), model.held) << "after step " << step;
        }
    }

private:
    std::uint64_t below(std::uint64_t n) { return dice() % n; }
    bool one_in(std::uint64_t n) { return below(n) == 0; }

    fleet_budget_options draw_options() {
        fleet_budget_options o;
        o.batch = static_cast<std::uint32_t>(1 + below(8));
        o.interval = 100ms * static_cast<int>(1 + below(20));
        o.greatest_interval = o.interval * static_cast<int>(1 + below(20));
        o.lease = 500ms * static_cast<int>(1 + below(20));
        o.ratio = static_cast<double>(1 + below(10)) / 10;
        o.window = 1s * static_cast<int>(1 + below(20));
        return o;
    }

    void act(what_was_seen& seen) {
        long const held_before = model.held;
        switch (below(8)) {
        case 0:
        case 1: {
            bool const granted = model.acquire(now);
            ASSERT_EQ(budget.acquire(failure_kind::transient, now), granted);
            seen.refused_reservations += !granted;
            seen.leases_over += model.held < held_before;
            break;
        }
        case 2:
            if (model.reserved == 0)
                break;
            if (one_in(3)) {
                budget.give_back(failure_kind::transient);
                --model.reserved;
            } else {
                begin_attempt(seen);
            }
            break;
        case 3:
            for (auto n = below(20); n > 0; --n, ++model.successes)
                budget.on_end(success());
            break;
        case 4:
        case 5:
            ask(seen);
            break;
        default:
            if (asked)
                answer(seen);
        }
    }

    void begin_attempt(what_was_seen& seen) {
        bool const begins = model.admit();
        ASSERT_EQ(budget.admit(2 + below(3), time_point()).until == time_point(), begins);
        seen.attempts += begins;
        seen.refused_attempts += !begins;
        if (begins && one_in(8)) { // it did not begin after all
            budget.on_end(abandoned(2));
            model.undo();
            ++seen.undone;
        }
    }

    void ask(what_was_seen& seen) {
        std::optional<fleet_request> const expected = model.poll(now), found = budget.poll(now);
        ASSERT_EQ(found.has_value(), expected.has_value());
        if (!found)
            return;
        ASSERT_NEAR(found->earned, expected->earned, 1e-6);
        ASSERT_EQ(found->wanted, expected->wanted);
        asked = found->wanted;
        ++seen.questions;
    }

    void answer(what_was_seen& seen) {
        if (one_in(3)) {
            model.unavailable(now);
            budget.on_unavailable(now);
            ++seen.unavailable;
        } else {
            auto const tokens = one_in(2) ? 0 : static_cast<std::uint32_t>(below(*asked + 1));
            model.granted(tokens, now);
            budget.on_granted(tokens, now);
            seen.answers_of_none += tokens == 0;
        }
        asked.reset();
    }

    std::mt19937_64 dice;
    fleet_budget_options const options;
    plain_fleet_budget model;
    fleet_budget budget;
    time_point now{12h};
    std::optional<std::uint32_t> asked;
};

TEST(fleet_budget, is_what_a_plain_one_is_over_10000_random_scripts) {
    what_was_seen seen;
    for (std::uint64_t seed = 1; seed <= 10'000 && !HasFailure(); ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        fleet_script(seed).play(seen);
    }
    for (int const each : {seen.questions, seen.answers_of_none, seen.unavailable, seen.refused_reservations,
                           seen.refused_attempts, seen.attempts, seen.undone, seen.leases_over})
        EXPECT_GT(each, 3000);
}

} // namespace
} // namespace asio_retry::test
