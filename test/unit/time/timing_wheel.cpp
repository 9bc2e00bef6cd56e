#include "time/timing_wheel.hpp"

#include <asio_retry/random.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <limits>
#include <map>
#include <utility>
#include <vector>

namespace asio_retry::detail {
namespace {

using namespace std::chrono_literals;

constexpr unsigned any_number = std::numeric_limits<unsigned>::max();

struct bare_wait final : wait_node {
private:
    bool on_expiry() override { return true; }
    void on_shutdown() noexcept override {}
};

/// Declared after its waits, which must not be destroyed in it.
struct emptied_wheel : timing_wheel {
    using timing_wheel::timing_wheel;
    wait_node* take_due(time_point now, duration slack) {
        unsigned moves = any_number;
        return take_due(now, slack, moves);
    }
    wait_node* take_due(time_point now, duration slack, unsigned& moves) {
        return count_moves(moves, [&] { return timing_wheel::take_due(now, slack, moves); });
    }
    void prepare(time_point now, duration slack, unsigned& moves) {
        count_moves(moves, [&] {
            timing_wheel::prepare(now, slack, moves);
            return static_cast<wait_node*>(nullptr);
        });
    }
    ~emptied_wheel() {
        while (take_any()) {
        }
    }

private:
    template <typename Function>
    wait_node* count_moves(unsigned const& moves, Function function) {
        std::uint64_t const moved_before = moved();
        unsigned const allowed = moves;
        wait_node* const result = function();
        EXPECT_EQ(moved() - moved_before, allowed - moves);
        EXPECT_LE(moves, allowed);
        return result;
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

/// The waits in the order in which they are to end, of which those that begin first come first.
class ordered_waits {
public:
    explicit ordered_waits(std::size_t count)
        : places_(count) {}

    void insert(std::size_t index, time_point when) {
        places_[index] = waits_.emplace(std::pair(when, ++begun_), index).first;
    }
    void erase(std::size_t index) { waits_.erase(places_[index]); }

    bool is_due(time_point now) const { return !waits_.empty() && waits_.begin()->first.first <= now; }
    std::size_t take() {
        std::size_t const index = waits_.begin()->second;
        waits_.erase(waits_.begin());
        return index;
    }

private:
    using waits = std::map<std::pair<time_point, std::uint64_t>, std::size_t>;
    waits waits_;
    std::vector<waits::iterator> places_;
    std::uint64_t begun_ = 0;
};

/// A wheel whose steps are counted, beside the order in which its waits are to end.
class counted_wheel {
public:
    counted_wheel(std::uint64_t stream, time_point begin)
        : source_(4, stream)
        , now_(begin)
        , nodes_(source_.uniform(0, 3) == 0 ? 5'000 : 50)
        , wheel_(begin)
        , expected_(nodes_.size()) {}

    void step() {
        std::size_t const index = static_cast<std::size_t>(source_.uniform(0, nodes_.size() - 1));
        bare_wait& node = nodes_[index];
        if (!node.is_linked()) {
            time_point const expiry =
                source_.uniform(0, 3) == 0 ? favourite_ : saturating_add(now_, any_length(source_) % 100s);
            wheel_.insert(node, expiry);
            expected_.insert(index, std::max(expiry, now_));
        } else if (source_.uniform(0, 2) == 0) {
            wheel_.erase(node);
            expected_.erase(index);
        }
        if (source_.uniform(0, 999) == 0)
            favourite_ = saturating_add(now_, any_length(source_) % 1h);
        if (source_.uniform(0, 9) == 0)
            go_on();
    }

private:
    /// As the scheduler does: what is over, and then what will be, in turns with so many moves.
    void go_on() {
        now_ = saturating_add(now_, any_length(source_) % 2s);
        for (unsigned moves = 0; moves == 0;) {
            moves = 7;
            while (wait_node* const due = wheel_.take_due(now_, 0ns, moves)) {
                ASSERT_TRUE(expected_.is_due(now_));
                ASSERT_EQ(due, &nodes_[expected_.take()]);
            }
            if (source_.uniform(0, 1) == 0)
                wheel_.prepare(now_, 0ns, moves);
        }
        ASSERT_FALSE(expected_.is_due(now_)) << "it was late, and there were moves left";
    }

    random source_;
    time_point now_;
    time_point favourite_ = now_ + 1h;
    std::deque<bare_wait> nodes_;
    emptied_wheel wheel_;
    ordered_waits expected_;
};

// A million steps, also where the clock is about to enter a slot of any level.
TEST(timing_wheel, decision_63_some_moves_at_a_time_keep_the_order_of_all) {
    std::vector<time_point> begins{time_point(1000h)};
    for (unsigned const bit : wheel_levels::first_bits)
        if (bit < 62)
            for (duration const before : {1ns, 1'000'000ns, 2'000'000'000ns})
                begins.push_back(time_point(duration(std::int64_t(3) << bit) - before));
    for (std::size_t stream = 0; stream != 100; ++stream) {
        counted_wheel wheel(stream, begins[stream % begins.size()]);
        for (int step = 0; step != 10'000 && !testing::Test::HasFatalFailure(); ++step)
            wheel.step();
    }
}

// With few waits there is no slack, so it may change while a slot is moved.
TEST(timing_wheel, decision_63_keeps_the_order_of_equal_waits_though_the_slack_changes_meanwhile) {
    time_point const now(1000h), expiry = now + 10s;
    std::deque<bare_wait> nodes(16);
    emptied_wheel wheel(now);
    for (bare_wait& node : nodes)
        wheel.insert(node, expiry);
    unsigned moves = 8;
    EXPECT_EQ(wheel.take_due(expiry, 0ns, moves), nullptr);
    for (bare_wait& node : nodes)
        EXPECT_EQ(wheel.take_due(expiry + 1h, 1h), &node);
}

/// A hundred thousand waits, and a wheel that is about to enter a slot of the level of some bit.
class crowded_wheel : public testing::TestWithParam<unsigned> {
protected:
    void insert_all(time_point earliest, duration over) {
        auto const count = static_cast<duration::rep>(nodes.size());
        for (duration::rep i = 0; i != count; ++i)
            wheel.insert(nodes[static_cast<std::size_t>(i)], earliest + over * i / count);
    }

    /// In turns of at most 200 waits, every 100 us. Returns how late the latest was.
    duration end_all(duration slack, unsigned moves_per_turn) {
        duration latest{};
        for (auto now = begin; !wheel.empty(); now += 100us) {
            unsigned moves = moves_per_turn;
            for (int ended = 0; ended != 200; ++ended) {
                wait_node* const due = wheel.take_due(now, slack, moves);
                if (!due)
                    break;
                latest = std::max(latest, now - due->expiry());
            }
            wheel.prepare(now, slack, moves);
        }
        return latest;
    }

    time_point const begin{duration((std::int64_t(1) << 61) + (std::int64_t(1) << GetParam())) - 1ms};
    std::deque<bare_wait> nodes = std::deque<bare_wait>(100'000);
    emptied_wheel wheel{begin};
};

TEST_P(crowded_wheel, decision_63_is_on_time_with_some_moves_in_each_turn) {
    insert_all(begin, 1s);
    EXPECT_LE(end_all(1ms, 100), 1ms + 100us);
}

TEST_P(crowded_wheel, decision_63_is_on_time_without_slack) {
    insert_all(begin, 1s);
    EXPECT_LE(end_all(0ns, 100), 100us);
}

// The wheel is far behind these.
TEST_P(crowded_wheel, decision_63_is_on_time_with_what_begins_much_later) {
    insert_all(begin + 40s, 2s);
    EXPECT_LE(end_all(1ms, 100), 1ms + 100us);
}

// Else all would be in one slot.
TEST_P(crowded_wheel, decision_63_finds_waits_at_their_place_behind_a_boundary) {
    insert_all(begin + 1ms, 200ms);
    unsigned moves = 0;
    EXPECT_EQ(wheel.take_due(begin, 1ms, moves), nullptr);
    moves = 1;
    EXPECT_EQ(wheel.take_due(begin + 4ms, 1ms, moves), &nodes[0]);
}

INSTANTIATE_TEST_SUITE_P(boundary_of_bits, crowded_wheel, testing::Values(18u, 28u, 34u, 40u, 46u, 52u, 58u));

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
