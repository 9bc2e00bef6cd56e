#include <asio_retry/detail/operation/operation_state.hpp>

#include "support/places.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <initializer_list>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace asio_retry::detail {
namespace {

using enum operation_event;
using stage = operation_stage;
using step = operation_step;
using place = operation_state::place;
using interrupter = operation_state::interrupter;

std::map<std::string, stage> const stages{{"starting", stage::starting}, {"attempting", stage::attempting},
                                          {"judging", stage::judging},   {"waiting", stage::waiting},
                                          {"queued", stage::queued},     {"ending", stage::ending}};

std::map<std::string, step> const steps{{"leave", step::leave},
                                        {"refuse_start", step::refuse_start},
                                        {"conclude_attempt", step::conclude_attempt},
                                        {"resume", step::resume},
                                        {"complete_failed", step::complete_failed},
                                        {"finish", step::finish},
                                        {"abandon", step::abandon}};

std::map<std::string, operation_event> const events{
    {"start_refused", start_refused},   {"attempt_ended", attempt_ended}, {"wait_ended", wait_ended},
    {"limit_reached", limit_reached},   {"scope_noticed", scope_noticed}, {"step_failed", step_failed},
    {"coroutine_lost", coroutine_lost}, {"owner_dropped", owner_dropped}};

/// Brings a new state as far as a stage.
void go_to(operation_state& state, stage to) {
    switch (to) {
    case stage::starting:
        return;
    case stage::attempting:
        return state.begin_attempt();
    case stage::judging:
        state.begin_attempt();
        return state.begin_judging();
    case stage::waiting:
        return state.begin_wait();
    case stage::queued:
        return state.skip_wait();
    case stage::ending:
        return state.complete();
    }
}

step next_in(stage where, operation_event what) {
    operation_state state;
    go_to(state, where);
    return state.advance(what);
}

std::vector<std::string> cells(std::string const& line) {
    std::vector<std::string> result;
    std::istringstream in(line);
    for (std::string cell; std::getline(in, cell, '|');) {
        std::string text;
        for (char const c : cell)
            if (c != ' ' && c != '`')
                text += c;
        result.push_back(text);
    }
    return result; // before the first bar there is nothing
}

struct row {
    std::string stage;
    std::map<std::string, std::string> steps; // by event, where that is legal
};

/// The table below the heading "What may happen to an operation".
std::vector<row> documented() {
    std::ifstream in(test::file_of_project("doc/internals/architecture.md"));
    std::vector<row> rows;
    std::vector<std::string> names;
    bool found = false;
    for (std::string line; std::getline(in, line);) {
        if (line.starts_with("## "))
            found = line == "## What may happen to an operation";
        if (!found || !line.starts_with("|") || line.starts_with("|---"))
            continue;
        auto const columns = cells(line);
        if (names.empty()) {
            names = columns;
            continue;
        }
        row r{columns.at(1), {}};
        for (std::size_t i = 2; i < columns.size(); ++i)
            if (!columns[i].empty())
                r.steps[names.at(i)] = columns[i];
        rows.push_back(r);
    }
    return rows;
}

TEST(operation_state, is_what_the_table_says) {
    auto const rows = documented();
    ASSERT_EQ(rows.size(), operation_stages);
    for (row const& r : rows) {
        ASSERT_TRUE(stages.contains(r.stage)) << r.stage;
        stage const where = stages.at(r.stage);
        for (auto const& [name, event] : events) {
            SCOPED_TRACE(r.stage + ", " + name);
            bool const is_legal = (operation_state::legal_in(where) & event) != nothing;
            ASSERT_EQ(is_legal, r.steps.contains(name));
            if (is_legal) {
                ASSERT_TRUE(steps.contains(r.steps.at(name))) << r.steps.at(name);
                EXPECT_EQ(next_in(where, event), steps.at(r.steps.at(name)));
            }
        }
    }
}

TEST(operation_state, nothing_happened_and_nothing_follows) {
    for (stage const where :
         {stage::starting, stage::attempting, stage::judging, stage::waiting, stage::queued})
        EXPECT_EQ(next_in(where, nothing), step::leave);
    EXPECT_EQ(next_in(stage::ending, nothing), step::finish);
}

TEST(operation_state, what_comes_first_when_much_has_happened) {
    for (auto const& [name, where] : stages) {
        SCOPED_TRACE(name);
        EXPECT_EQ(next_in(where, operation_state::legal_in(where)), step::abandon);
    }
    EXPECT_EQ(next_in(stage::starting, start_refused | step_failed), step::refuse_start);
    EXPECT_EQ(next_in(stage::attempting, attempt_ended | step_failed), step::complete_failed);
    EXPECT_EQ(next_in(stage::attempting, attempt_ended | limit_reached | scope_noticed),
              step::conclude_attempt);
    EXPECT_EQ(next_in(stage::attempting, coroutine_lost | limit_reached), step::conclude_attempt);
    EXPECT_EQ(next_in(stage::waiting, wait_ended | scope_noticed), step::resume);
    EXPECT_EQ(next_in(stage::waiting, wait_ended | step_failed), step::complete_failed);
    EXPECT_EQ(next_in(stage::ending, limit_reached | scope_noticed), step::finish);
}

TEST(operation_state, goes_from_attempt_to_wait_to_attempt_to_its_end) {
    operation_state state;
    EXPECT_TRUE(state.is(stage::starting));
    state.begin_attempt();
    EXPECT_TRUE(state.is(stage::attempting));
    EXPECT_EQ(state.advance(attempt_ended), step::conclude_attempt);
    EXPECT_TRUE(state.is(stage::judging));
    state.begin_wait();
    EXPECT_TRUE(state.is(stage::waiting));
    EXPECT_EQ(state.advance(scope_noticed), step::leave);
    EXPECT_TRUE(state.is(stage::waiting));
    state.skip_wait();
    EXPECT_TRUE(state.is(stage::queued));
    EXPECT_EQ(state.advance(wait_ended), step::resume);
    state.begin_attempt();
    EXPECT_EQ(state.advance(coroutine_lost), step::conclude_attempt);
    EXPECT_TRUE(state.is(stage::judging));
    state.complete();
    EXPECT_TRUE(state.is(stage::ending));
    EXPECT_FALSE(state.was_abandoned());
    EXPECT_EQ(state.advance(scope_noticed), step::finish);
    state.abandon();
    EXPECT_TRUE(state.is(stage::ending));
    EXPECT_TRUE(state.was_abandoned());
}

TEST(operation_state, a_limit_is_disarmed_by_its_notice_whatever_else_happened) {
    for (operation_event const what : {nothing, attempt_ended, scope_noticed, owner_dropped}) {
        operation_state state;
        state.begin_attempt();
        state.expect_limit();
        state.advance(what);
        EXPECT_TRUE(state.expects_limit());
    }
    for (operation_event const more : {nothing, attempt_ended, scope_noticed, owner_dropped}) {
        operation_state state;
        state.begin_attempt();
        state.expect_limit();
        state.advance(more | limit_reached);
        EXPECT_FALSE(state.expects_limit());
    }
}

// The notice may be under way when the attempt has ended; the operation is concluded when it has come.
TEST(operation_state, a_late_notice_concludes_the_attempt_that_it_was_for) {
    operation_state state;
    state.begin_attempt();
    state.expect_limit();
    EXPECT_EQ(state.advance(attempt_ended), step::conclude_attempt);
    EXPECT_TRUE(state.expects_limit());
    EXPECT_EQ(state.advance(limit_reached), step::conclude_attempt);
    EXPECT_FALSE(state.expects_limit());
}

TEST(operation_state, is_lost_with_its_turn_unless_it_is_in_other_hands) {
    auto const lost_in = [](stage where, operation_event what) {
        operation_state state;
        go_to(state, where);
        return state.advance_without_turn(what);
    };
    EXPECT_FALSE(lost_in(stage::attempting, scope_noticed));
    EXPECT_FALSE(lost_in(stage::attempting, limit_reached));
    EXPECT_FALSE(lost_in(stage::waiting, scope_noticed));
    EXPECT_FALSE(lost_in(stage::queued, scope_noticed));
    EXPECT_TRUE(lost_in(stage::judging, scope_noticed));
    EXPECT_TRUE(lost_in(stage::attempting, attempt_ended));
    EXPECT_TRUE(lost_in(stage::starting, start_refused));
    EXPECT_TRUE(lost_in(stage::starting, step_failed));
    EXPECT_TRUE(lost_in(stage::waiting, wait_ended));
    EXPECT_TRUE(lost_in(stage::waiting, owner_dropped));
    EXPECT_TRUE(lost_in(stage::ending, scope_noticed));
}

TEST(operation_state, whoever_comes_while_it_is_occupied_leaves_what_happened) {
    operation_state state; // occupied by the initiating function
    EXPECT_TRUE(state.is_in_initiation());
    EXPECT_FALSE(state.enter(place::executor, scope_noticed));
    EXPECT_FALSE(state.enter_after(attempt_ended));
    EXPECT_TRUE(state.is_in_initiation());
    EXPECT_FALSE(state.is_on_executor());
    EXPECT_EQ(state.occupancy.leave(), scope_noticed | attempt_ended);
    EXPECT_EQ(state.occupancy.leave(), nothing);

    EXPECT_TRUE(state.enter(place::cancellation, nothing));
    EXPECT_FALSE(state.is_in_initiation());
    EXPECT_FALSE(state.is_on_executor());
    state.go_to_executor();
    EXPECT_TRUE(state.is_on_executor());
    EXPECT_EQ(state.occupancy.leave(), nothing);
}

TEST(operation_state, whoever_carries_it_on_is_on_the_executor) {
    for (interrupter const who :
         {interrupter::nobody, interrupter::caller, interrupter::limit, interrupter::scope}) {
        operation_state state;
        state.let_interrupt(who);
        EXPECT_EQ(state.is_interruptible(), who != interrupter::nobody);
        EXPECT_EQ(state.others_interrupt(), who == interrupter::limit || who == interrupter::scope);
        EXPECT_EQ(state.is_scoped(), who == interrupter::scope);
        EXPECT_EQ(state.occupancy.leave(), nothing);
        EXPECT_TRUE(state.enter_after(attempt_ended));
        EXPECT_TRUE(state.is_on_executor());
        EXPECT_FALSE(state.enter_after(attempt_ended));
        EXPECT_EQ(state.occupancy.leave(), attempt_ended);
    }
}

// --- who is in

TEST(occupancy, what_is_left_for_nobody_is_the_next_occupants) {
    detail::occupancy inside; // by the initiating function
    EXPECT_EQ(inside.leave(), nothing);
    inside.add(attempt_ended);
    EXPECT_TRUE(inside.enter(limit_reached)) << "which it sees to itself";
    EXPECT_FALSE(inside.enter(scope_noticed));
    EXPECT_EQ(inside.leave(), attempt_ended | scope_noticed);
    EXPECT_EQ(inside.leave(), nothing);
    EXPECT_TRUE(inside.enter());
}

TEST(occupancy, lasts_no_longer_while_somebody_tells_the_attempt_to_stop) {
    detail::occupancy inside;
    EXPECT_TRUE(inside.begin_telling());
    EXPECT_EQ(inside.leave(), nothing) << "to be told is no event";
    EXPECT_TRUE(inside.enter());
    inside.add(limit_reached);
    EXPECT_EQ(inside.take_all(), limit_reached);
    EXPECT_FALSE(inside.begin_telling()) << "it goes on";
    inside.end_telling();
    EXPECT_TRUE(inside.begin_telling());
    inside.end_telling();
    EXPECT_EQ(inside.leave(), nothing);
    EXPECT_TRUE(inside.enter_after_telling(attempt_ended));
}

} // namespace
} // namespace asio_retry::detail
