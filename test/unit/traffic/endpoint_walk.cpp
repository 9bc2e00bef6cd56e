#include <asio_retry/traffic/endpoint_set.hpp>

#include "support/endpoint_operation.hpp"
#include "support/gate_values.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;

/// An endpoint as the documentation of `endpoint_set` has it.
struct plain_endpoint {
    int name;
    std::shared_ptr<circuit_breaker> breaker;
    std::uint32_t in_flight = 0;
    std::deque<detail::latency_step> last{}; // of 15 successes
    int shown = 0;                           // the median that others compare with
    std::uint32_t slow_in_row = 0;
    int times_slow = 0;
    time_point slow_until = time_point::min(); // unless it is out because it is slow
    time_point refused_until = time_point::min();
    bool is_probed = false; // refused, because probes run
    time_point resting_until = time_point::min();
    time_point wished_until = time_point::min(); // also while its breaker refuses it

    int median() const {
        if (last.size() < 8)
            return 0;
        auto sorted = last;
        std::ranges::sort(sorted);
        return sorted[sorted.size() / 2];
    }
    bool may_be_asked() const {
        return slow_until == time_point::min() && refused_until == time_point::min() &&
               resting_until == time_point::min();
    }
    /// When it may be asked, if it is out and not slow.
    time_point back() const {
        time_point const found = std::max(refused_until, resting_until);
        return found == time_point::min() ? time_point::max() : found;
    }
    void come_back() {
        last.clear();
        shown = 0;
        slow_in_row = 0;
        slow_until = time_point::min();
    }
};

/// A set that looks at all of its endpoints each time.
class plain_set {
public:
    plain_set(std::vector<int> const& names, endpoint_options const& o)
        : options(o) {
        assign(names);
    }

    void assign(std::vector<int> const& names) {
        std::map<int, std::shared_ptr<plain_endpoint>> known;
        for (auto const& each : all)
            known.emplace(each->name, each);
        all.clear();
        for (int name : names)
            all.push_back(known.contains(name)
                              ? known[name]
                              : std::make_shared<plain_endpoint>(
                                    plain_endpoint{name, std::make_shared<circuit_breaker>(options.breaker)}));
        for (auto const& each : all) {
            each->resting_until = time_point::min();
            place(*each, latest);
        }
        limit();
    }

    /// At the beginning of a choice: four that are due return. Those whom breakers refused come first, then
    /// rested ones, then slow ones.
    void look(time_point now) {
        latest = now;
        for (int i = 0; i < 4; ++i) {
            auto const refused = first([](plain_endpoint const& one) { return one.refused_until; });
            auto const resting = first([](plain_endpoint const& one) { return one.resting_until; });
            auto const slow = first([](plain_endpoint const& one) { return one.slow_until; });
            if (refused && refused->refused_until <= now)
                let_in(*refused, now);
            else if (resting && resting->resting_until <= now)
                resting->resting_until = time_point::min();
            else if (slow && slow->slow_until <= now)
                slow->come_back();
        }
    }

    /// Nothing is drawn here: it follows what the set has chosen.
    void begin(int name, time_point now) {
        auto const one = find(name);
        ASSERT_TRUE(one);
        ASSERT_TRUE(one->may_be_asked());
        ASSERT_LE(one->breaker->admit(1, now).until, now) << "its breaker refuses";
        ++one->in_flight;
        place(*one, now);
    }

    void end(plain_endpoint& one, attempt_end const& end) {
        --one.in_flight;
        one.breaker->on_end(end);
        time_point const now = std::max(latest, end.now);
        if (end.outcome == attempt_end::how::succeeded)
            hear(one, end.took, now);
        if (end.outcome == attempt_end::how::failed && end.said.delay() > duration::zero())
            one.wished_until = std::max(one.wished_until, end.now + end.said.delay());
        place(one, now);
    }

    std::shared_ptr<plain_endpoint> find(int name) const {
        for (auto const& each : all)
            if (each->name == name)
                return each;
        return nullptr;
    }

    std::vector<std::shared_ptr<plain_endpoint>> all;

private:
    template <typename Time>
    std::shared_ptr<plain_endpoint> first(Time time) const {
        std::shared_ptr<plain_endpoint> found;
        for (auto const& each : all)
            if (time(*each) != time_point::min() && (!found || time(*each) < time(*found)))
                found = each;
        return found;
    }

    void place(plain_endpoint& one, time_point now) {
        time_point const until = one.breaker->open_until(now);
        if (until > now) {
            one.is_probed = one.breaker->state(now) == breaker_state::half_open;
            one.refused_until = one.is_probed ? until : std::max(until, one.wished_until);
            one.resting_until = time_point::min();
        } else {
            let_in(one, now);
        }
        if (one.slow_until != time_point::min() && one.back() != time_point::max())
            one.come_back();
        limit();
    }

    /// Its breaker does not refuse it. It may rest.
    static void let_in(plain_endpoint& one, time_point now) {
        one.refused_until = time_point::min();
        one.is_probed = false;
        if (one.wished_until > now)
            one.resting_until = one.wished_until;
    }

    std::size_t count(bool (*is)(plain_endpoint const&)) const {
        return static_cast<std::size_t>(
            std::ranges::count_if(all, [&](auto const& each) { return is(*each); }));
    }
    std::size_t slow() const {
        return count([](plain_endpoint const& one) { return one.slow_until != time_point::min(); });
    }
    std::size_t allowed() const {
        auto const share =
            static_cast<std::size_t>(options.greatest_ejected * static_cast<double>(all.size()) + 1e-9);
        auto const others = count([](plain_endpoint const& one) { return one.back() != time_point::max(); });
        auto const greatest = std::min(share, all.size() - 1);
        return greatest - std::min(greatest, others);
    }

    /// Beyond the share the earliest slow one returns.
    void limit() {
        while (slow() > allowed())
            first([](plain_endpoint const& one) { return one.slow_until; })->come_back();
    }

    bool is_slower(int one, int other) const {
        auto const time = [](int step) {
            return static_cast<double>(detail::greatest_in(static_cast<detail::latency_step>(step)).count());
        };
        return other != 0 && time(one) >= options.slow_factor * time(other);
    }

    void hear(plain_endpoint& one, duration took, time_point now) {
        one.last.push_back(detail::step_of(took));
        if (one.last.size() > 15)
            one.last.pop_front();
        int const median = one.median();
        if (median == 0)
            return;
        bool const is_new = one.shown == 0 || std::abs(median - one.shown) >= 2;
        if (is_new)
            one.shown = median;
        std::vector<int> others;
        for (auto const& each : all)
            if (each.get() != &one && each->shown != 0 && each->may_be_asked())
                others.push_back(each->shown);
        std::ranges::sort(others);
        if (!one.may_be_asked() || find(one.name).get() != &one) {
            if (!is_slower(median, others.empty() ? 0 : others.front()))
                one.slow_in_row = 0;
            return;
        }
        if (is_slower(median, others.empty() ? 0 : others[others.size() / 2])) {
            ++one.slow_in_row;
        } else {
            one.slow_in_row = 0;
            if (is_new || is_slower(median, others.empty() ? 0 : others.front()))
                one.times_slow = 0;
        }
        if (one.slow_in_row < options.slow_least || slow() >= allowed())
            return;
        duration length = options.breaker.open_for;
        for (int i = 0; i < one.times_slow; ++i)
            length = std::min<duration>(length * 2, options.breaker.open_cap);
        ++one.times_slow;
        one.slow_until = now + length;
    }

    endpoint_options const options;
    time_point latest = time_point::min();
};

class endpoint_script {
public:
    explicit endpoint_script(std::uint64_t seed)
        : dice(seed)
        , draws(seed)
        , options(draw_options())
        , set(first_endpoints(count), options)
        , model(first_endpoints(count), options) {}

    void play() {
        for (int step = 0; step < 400 && !testing::Test::HasFatalFailure(); ++step) {
            SCOPED_TRACE("step " + std::to_string(step));
            now += one_in(50) ? duration(below(3'000'000'000)) : duration(below(20'000'000));
            if (one_in(60))
                change();
            if (running.empty() || !one_in(3))
                begin();
            else
                end();
            compare();
        }
    }

    std::size_t refused = 0;
    std::size_t slow = 0;
    std::size_t half_open = 0;
    std::size_t resting = 0;
    std::size_t held = 0;

private:
    struct attempt {
        std::unique_ptr<endpoint_operation> one;
        std::shared_ptr<plain_endpoint> at;
        time_point began;
    };

    std::uint64_t below(std::uint64_t n) { return dice() % n; }
    bool one_in(std::uint64_t n) { return below(n) == 0; }

    endpoint_options draw_options() {
        count = 1 + static_cast<int>(below(8));
        endpoint_options o;
        o.breaker.consecutive = 1 + static_cast<std::uint32_t>(below(4));
        o.breaker.open_for = duration(1s) * static_cast<int>(1 + below(3));
        o.breaker.open_cap = o.breaker.open_for * static_cast<int>(1 + below(3));
        o.breaker.open_spread = 0; // two breakers have two numbers
        o.breaker.probes = 1 + static_cast<std::uint32_t>(below(3));
        o.greatest_ejected = static_cast<double>(below(11)) / 10;
        o.slow_factor = one_in(2) ? 4 : 1.5;
        o.remembered = duration::zero();
        o.slow_least = 1 + static_cast<std::uint32_t>(below(4));
        return o;
    }

    /// Endpoints become slow or well, die, come and go.
    void change() {
        int const at = static_cast<int>(below(10));
        if (one_in(4)) {
            count = 1 + static_cast<int>(below(8));
            std::vector<int> names = first_endpoints(10);
            std::ranges::shuffle(names, dice);
            names.resize(static_cast<std::size_t>(count));
            set.assign(names);
            model.assign(names);
        } else if (one_in(2)) {
            is_dead[static_cast<std::size_t>(at)] = !is_dead[static_cast<std::size_t>(at)];
        } else {
            is_slow[static_cast<std::size_t>(at)] = !is_slow[static_cast<std::size_t>(at)];
        }
    }

    void begin() {
        auto one = std::make_unique<endpoint_operation>(set, draws);
        model.look(now);
        auto const at = one->begin(now);
        ASSERT_EQ(at.has_value(),
                  std::ranges::any_of(model.all, [](auto const& each) { return each->may_be_asked(); }));
        if (at) {
            ASSERT_NO_FATAL_FAILURE(model.begin(*at, now));
            running.push_back({std::move(one), model.find(*at), now});
            return;
        }
        plain_endpoint const* first = nullptr; // of those of which is known when
        for (auto const& each : model.all)
            if (!each->is_probed && (!first || each->back() < first->back()))
                first = each.get();
        bool const are_probed =
            std::ranges::any_of(model.all, [](auto const& each) { return each->is_probed; });
        bool const is_held =
            first && (first->wished_until > now || std::ranges::any_of(model.all, [](auto const& each) {
                          return each->resting_until != time_point::min();
                      }));
        ++(is_held ? held : refused);
        ASSERT_EQ(one->answer.refusal, is_held ? error::cooling_down : error::circuit_open);
        ASSERT_EQ(one->answer.until, is_held || !are_probed ? first->back() : time_point::max())
            << "a probe may end at any time";
    }

    void end() {
        auto const which = running.begin() + static_cast<std::ptrdiff_t>(below(running.size()));
        attempt ended = std::move(*which);
        running.erase(which);
        auto const name = static_cast<std::size_t>(ended.at->name);
        attempt_end how = success(now, now - ended.began);
        if (one_in(10))
            how = abandoned_since(ended.began);
        else if (is_dead[name])
            how = failure(failure_kind::timeout, now, now - ended.began);
        else if (ended.at->breaker->state(now) == breaker_state::closed)
            how.took = (is_slow[name] ? 100ms : 10ms) + duration(below(5'000'000));
        if (how.outcome == attempt_end::how::succeeded && one_in(20))
            how = failure(failure_kind::throttled, now, how.took);
        if (one_in(3))
            how.said = pushback::after(duration(below(3'000'000'000)));
        model.end(*ended.at, how);
        if (one_in(4) && how.outcome == attempt_end::how::abandoned)
            ended.one.reset(); // which says so too
        else
            ended.one->end(how, 1);
    }

    void compare() {
        for (auto const& [name, status] : statuses(set, now)) {
            auto const one = model.find(name);
            ASSERT_TRUE(one);
            ASSERT_EQ(status.in_flight, one->in_flight) << name;
            ASSERT_EQ(status.state, one->breaker->state(now)) << name;
            ASSERT_EQ(status.rate, one->breaker->failure_share(now)) << name;
            ASSERT_EQ(status.latency, detail::greatest_in(static_cast<detail::latency_step>(one->shown)))
                << name;
            time_point const until = std::max(one->slow_until, one->breaker->open_until(now));
            ASSERT_EQ(status.ejected_until, until > now ? until : time_point::min()) << name;
            ASSERT_EQ(status.resting_until, one->wished_until > now ? one->wished_until : time_point::min())
                << name;
            slow += one->slow_until > now;
            half_open += status.state == breaker_state::half_open;
            resting += status.resting_until > now;
        }
    }

    std::mt19937_64 dice;
    random draws;
    int count = 0;
    endpoint_options const options;
    endpoint_set<int> set;
    plain_set model;
    time_point now = noon;
    std::array<bool, 10> is_dead{};
    std::array<bool, 10> is_slow{};
    std::vector<attempt> running;
};

TEST(endpoint_set, decision_64_is_what_a_plain_one_is_over_random_scripts) {
    std::size_t refused = 0, slow = 0, half_open = 0, resting = 0, held = 0;
    for (std::uint64_t seed = 1; seed <= 1500 && !HasFailure(); ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        endpoint_script script(seed);
        script.play();
        refused += script.refused;
        slow += script.slow;
        half_open += script.half_open;
        resting += script.resting;
        held += script.held;
    }
    EXPECT_GT(refused, 1000u);
    EXPECT_GT(slow, 1000u);
    EXPECT_GT(half_open, 1000u);
    EXPECT_GT(resting, 1000u);
    EXPECT_GT(held, 1000u);
}

} // namespace
} // namespace asio_retry::test
