#include <asio_retry/async_retry.hpp>
#include <asio_retry/detail/scope/scope_state.hpp>
#include <asio_retry/retry_scheduler.hpp>
#include <asio_retry/retry_scope.hpp>
#include <asio_retry/virtual_time.hpp>

#include "support/policies.hpp"
#include "support/scripted_operation.hpp"

#include <boost/asio.hpp>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <new>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

// A request takes the same time whatever it reaches: the caller tells the first, and the scheduler the rest.

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;
using detail::scope_handle;
using detail::scope_request;
using detail::scope_state;
using detail::timed_request;

constexpr std::size_t of_call = 64;
constexpr std::size_t of_turn = 256;

/// Takes what it is told on the spot, and writes down its number.
class told_member final : public detail::scope_member {
public:
    told_member(scope_state& in, std::size_t number, std::vector<std::size_t>& told)
        : in_(&in)
        , number_(number)
        , told_(told) {
        in_->link(*this);
    }
    ~told_member() { leave(); }

    void leave() {
        if (!std::exchange(has_left_, true)) {
            EXPECT_TRUE(in_->unlink(*this));
        }
    }

    timed_request take() { return in_->take_request(*this); }

    scope_request heard = scope_request::none;
    duration within = 0s;
    bool takes = true;
    std::function<void()> on_told = [] {};

private:
    void on_scope_notice() override {
        on_told();
        if (takes) {
            timed_request const taken = take();
            heard = taken.what;
            within = taken.spread;
        }
        told_.push_back(number_);
    }
    void on_notice_failed() override { in_->miss_request(*this); }

    scope_handle const in_;
    std::size_t const number_;
    std::vector<std::size_t>& told_;
    bool has_left_ = false;
};

class requests_in_portions : public testing::Test {
protected:
    scope_handle make_scope(scope_handle const& parent = {}) {
        return scope_state::create(io.get_executor(), parent, time_point::max());
    }
    scope_handle make_scope_of(std::size_t count, scope_handle const& parent = {}) {
        auto const scope = make_scope(parent);
        add_members(scope, count);
        return scope;
    }
    void add_members(scope_handle const& scope, std::size_t count) {
        while (count-- != 0)
            members.emplace_back(*scope, members.size(), told);
    }

    bool all_told_in_order() const {
        std::vector<std::size_t> all(members.size());
        std::iota(all.begin(), all.end(), std::size_t(0));
        return told == all;
    }

    /// By how much a count grows at most between two runs of a handler that posts itself, up to its end.
    template <typename Count>
    std::size_t run_and_find_greatest_growth(Count count, std::size_t end) {
        std::size_t greatest = 0, before = count();
        int beats = 0;
        std::function<void()> const beat = [&] {
            greatest = std::max(greatest, count() - before);
            before = count();
            if (before != end && ++beats != 1'000'000)
                asio::post(io, beat);
        };
        asio::post(io, beat);
        io.run();
        io.restart();
        EXPECT_EQ(count(), end);
        return greatest;
    }
    std::size_t run_and_find_greatest_portion() {
        return run_and_find_greatest_growth([this] { return told.size(); }, members.size());
    }

    asio::io_context io{1};
    std::vector<std::size_t> told;
    std::deque<told_member> members;
};

/// A scope with more members than a call tells, and so its child.
class family_of_scopes : public requests_in_portions {
protected:
    family_of_scopes() {
        add_members(top, in_each);
        add_members(child, in_each);
    }

    static constexpr std::size_t in_each = 1000;
    scope_handle const top = make_scope();
    scope_handle const child = make_scope(top);
};

TEST_F(requests_in_portions, decision_61_of_few_the_caller_tells_all) {
    auto const scope = make_scope_of(of_call);
    scope->request(scope_request::cancel);
    EXPECT_TRUE(all_told_in_order());
    EXPECT_EQ(scheduler(io).pending(), 0u);
}

TEST_F(requests_in_portions, decision_61_of_many_the_caller_tells_the_first_and_turns_tell_the_rest) {
    auto const scope = make_scope_of(100'000);
    scope->request(scope_request::retry_now);
    EXPECT_EQ(told.size(), of_call);
    EXPECT_LE(run_and_find_greatest_portion(), of_turn);
    EXPECT_TRUE(all_told_in_order());
    EXPECT_EQ(scheduler(io).pending(), 0u);
}

TEST_F(requests_in_portions, decision_61_under_virtual_time_too) {
    virtual_time time(io);
    auto const scope = make_scope_of(100'000);
    time_point const begin = time.now();
    scope->request(scope_request::cancel);
    time.advance(0s);
    EXPECT_TRUE(all_told_in_order());
    EXPECT_EQ(time.now(), begin);
}

TEST_F(requests_in_portions, decision_61_child_after_child_with_all_that_is_below_it) {
    auto const top = make_scope_of(100);
    auto const first = make_scope_of(100, top);
    auto const below_first = make_scope_of(100, first);
    auto const second = make_scope_of(100, top);
    auto const below_second = make_scope_of(1, second);
    top->request(scope_request::drain);
    EXPECT_LE(run_and_find_greatest_portion(), of_turn);
    EXPECT_TRUE(all_told_in_order());
}

TEST_F(requests_in_portions, decision_61_children_are_asked_in_portions) {
    auto const top = make_scope();
    std::vector<scope_handle> children;
    for (int i = 0; i != 100'000; ++i)
        add_members(children.emplace_back(make_scope(top)), 1);
    top->request(scope_request::cancel);
    EXPECT_LE(told.size(), of_call);
    EXPECT_TRUE(children.back()->cancelled()) << "though nobody has reached it";
    EXPECT_LE(run_and_find_greatest_portion(), of_turn);
    EXPECT_TRUE(all_told_in_order());
}

TEST_F(requests_in_portions, decision_61_a_deep_tree_is_asked_in_portions) {
    std::vector<scope_handle> path{make_scope()};
    while (path.size() != 10'000)
        path.push_back(make_scope(path.back()));
    add_members(path.back(), 1);
    path.front()->request(scope_request::cancel);
    EXPECT_TRUE(told.empty());
    EXPECT_TRUE(path.back()->cancelled());
    run_and_find_greatest_portion();
    EXPECT_TRUE(all_told_in_order());
    while (!path.empty())
        path.pop_back();
}

TEST_F(requests_in_portions, decision_61_all_trees_together_keep_the_turn_short) {
    std::vector<scope_handle> trees;
    for (int i = 0; i != 100; ++i)
        add_members(trees.emplace_back(make_scope()), 1000);
    for (auto const& tree : trees)
        tree->request(scope_request::cancel);
    EXPECT_EQ(told.size(), 100 * of_call);
    EXPECT_LE(run_and_find_greatest_portion(), of_turn);
    EXPECT_EQ(told.size(), members.size());
}

TEST_F(family_of_scopes, decision_61_stopped_at_once_whoever_has_been_reached) {
    top->request(scope_request::drain);
    EXPECT_TRUE(child->stopped());
    EXPECT_FALSE(child->cancelled());
    top->request(scope_request::cancel);
    EXPECT_TRUE(child->cancelled());
    auto const late = make_scope(child);
    EXPECT_TRUE(late->cancelled());
    told_member unlinked(*late, 0, told);
    io.run();
    EXPECT_EQ(unlinked.heard, scope_request::none) << "it is no member";
    EXPECT_EQ(members.back().heard, scope_request::cancel);
}

TEST_F(family_of_scopes, decision_61_the_greater_request_overtakes) {
    top->request(scope_request::retry_now);
    top->request(scope_request::cancel);
    io.run();
    EXPECT_EQ(told.size(), 2 * in_each + of_call) << "who has heard of the first, and no other, hears twice";
    for (told_member const& member : members)
        ASSERT_EQ(member.heard, scope_request::cancel);
}

TEST_F(family_of_scopes, decision_61_the_lesser_request_is_forgotten) {
    top->request(scope_request::cancel);
    top->request(scope_request::retry_now);
    child->request(scope_request::retry_now);
    top->request(scope_request::drain);
    io.run();
    EXPECT_TRUE(all_told_in_order());
    EXPECT_EQ(members.back().heard, scope_request::cancel);
}

TEST_F(family_of_scopes, decision_61_again_tells_all_again_and_otherwise_nobody) {
    top->request(scope_request::cancel);
    io.run();
    io.restart();
    EXPECT_EQ(std::exchange(told, {}).size(), members.size());
    top->request(scope_request::cancel);
    io.run();
    io.restart();
    EXPECT_TRUE(told.empty());
    top->request(scope_request::cancel, true);
    top->request(scope_request::cancel); // which changes nothing
    io.run();
    EXPECT_EQ(told.size(), members.size());
}

TEST_F(requests_in_portions, decision_61_who_missed_it_when_all_were_told_again_is_told_without_the_children) {
    auto const top = make_scope_of(1);
    auto const child = make_scope_of(1, top);
    top->request(scope_request::cancel);
    bool fails = true;
    members.front().on_told = [&] {
        if (std::exchange(fails, false))
            throw std::bad_alloc();
    };
    EXPECT_THROW(top->request(scope_request::cancel, true), std::bad_alloc);
    told.clear();
    top->request(scope_request::cancel);
    EXPECT_EQ(told, std::vector<std::size_t>{0});
}

TEST_F(requests_in_portions, decision_61_a_child_may_be_asked_before_its_turn) {
    auto const top = make_scope_of(1000);
    auto const child = make_scope_of(1, top);
    auto const other = make_scope_of(100, top);
    top->request(scope_request::cancel);
    child->request(scope_request::cancel); // as its destructor does
    EXPECT_EQ(told.back(), 1000u) << "before those that wait for their turn";
    other->request(scope_request::cancel);
    io.run();
    std::sort(told.begin(), told.end());
    EXPECT_TRUE(all_told_in_order()) << "each once";
}

TEST_F(requests_in_portions, decision_61_who_is_being_told_for_its_parent_may_be_asked_by_itself) {
    auto const top = make_scope();
    auto const child = make_scope_of(1000, top);
    top->request(scope_request::retry_now);
    EXPECT_EQ(std::exchange(told, {}).size(), of_call - 1) << "and the child was asked";
    child->request(scope_request::cancel);
    EXPECT_EQ(told.size(), of_call);
    io.run();
    EXPECT_EQ(told.size(), members.size());
}

TEST_F(requests_in_portions, decision_61_who_has_ended_is_told_nothing) {
    auto const top = make_scope_of(1000);
    top->request(scope_request::cancel);
    while (members.size() > of_call)
        members.pop_back();
    io.run();
    EXPECT_TRUE(all_told_in_order());
    EXPECT_EQ(scheduler(io).pending(), 0u);
}

TEST_F(requests_in_portions, decision_61_scopes_come_and_go_meanwhile) {
    auto const top = make_scope();
    std::deque<scope_handle> children;
    for (int i = 0; i != 1000; ++i)
        children.push_back(make_scope(top));
    std::vector<std::unique_ptr<told_member>> in_children;
    for (std::size_t i = 0; i != children.size(); i += 2)
        in_children.push_back(std::make_unique<told_member>(*children[i], i, told));
    top->request(scope_request::retry_now);
    std::function<void()> const change = [&] {
        if (told.size() == in_children.size())
            return;
        scope_handle made = make_scope(top);
        children.push_back(make_scope(made));
        made.reset();
        children[2 * (told.size() / 2) + 1].reset(); // one that has no member
        asio::post(io, change);
    };
    asio::post(io, change);
    io.run();
    EXPECT_EQ(told.size(), in_children.size());
    EXPECT_TRUE(std::is_sorted(told.begin(), told.end()));
}

TEST_F(requests_in_portions, decision_61_the_last_of_a_tree_may_go_before_its_turn) {
    {
        auto const top = make_scope();
        add_members(top, 100);
        top->request(scope_request::cancel);
        members.clear();
    }
    io.run();
    EXPECT_EQ(told.size(), of_call);
    EXPECT_EQ(scheduler(io).pending(), 0u);
}

TEST_F(requests_in_portions, decision_61_without_memory_a_turn_tells_later) {
    auto const scope = make_scope_of(1000);
    int failures = 10;
    for (told_member& member : members)
        member.on_told = [&] {
            if (told.size() >= 500 && failures-- > 0)
                throw std::bad_alloc();
        };
    EXPECT_NO_THROW(scope->request(scope_request::cancel));
    EXPECT_NO_THROW(io.run());
    EXPECT_LT(failures, 0);
    std::sort(told.begin(), told.end());
    EXPECT_TRUE(all_told_in_order()) << "each once";
    scope->request(scope_request::cancel);
    EXPECT_EQ(told.size(), members.size()) << "nobody has missed it";
}

TEST_F(requests_in_portions, decision_61_who_was_not_told_for_want_of_memory_may_end) {
    auto const scope = make_scope_of(70);
    told_member& last = members.back();
    last.on_told = [&] {
        asio::post(io, [&] { last.leave(); });
        throw std::bad_alloc();
    };
    scope->request(scope_request::cancel);
    io.run();
    EXPECT_EQ(told.size(), 69u);
    EXPECT_EQ(scheduler(io).pending(), 0u);
}

TEST_F(requests_in_portions, decision_61_who_cannot_be_told_otherwise_has_missed_it) {
    auto const scope = make_scope_of(1000);
    bool fails = true;
    members[500].on_told = [&] {
        if (std::exchange(fails, false))
            throw std::runtime_error("an executor");
    };
    scope->request(scope_request::cancel);
    EXPECT_NO_THROW(io.run());
    io.restart();
    EXPECT_EQ(told.size(), 999u);
    EXPECT_EQ(members[500].heard, scope_request::none);
    scope->request(scope_request::cancel); // tells all, one of whom has missed it
    io.run();
    EXPECT_EQ(members[500].heard, scope_request::cancel);
}

/// Somebody has missed less than the scope stands for, and is told in a turn.
TEST_F(requests_in_portions, decision_61_a_turn_makes_good_what_somebody_relied_on) {
    auto const scope = make_scope_of(70);
    told_member& last = members.back();
    bool fails = true;
    last.on_told = [&] {
        if (!std::exchange(fails, false))
            return;
        scope->request(scope_request::drain); // which relies on what is being told
        throw std::runtime_error("an executor");
    };
    scope->request(scope_request::retry_now);
    io.run();
    EXPECT_EQ(last.heard, scope_request::drain);
}

// --- who is asked for less after more

/// Of those in [first, last): whether all have heard of a time, or, if there is none, to go on at once.
class asked_twice : public family_of_scopes {
protected:
    void expect_heard(std::size_t first, std::size_t last, scope_request what, duration within = 0s) {
        for (std::size_t i = first; i != last; ++i) {
            ASSERT_EQ(members[i].heard, what) << i;
            ASSERT_EQ(members[i].within, within) << i;
        }
    }
    std::size_t all() const { return members.size(); }
};

TEST_F(asked_twice, decision_62_who_went_on_at_once_is_not_sent_at_once_by_a_later_time) {
    top->request(scope_request::retry_now);
    add_members(top, 100);
    top->request(scope_request::retry_within, false, 1h);
    io.run();
    expect_heard(0, of_call, scope_request::retry_within, 1h);
    expect_heard(of_call, 2 * in_each, scope_request::retry_now);
    expect_heard(2 * in_each, all(), scope_request::retry_within, 1h);
    EXPECT_EQ(told.size(), all() + of_call);
}

TEST_F(asked_twice, decision_62_a_longer_time_is_no_shorter_for_an_earlier_one) {
    top->request(scope_request::retry_within, false, 10ms);
    add_members(top, 100);
    top->request(scope_request::retry_within, false, 1h);
    io.run();
    expect_heard(0, of_call, scope_request::retry_within, 1h);
    expect_heard(of_call, 2 * in_each, scope_request::retry_within, 10ms);
    expect_heard(2 * in_each, all(), scope_request::retry_within, 1h);
}

TEST_F(asked_twice, decision_62_a_shorter_time_is_that_of_all) {
    top->request(scope_request::retry_within, false, 1h);
    top->request(scope_request::retry_within, false, 10ms);
    io.run();
    expect_heard(0, all(), scope_request::retry_within, 10ms);
    EXPECT_EQ(told.size(), all() + of_call);
}

TEST_F(asked_twice, decision_62_at_once_is_for_all_that_wait_for_their_time) {
    top->request(scope_request::retry_now);
    top->request(scope_request::retry_within, false, 1h);
    top->request(scope_request::retry_now);
    io.run();
    expect_heard(0, all(), scope_request::retry_now);
}

TEST_F(asked_twice, decision_62_what_a_child_asked_at_once_its_parent_does_not) {
    auto const above = make_scope();
    auto const below = make_scope(above);
    add_members(below, in_each);
    below->request(scope_request::retry_now);
    above->request(scope_request::retry_within, false, 1h);
    io.run();
    expect_heard(2 * in_each, 2 * in_each + of_call, scope_request::retry_within, 1h);
    expect_heard(2 * in_each + of_call, all(), scope_request::retry_now);
}

TEST_F(asked_twice, decision_62_a_request_for_good_ends_both) {
    top->request(scope_request::retry_now);
    top->request(scope_request::retry_within, false, 1h);
    top->request(scope_request::cancel);
    io.run();
    expect_heard(0, all(), scope_request::cancel);
    EXPECT_EQ(told.size(), all() + 2 * of_call) << "the others have heard of nothing else";
}

// It has yet to take the one when the other is made.
TEST_F(requests_in_portions, decision_62_a_request_is_taken_with_its_time) {
    auto const scope = make_scope_of(2);
    members.front().takes = false;
    scope->request(scope_request::retry_within, false, 10ms);
    timed_request const taken = members.front().take();
    scope->request(scope_request::retry_within, false, 1h);
    EXPECT_EQ(taken.what, scope_request::retry_within);
    EXPECT_EQ(taken.spread, 10ms);
    EXPECT_EQ(members.front().take().spread, 1h);
}

TEST_F(requests_in_portions, decision_62_who_does_not_take_its_request_shortens_no_other) {
    auto const scope = make_scope_of(2);
    members.front().takes = false;
    scope->request(scope_request::retry_within, false, 10ms);
    scope->request(scope_request::retry_within, false, 1h);
    EXPECT_EQ(members.back().within, 1h);
    EXPECT_EQ(members.front().take().spread, 10ms) << "the shorter of both";
    EXPECT_EQ(told, (std::vector<std::size_t>{0, 1, 1}));
}

TEST_F(requests_in_portions, decision_62_who_has_yet_to_take_its_request_hears_of_a_shorter_time) {
    auto const scope = make_scope_of(1);
    members.front().takes = false;
    for (duration spread : {duration(1h), duration(10ms), duration(1min)})
        scope->request(scope_request::retry_within, false, spread);
    EXPECT_EQ(members.front().take().spread, 10ms);
    scope->request(scope_request::retry_within, false, 1h);
    scope->request(scope_request::retry_now);
    EXPECT_EQ(members.front().take().what, scope_request::retry_now);
    EXPECT_EQ(told.size(), 2u);
}

// --- scopes beside one another

/// How many turns of the context it takes to tell all members of a scope, beside a great one.
class beside_a_great_scope : public requests_in_portions {
protected:
    beside_a_great_scope() { add_members(great, 100'000); }

    std::size_t turns_until(std::function<bool()> const& done) {
        std::size_t turns = 0;
        std::function<void()> const beat = [&] {
            if (done())
                return io.stop();
            ++turns;
            asio::post(io, beat);
        };
        asio::post(io, beat);
        io.run();
        io.restart();
        return turns;
    }
    std::size_t turns_to_tell(std::size_t first, std::size_t last) {
        return turns_until([=, this] {
            return std::all_of(members.begin() + std::ptrdiff_t(first), members.begin() + std::ptrdiff_t(last),
                               [](told_member const& m) { return m.heard == scope_request::cancel; });
        });
    }

    scope_handle const top = make_scope();
    scope_handle const great = make_scope(top);
};

TEST_F(beside_a_great_scope, decision_61_a_small_one_is_told_in_a_few_turns) {
    auto const small = make_scope(top);
    add_members(small, of_turn);
    great->request(scope_request::cancel);
    small->request(scope_request::cancel);
    EXPECT_LE(turns_to_tell(100'000, members.size()), 6u);
    io.run();
    EXPECT_EQ(told.size(), members.size());
}

TEST_F(beside_a_great_scope, decision_61_its_many_children_are_one_request) {
    std::vector<scope_handle> children;
    for (int i = 0; i != 1000; ++i)
        add_members(children.emplace_back(make_scope(great)), 100);
    std::size_t const first = members.size();
    auto const small = make_scope(top);
    add_members(small, of_turn);
    great->request(scope_request::retry_now);
    turns_until([&] { return told.size() > 105'000; }); // it is among its children
    small->request(scope_request::cancel);
    EXPECT_LE(turns_to_tell(first, members.size()), 6u);
    io.run();
}

TEST_F(beside_a_great_scope, decision_61_an_operation_below_it_is_told_in_a_few_turns) {
    auto const small = make_scope(great);
    add_members(small, of_turn);
    top->request(scope_request::cancel);
    small->request(scope_request::cancel);
    EXPECT_LE(turns_to_tell(100'000, members.size()), 6u);
    io.run();
    EXPECT_EQ(told.size(), members.size()) << "each once";
}

// --- joins

class joins_in_portions : public requests_in_portions {
protected:
    static constexpr std::size_t many = 10'000;

    void begin_joins(std::size_t count) {
        while (count-- != 0)
            scope->async_join([this](error_code ec) { joined += !ec; });
    }
    std::size_t run_and_find_most_joined(std::size_t all) {
        return run_and_find_greatest_growth([this] { return joined; }, all);
    }

    std::optional<retry_scope> scope{std::in_place, io};
    std::optional<detail::scope_presence> operation{std::in_place, state_of(*scope)};
    std::size_t joined = 0;
};

TEST_F(joins_in_portions, decision_61_of_many_end_a_few_in_each_turn) {
    begin_joins(many);
    asio::post(io, [this] { operation.reset(); });
    EXPECT_LE(run_and_find_most_joined(many), 68u) << "those of a turn, and of the operation";
    EXPECT_EQ(scheduler(io).pending(), 0u);
}

TEST_F(joins_in_portions, decision_61_a_few_end_with_the_operation) {
    begin_joins(4);
    operation.reset();
    EXPECT_EQ(scheduler(io).pending(), 0u);
    begin_joins(1); // of an empty scope
    io.run();
    EXPECT_EQ(joined, 5u);
}

TEST_F(joins_in_portions, decision_61_end_though_another_operation_begins) {
    begin_joins(many);
    operation.reset();
    operation.emplace(state_of(*scope));
    begin_joins(1); // which waits for that
    while (io.poll() != 0) {
    }
    EXPECT_EQ(joined, many);
    operation.reset();
    io.run();
    EXPECT_EQ(joined, many + 1);
}

TEST_F(joins_in_portions, decision_61_of_parents_too) {
    retry_scope child(*scope);
    detail::scope_presence below(state_of(child));
    for (std::size_t i = 0; i != many; ++i)
        child.async_join([this](error_code ec) { joined += !ec; });
    begin_joins(many);
    operation.reset();
    asio::post(io, [last = std::move(below)] {});
    EXPECT_LE(run_and_find_most_joined(2 * many), 68u);
}

TEST_F(joins_in_portions, decision_61_that_are_drains_end_in_time) {
    virtual_time time(io);
    std::size_t stopped = 0;
    for (std::size_t i = 0; i != many; ++i)
        scope->async_drain(1min, [&](error_code ec, std::size_t count) {
            joined += !ec;
            stopped += count;
        });
    time.advance(1min - 1ns);
    operation.reset();
    operation.emplace(state_of(*scope)); // later ones are no matter of theirs
    time.advance(1ns);
    EXPECT_EQ(joined, many);
    EXPECT_EQ(stopped, 0u);
    EXPECT_FALSE(scope->cancelled()) << "the drains were over in time";
    operation.reset();
}

TEST_F(joins_in_portions, decision_61_may_be_cancelled_before_their_turn) {
    asio::cancellation_signal signal;
    begin_joins(100);
    error_code last;
    scope->async_join(asio::bind_cancellation_slot(signal.slot(), [&](error_code ec) { last = ec; }));
    operation.reset();
    signal.emit(asio::cancellation_type::terminal);
    io.run();
    EXPECT_EQ(joined, 100u);
    EXPECT_EQ(last, aborted());
}

// Their handlers run elsewhere, so they do not need the context.
TEST(joins_at_the_end, decision_61_of_a_context_are_not_lost) {
    asio::io_context handlers;
    std::size_t joined = 0;
    {
        asio::io_context io;
        retry_scope scope(io);
        std::optional<detail::scope_presence> operation(std::in_place, state_of(scope));
        for (int i = 0; i != 1000; ++i)
            scope.async_join(
                asio::bind_executor(handlers.get_executor(), [&](error_code ec) { joined += !ec; }));
        operation.reset();
        handlers.poll();
        EXPECT_LT(joined, 1000u);
    }
    handlers.restart();
    handlers.run();
    EXPECT_EQ(joined, 1000u);
}

// --- operations

retry_policy once_more_in_an_hour() {
    return retry_policy().backoff(constant(1h)).jitter(no_jitter()).max_attempts(2);
}

class operations_in_portions : public testing::Test {
protected:
    auto note() {
        return [this](error_code ec) {
            ++ended;
            aborted_ones += ec == aborted();
        };
    }
    void start_waiting(retry_scope& scope, int count) {
        while (count-- != 0)
            async_retry(
                scope, [n = 0]() mutable { return n++ == 0 ? refused() : error_code(); },
                once_more_in_an_hour(), note());
    }
    /// Attempts that end when they are told to.
    void start_attempting(retry_scope& scope, int count) {
        while (count-- != 0) {
            auto& timer = timers.emplace_back(io, asio::steady_timer::time_point::max());
            async_retry(
                scope, [&timer](auto token) { return timer.async_wait(std::move(token)); },
                once_more_in_an_hour(), note());
        }
    }

    asio::io_context io{1};
    std::deque<asio::steady_timer> timers;
    int ended = 0;
    int aborted_ones = 0;
};

TEST_F(operations_in_portions, decision_61_are_all_sent_to_retry) {
    retry_scope scope(io);
    start_waiting(scope, 1000);
    while (io.poll() != 0) {
    }
    scope.retry_now();
    io.run();
    EXPECT_EQ(ended, 1000);
    EXPECT_EQ(aborted_ones, 0);
}

TEST_F(operations_in_portions, decision_61_are_all_cancelled_by_the_destructor) {
    {
        retry_scope scope(io), child(scope);
        start_waiting(scope, 1000);
        start_attempting(child, 1000);
        while (io.poll() != 0) {
        }
    }
    io.run();
    EXPECT_EQ(ended, 2000);
    EXPECT_EQ(aborted_ones, 2000);
}

TEST_F(operations_in_portions, decision_61_make_no_attempt_before_they_are_told) {
    virtual_time time(io);
    retry_scope scope(io), child(scope);
    start_waiting(scope, 1000);
    int attempts = 0;
    async_retry(child, [&] { return ++attempts, refused(); }, once_more_in_an_hour(), note());
    time.advance(0s);
    EXPECT_EQ(attempts, 1);
    scope.cancel();
    async_retry(child, [&] { return ++attempts, refused(); }, once_more_in_an_hour(), note());
    time.advance(1h);
    EXPECT_EQ(attempts, 1);
    EXPECT_EQ(aborted_ones, 1002);
}

TEST_F(operations_in_portions, decision_61_end_by_themselves_before_they_are_told) {
    retry_scope scope(io);
    start_attempting(scope, 1000);
    io.poll();
    scope.cancel();
    for (asio::steady_timer& timer : timers)
        timer.expires_at(asio::steady_timer::time_point::min()); // they end with operation_aborted
    io.run();
    EXPECT_EQ(ended, 1000);
}

TEST_F(operations_in_portions, decision_61_a_drain_counts_whom_its_turns_have_stopped) {
    virtual_time time(io);
    retry_scope scope(io), child(scope);
    start_waiting(scope, 1000);
    start_attempting(scope, 1000);
    start_attempting(child, 1000);
    time.advance(1s);
    std::optional<std::size_t> stopped;
    scope.async_drain(1min, [&](error_code, std::size_t count) { stopped = count; });
    time.advance(59s);
    EXPECT_EQ(ended, 1000);
    EXPECT_FALSE(stopped);
    time.advance(1s);
    EXPECT_EQ(ended, 3000);
    EXPECT_EQ(stopped, 2000u);
    EXPECT_EQ(scheduler(io).pending(), 0u);
}

TEST_F(operations_in_portions, decision_61_are_told_at_once_where_no_turn_comes) {
    std::optional<asio::io_context> waits(std::in_place);
    std::optional<retry_scope> scope(std::in_place, *waits);
    start_waiting(*scope, 1); // it is there when the context ends
    waits->poll();
    std::deque<told_member> members;
    std::vector<std::size_t> told;
    auto const handle = state_of(*scope);
    for (std::size_t i = 0; i != 1000; ++i)
        members.emplace_back(*handle, i, told);
    auto const cancel = [&](int*) { handle->request(scope_request::cancel); };
    int last = 0;
    async_retry(
        *scope, [] { return refused(); }, once_more_in_an_hour(),
        [ends = std::shared_ptr<int>(&last, cancel)](error_code) {});
    waits->poll();
    waits.reset();
    EXPECT_EQ(told.size(), 1000u);
    members.clear();
}

/// Of scopes in a context that has never had a wait.
class members_at_the_end : public testing::Test {
protected:
    void add_members(scope_handle const& scope) {
        for (std::size_t i = 0; i != 1000; ++i)
            members.emplace_back(*scope, i, told);
    }
    void expect_all_told_once() {
        EXPECT_EQ(told.size(), members.size());
        members.clear();
    }

    std::vector<std::size_t> told;
    std::deque<told_member> members;
};

TEST_F(members_at_the_end, decision_61_of_a_context_are_told_at_once) {
    {
        asio::io_context io;
        auto scope = std::make_shared<retry_scope>(io);
        add_members(state_of(*scope));
        asio::post(io, [last = std::move(scope)] {}); // is destroyed with the context, and cancels
    }
    expect_all_told_once();
}

/// A service, which is destroyed after the scheduler of its context.
struct scope_owner final : asio::execution_context::service {
    using key_type = scope_owner;
    static inline asio::execution_context::id id;
    using service::service;
    void shutdown() override {}
    std::optional<retry_scope> scope;
};

TEST_F(members_at_the_end, decision_61_of_a_service_of_a_context_are_told_at_once) {
    {
        asio::io_context io;
        auto& scope = asio::use_service<scope_owner>(io).scope;
        scope.emplace(io);
        add_members(state_of(*scope));
    }
    expect_all_told_once();
}

} // namespace
} // namespace asio_retry::test
