#include <asio_retry/traffic/circuit_breaker.hpp>

#include "support/attempt_ends.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;

/// A circuit breaker as its documentation has it: it keeps everything that happened and counts anew each time.
class plain_breaker {
public:
    explicit plain_breaker(circuit_breaker_options const& o)
        : options(o)
        , length(o.open_for) {}

    breaker_state state(time_point now) const {
        if (isolated)
            return breaker_state::isolated;
        if (!opened)
            return breaker_state::closed;
        return now < opened_until ? breaker_state::open : breaker_state::half_open;
    }

    time_point admit(time_point now) {
        switch (state(now)) {
        case breaker_state::closed:
            return now;
        case breaker_state::isolated:
            return time_point::max();
        case breaker_state::open:
            return opened_until;
        case breaker_state::half_open:
            break;
        }
        if (!probing) {
            probing = true;
            known_from = opened_until;
            probes.clear();
            succeeded = 0;
        }
        auto const has_hung = [&](time_point began) { return now - began >= options.open_cap; };
        auto const hung = static_cast<std::size_t>(std::ranges::count_if(probes, has_hung));
        if (probes.size() - hung + succeeded >= options.probes)
            return time_point::max();
        std::erase_if(probes, has_hung);
        probes.push_back(now);
        return now;
    }

    /// The breaker says when it is half-open. Returns whether that is within the spread.
    bool learn_end(time_point end) {
        bool const is_right =
            end <= opened_until &&
            end - opened_at >= length * (1 - options.open_spread) - duration(1us); // doubles are rounded
        opened_until = end;
        return is_right;
    }

    /// Since this was asked last.
    bool has_opened() { return std::exchange(has_just_opened, false); }

    void update(circuit_breaker_options const& o) {
        if ((o.last == 0) != (options.last == 0))
            ended.clear();
        else if (o.last == 0)
            count_at_slots();
        else if (ended.size() > options.last)
            ended.erase(ended.begin(), ended.end() - static_cast<std::ptrdiff_t>(options.last));
        succeeded = std::min<std::size_t>(succeeded, o.probes - 1);
        length =
            opened || isolated ? std::clamp<duration>(length, o.open_for, o.open_cap) : duration(o.open_for);
        options = o;
    }

    time_point open_until(time_point now) const {
        switch (state(now)) {
        case breaker_state::closed:
            return now;
        case breaker_state::isolated:
            return time_point::max();
        case breaker_state::open:
            return opened_until;
        case breaker_state::half_open:
            break;
        }
        std::vector<time_point> taken = probing ? probes : std::vector<time_point>();
        std::erase_if(taken, [&](time_point began) { return now - began >= options.open_cap; });
        bool const is_full = taken.size() + (probing ? succeeded : 0) >= options.probes;
        return is_full ? taken.front() + options.open_cap : now;
    }

    double failure_share(time_point now) const {
        auto const counted = recent(now);
        return counted.empty() ? 0
                               : static_cast<double>(std::ranges::count_if(counted, &past_attempt::failed)) /
                                     static_cast<double>(counted.size());
    }

    void end(attempt_end const& e) {
        if (isolated)
            return;
        time_point const began = e.outcome == attempt_end::how::abandoned ? e.now : e.now - e.took;
        bool const failed = e.outcome == attempt_end::how::failed && e.kind != failure_kind::permanent &&
                            e.kind != failure_kind::throttled;
        if (began < known_from)
            return;
        if (probing)
            for (auto i = probes.size(); i-- > 0;)
                if (probes[i] <= began) {
                    probes.erase(probes.begin() + static_cast<std::ptrdiff_t>(i));
                    break;
                }
        if (e.outcome == attempt_end::how::abandoned)
            return;
        if (probing) {
            if (failed) {
                length = std::min<duration>(
                    options.open_cap,
                    duration(static_cast<duration::rep>(static_cast<double>(length.count()) * options.growth)));
                open(e.now);
            } else if (++succeeded == options.probes) {
                reset();
            }
            return;
        }
        if (opened)
            return;
        ended.push_back({e.now, failed, e.took > options.slow});
        failed_in_row = failed ? failed_in_row + 1 : 0;
        if (too_bad(e.now))
            open(e.now);
    }

    void reset() {
        isolated = opened = probing = false;
        ended.clear();
        failed_in_row = 0;
        length = options.open_for;
    }

    bool isolated = false;

private:
    struct past_attempt {
        time_point when;
        bool failed;
        bool slow;
    };

    void open(time_point now) {
        opened = has_just_opened = true;
        probing = false;
        opened_at = now;
        opened_until = now + length;
    }

    std::int64_t slot_of(time_point t) const { return t.time_since_epoch() / (options.window / 10); }

    /// A window that is replaced knows of an attempt only in which of its slots it ended.
    void count_at_slots() {
        if (ended.empty())
            return;
        std::int64_t const newest = slot_of(ended.back().when);
        std::erase_if(ended, [&](past_attempt const& one) { return slot_of(one.when) <= newest - 10; });
        for (past_attempt& one : ended)
            one.when = time_point(slot_of(one.when) * (options.window / 10));
    }

    std::vector<past_attempt> recent(time_point now) const {
        std::vector<past_attempt> counted;
        for (std::size_t i = 0; i < ended.size(); ++i)
            if (options.last != 0 ? i + options.last >= ended.size()
                                  : slot_of(ended[i].when) > slot_of(now) - 10)
                counted.push_back(ended[i]);
        return counted;
    }

    bool too_bad(time_point now) const {
        if (options.consecutive != 0 && failed_in_row >= options.consecutive)
            return true;
        std::vector<past_attempt> const counted = recent(now);
        auto const all = static_cast<double>(counted.size());
        auto const least =
            options.last != 0 ? std::min(options.last, options.min_attempts) : options.min_attempts;
        if (counted.size() < least)
            return false;
        auto const failures = static_cast<double>(std::ranges::count_if(counted, &past_attempt::failed));
        auto const slow = static_cast<double>(std::ranges::count_if(counted, &past_attempt::slow));
        return failures / all >= options.failure_rate ||
               (options.slow_rate > 0 && slow / all >= options.slow_rate);
    }

    circuit_breaker_options options;
    std::vector<past_attempt> ended;
    std::uint32_t failed_in_row = 0;
    duration length;
    bool opened = false;
    bool has_just_opened = false;
    bool probing = false;
    time_point opened_at{};
    time_point opened_until{};
    time_point known_from = time_point::min();
    std::vector<time_point> probes;
    std::size_t succeeded = 0;
};

class breaker_script {
public:
    explicit breaker_script(std::uint64_t seed)
        : dice(seed)
        , model(draw_options())
        , breaker(drawn) {}

    void play(std::array<int, 4>& seen) {
        for (int step = 0; step < 120 && !testing::Test::HasFailure(); ++step) {
            now += one_in(4) ? duration(below(3'000'000'000)) : duration(below(100'000'000));
            if (one_in(40))
                sick = !sick;
            act();
            bool const knows = !model.has_opened() || model.learn_end(breaker.open_until(now));
            ASSERT_TRUE(knows) << "after step " << step;
            breaker_state const state = breaker.state(now);
            ++seen[static_cast<std::size_t>(state)];
            ASSERT_EQ(state, model.state(now)) << "after step " << step;
            ASSERT_EQ(breaker.open_until(now), model.open_until(now)) << "after step " << step;
            ASSERT_EQ(breaker.failure_share(now), model.failure_share(now)) << "after step " << step;
        }
    }

    /// Whatever has happened: a peer that is well is talked to again.
    void come_back() {
        breaker.reset();
        for (int i = 0; i < 40; ++i)
            breaker.on_end(failure(failure_kind::timeout, now));
        for (int i = 0; i < 1000 && breaker.state(now) != breaker_state::closed; ++i, now += 1s)
            if (breaker.admit(1, now).until <= now)
                breaker.on_end(success(now));
        EXPECT_EQ(breaker.state(now), breaker_state::closed);
    }

private:
    std::uint64_t below(std::uint64_t n) { return dice() % n; }
    bool one_in(std::uint64_t n) { return below(n) == 0; }

    circuit_breaker_options draw_options() {
        circuit_breaker_options o;
        o.failure_rate = static_cast<double>(1 + below(10)) / 10;
        o.min_attempts = static_cast<std::uint32_t>(1 + below(10));
        o.window = duration(1s) * static_cast<int>(1 + below(20));
        o.last = one_in(2) ? static_cast<std::uint32_t>(1 + below(20)) : 0;
        o.consecutive = one_in(3) ? static_cast<std::uint32_t>(1 + below(6)) : 0;
        o.slow_rate = one_in(3) ? static_cast<double>(1 + below(10)) / 10 : 0;
        o.slow = 1s;
        o.open_for = duration(1s) * static_cast<int>(1 + below(5));
        o.growth = one_in(2) ? 2 : 1.5;
        o.open_cap = o.open_for * static_cast<int>(1 + below(5));
        o.open_spread = one_in(2) ? 0.5 : 0;
        o.probes = static_cast<std::uint32_t>(1 + below(4));
        return drawn = o;
    }

    void act() {
        if (one_in(200)) {
            model.isolated = true;
            breaker.isolate();
        } else if (one_in(60)) {
            model.reset();
            breaker.reset();
        } else if (one_in(60)) {
            model.update(draw_options());
            breaker.update(drawn);
        } else if (running.empty() || !one_in(3)) {
            admission const answer = breaker.admit(1, now);
            ASSERT_EQ(answer.until, model.admit(now));
            if (answer.until <= now)
                running.push_back(now);
        } else {
            auto const which = running.begin() + static_cast<std::ptrdiff_t>(below(running.size()));
            attempt_end const end = draw_end(now - *which);
            running.erase(which); // now and then one is left to hang for good
            breaker.on_end(end);
            model.end(end);
        }
    }

    attempt_end draw_end(duration took) {
        if (one_in(10))
            return abandoned_since(now - took);
        if (!sick && !one_in(10))
            return success(now, took);
        constexpr failure_kind kinds[] = {failure_kind::permanent, failure_kind::transient,
                                          failure_kind::timeout, failure_kind::throttled,
                                          failure_kind::overloaded};
        return failure(kinds[below(5)], now, took);
    }

    std::mt19937_64 dice;
    circuit_breaker_options drawn;
    plain_breaker model;
    circuit_breaker breaker;
    time_point now{12h};
    bool sick = false;
    std::vector<time_point> running;
};

TEST(circuit_breaker, is_what_a_plain_one_is_over_10000_random_scripts) {
    std::array<int, 4> seen{};
    for (std::uint64_t seed = 1; seed <= 10'000 && !HasFailure(); ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        breaker_script script(seed);
        script.play(seen);
        if (seed % 20 == 0)
            script.come_back();
    }
    EXPECT_THAT(seen, testing::Each(testing::Gt(10'000))) << "every state has been there often";
}

} // namespace
} // namespace asio_retry::test
