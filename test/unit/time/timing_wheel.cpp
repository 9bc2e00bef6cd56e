#include "time/timing_wheel.hpp"

#include <asio_retry/random.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <limits>
#include <map>
#include <vector>

namespace asio_retry::detail {
namespace {

using namespace std::chrono_literals;

struct bare_wait final : wait_node {
private:
    bool on_expiry() override { return true; }
    void on_shutdown() noexcept override {}
};

/// Declared after its waits, which must not be destroyed in it.
struct emptied_wheel : timing_wheel {
    using timing_wheel::timing_wheel;
    ~emptied_wheel() {
        while (take_any()) {
        }
    }
};

/// Of every magnitude, as often as of any other.
duration any_length(random& source) {
    return duration(static_cast<duration::rep>(source() >> source.uniform(1, 63)));
}

time_point later(random& source, time_point now) {
    return saturating_add(now, any_length(source));
}

/// The waits in the order in which they are to end: those that are over when they begin count from then.
class sorted_waits {
public:
    void insert(bare_wait& node, time_point when) { waits_.emplace(when, &node); }

    void erase(bare_wait& node) {
        waits_.erase(
            std::find_if(waits_.begin(), waits_.end(), [&](auto const& w) { return w.second == &node; }));
    }

    bare_wait* take_due(time_point now) {
        if (waits_.empty() || waits_.begin()->first > now || waits_.begin()->first == time_point::max())
            return nullptr;
        bare_wait* const node = waits_.begin()->second;
        waits_.erase(waits_.begin());
        return node;
    }

    std::optional<time_point> next_expiry() const {
        if (waits_.empty() || waits_.begin()->first == time_point::max())
            return std::nullopt;
        return waits_.begin()->first;
    }

    std::size_t size() const { return waits_.size(); }

private:
    std::multimap<time_point, bare_wait*> waits_;
};

// Whatever begins, is taken back and ends, and however far the clock goes at once.
TEST(timing_wheel, without_slack_waits_end_in_order_and_equal_ones_as_they_began) {
    for (std::uint64_t stream = 0; stream != 300; ++stream) {
        random source(1, stream);
        time_point now(duration(static_cast<duration::rep>(source() >> 2)));
        std::deque<bare_wait> nodes(60);
        emptied_wheel wheel(now);
        sorted_waits expected;
        std::vector<time_point> const favourites{later(source, now), later(source, now), time_point::max()};
        for (int step = 0; step != 400; ++step) {
            bare_wait& node = nodes[static_cast<std::size_t>(source.uniform(0, nodes.size() - 1))];
            if (node.is_linked()) {
                wheel.erase(node);
                expected.erase(node);
            } else {
                time_point expiry = source.uniform(0, 3) == 0
                                        ? favourites[static_cast<std::size_t>(source.uniform(0, 2))]
                                        : later(source, now);
                if (source.uniform(0, 7) == 0)
                    expiry = now - duration(static_cast<duration::rep>(source.uniform(0, 1'000'000'000)));
                wheel.insert(node, expiry);
                expected.insert(node, std::max(expiry, now));
            }
            ASSERT_EQ(wheel.size(), expected.size());
            if (source.uniform(0, 3) != 0)
                continue;
            ASSERT_EQ(wheel.next_expiry(nodes.size()), expected.next_expiry()) << "stream " << stream;
            auto const next = expected.next_expiry();
            now = next && source.uniform(0, 1) == 0 ? std::max(now, *next)
                                                    : saturating_add(now, any_length(source) / 1000);
            for (;;) {
                auto* const due = expected.take_due(now);
                ASSERT_EQ(wheel.take_due(now, 0ns), due) << "stream " << stream << ", step " << step;
                if (!due)
                    break;
            }
        }
    }
}

// Driven as the scheduler does: woken when the first wait has been late for as long as it may.
TEST(timing_wheel, with_slack_no_wait_ends_early_and_none_later_than_the_slack) {
    for (duration const slack : std::vector<duration>{1ns, 63ns, 5us, 300us, 1ms, 7ms, 1h}) {
        random source(2, static_cast<std::uint64_t>(slack.count()));
        time_point now(1h);
        std::deque<bare_wait> nodes(2000);
        emptied_wheel wheel(now);
        for (bare_wait& node : nodes)
            wheel.insert(node, now + any_length(source) % (200 * slack + 1us));
        int wake_ups = 0;
        while (auto const next = wheel.next_expiry(16)) {
            ASSERT_GE(*next, now - slack);
            now = std::max(now, *next + slack);
            ++wake_ups;
            while (wait_node* const due = wheel.take_due(now, slack)) {
                ASSERT_LE(due->expiry(), now);
                ASSERT_GE(due->expiry(), now - slack);
            }
        }
        EXPECT_TRUE(wheel.empty());
        EXPECT_LE(wake_ups, 2 * 201 + 1us / slack) << "wake-ups are shared, slack " << slack.count();
    }
}

// Also in the middle of a slot, whose waits may be taken back then.
TEST(timing_wheel, with_slack_it_may_be_asked_at_any_time) {
    for (duration const slack : std::vector<duration>{64ns, 5us, 300us, 1ms, 7ms, 1h}) {
        random source(3, static_cast<std::uint64_t>(slack.count()));
        time_point now(1h);
        std::deque<bare_wait> nodes(200);
        emptied_wheel wheel(now);
        std::size_t left = 0;
        for (int step = 0; step != 3000; ++step) {
            bare_wait& node = nodes[static_cast<std::size_t>(source.uniform(0, nodes.size() - 1))];
            if (node.is_linked()) {
                wheel.erase(node);
                --left;
            } else {
                wheel.insert(node, now + any_length(source) % (4 * slack));
                ++left;
            }
            now += any_length(source) % (slack / 8);
            while (wait_node* const due = wheel.take_due(now, slack)) {
                ASSERT_LE(due->expiry(), now);
                --left;
            }
            ASSERT_EQ(wheel.size(), left);
            for (bare_wait const& other : nodes)
                ASSERT_TRUE(!other.is_linked() || other.expiry() > now - slack);
        }
    }
}

TEST(timing_wheel, says_when_the_slot_begins_rather_than_look_at_many_waits) {
    time_point const now(1000h);
    std::deque<bare_wait> nodes(17);
    emptied_wheel wheel(now);
    for (bare_wait& node : nodes)
        wheel.insert(node, now + 1h + 1ns);
    EXPECT_EQ(wheel.next_expiry(17), now + 1h + 1ns);
    auto const at_least = wheel.next_expiry(16);
    ASSERT_TRUE(at_least);
    EXPECT_LE(*at_least, now + 1h);
    EXPECT_GT(*at_least, now);
}

TEST(timing_wheel, follows_a_clock_that_is_set_back) {
    time_point const late(2h);
    std::deque<bare_wait> nodes(3);
    emptied_wheel wheel(late);
    wheel.insert(nodes[0], late + 1h);
    wheel.insert(nodes[1], late + 1h);
    wheel.restart(time_point(1h));
    wheel.insert(nodes[2], time_point(1h) + 1s);
    EXPECT_EQ(wheel.next_expiry(3), time_point(1h) + 1s);
    EXPECT_EQ(wheel.take_due(time_point(1h) + 1s, 0ns), &nodes[2]);
    EXPECT_EQ(wheel.take_due(late + 1h, 0ns), &nodes[0]);
    EXPECT_EQ(wheel.take_due(late + 1h, 0ns), &nodes[1]);
}

TEST(timing_wheel, keeps_one_that_ends_at_last_when_one_that_never_does_is_taken_back) {
    std::deque<bare_wait> nodes(2);
    emptied_wheel wheel(time_point(0s));
    wheel.insert(nodes[0], time_point::max());
    wheel.insert(nodes[1], time_point::max() - 1ns);
    wheel.erase(nodes[0]);
    EXPECT_EQ(wheel.next_expiry(2), time_point::max() - 1ns);
}

// For a context that is destroyed.
TEST(timing_wheel, gives_away_every_wait_even_one_that_never_ends) {
    std::deque<bare_wait> nodes(4);
    emptied_wheel wheel(time_point(0s));
    wheel.insert(nodes[0], time_point::max());
    wheel.insert(nodes[1], time_point::min());
    wheel.insert(nodes[2], time_point(1h));
    wheel.insert(nodes[3], time_point::max());
    EXPECT_EQ(wheel.size(), 4u);
    EXPECT_EQ(wheel.take_any(), &nodes[1]);
    EXPECT_EQ(wheel.take_any(), &nodes[2]);
    EXPECT_EQ(wheel.take_any(), &nodes[0]);
    EXPECT_EQ(wheel.take_any(), &nodes[3]);
    EXPECT_EQ(wheel.take_any(), nullptr);
    EXPECT_TRUE(wheel.empty());
}

} // namespace
} // namespace asio_retry::detail
