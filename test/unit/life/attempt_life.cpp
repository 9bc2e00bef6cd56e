#include "support/life_walk.hpp"
#include "support/places.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace asio_retry::test {
namespace {

// --- the table

using life = detail::attempt_life<2>;
using detail::life_event;
using detail::life_step;

/// What a life knows, as far as its next step depends on it.
struct facts {
    bool is_lost = false;
    bool has_request = false;
    bool has_ended = false; // attempt 1
    bool runs = false;      // attempt 2
    life::timer timer = life::timer::none;
    bool is_new = false; // for the machine
    enum { open, known, told, abandoned } end = open;
    bool has_returned = false; // the handler
    bool is_linked = false;
    life::place place = life::place::executor;

    bool has_no_end() const { return end == open || (end == told && runs); }
    bool is_in_initiation() const { return place <= life::place::last_of_initiation; }
};

void make(life& one, facts const& known) {
    if (known.has_returned)
        one.put_in(life_event::returned);
    (void)one.take_question();
    if (known.has_ended)
        one.starting(1);
    if (known.runs)
        one.starting(2);
    one.put_in(detail::attempt_ended(1));
    one.set_timer(known.timer);
    if (known.end == facts::known || known.end == facts::told)
        one.know_end();
    if (known.end == facts::told)
        one.stay();
    if (known.end == facts::abandoned)
        one.abandon();
    if (known.is_linked)
        one.link();
    if (known.has_request)
        one.put_in(life_event::scope_noticed);
    if (known.is_lost)
        one.lose_owner();
    if (known.is_new)
        one.ask();
    if (known.place == life::place::last_of_initiation)
        one.end_initiation_here();
    if (known.place == life::place::executor)
        one.go_to_executor();
    if (known.place == life::place::cancellation) {
        (void)one.occupancy.leave();
        one.enter(life::place::cancellation, life_event::nothing);
    }
}

/// A row of the table: the first one that holds counts.
struct situation {
    char const* name;
    bool (*holds)(facts const&);
    life_step step;
};

std::vector<situation> const situations{
    {"nobody goes on with the operation",
     [](facts const& f) {
         return f.is_lost && !f.runs && f.timer != life::timer::wait && f.end <= facts::known;
     },
     life_step::revive},
    {"the scope has a request", [](facts const& f) { return f.has_request; }, life_step::take_request},
    {"an attempt has ended, and its time limit is armed",
     [](facts const& f) { return f.has_ended && f.timer == life::timer::limit; }, life_step::free_timer},
    {"an attempt has ended", [](facts const& f) { return f.has_ended; }, life_step::judge},
    {"no end is known, and nothing is new for the machine",
     [](facts const& f) { return f.has_no_end() && !f.is_new; }, life_step::leave},
    {"no end is known, in the initiating function or in a cancellation",
     [](facts const& f) {
         return f.has_no_end() && (f.place == life::place::initiation || f.place == life::place::cancellation);
     },
     life_step::leave},
    {"no end is known", [](facts const& f) { return f.has_no_end(); }, life_step::ask},
    {"the timer is armed", [](facts const& f) { return f.timer != life::timer::none; }, life_step::free_timer},
    {"the scope knows the operation", [](facts const& f) { return f.is_linked; }, life_step::unlink},
    {"abandoned", [](facts const& f) { return f.end == facts::abandoned; }, life_step::dissolve},
    {"delivered, and the handler runs", [](facts const& f) { return f.end == facts::told && !f.has_returned; },
     life_step::leave},
    {"delivered", [](facts const& f) { return f.end == facts::told; }, life_step::dissolve},
    {"the end is known in the initiating function, and no attempt runs",
     [](facts const& f) { return f.is_in_initiation() && !f.runs; }, life_step::deliver_later},
    {"the end is known, but not on the executor",
     [](facts const& f) { return f.place != life::place::executor; }, life_step::leave},
    {"the end is known, and an attempt runs", [](facts const& f) { return f.runs; },
     life_step::deliver_and_stay},
    {"the end is known", [](facts const&) { return true; }, life_step::deliver},
};

/// Calls `check` with every combination that a life can have.
template <typename Check>
void for_all_facts(Check check) {
    constexpr bool both[] = {false, true};
    for (auto const end : {facts::open, facts::known, facts::told, facts::abandoned})
        for (auto const timer : {life::timer::none, life::timer::limit, life::timer::wait})
            for (auto const place : {life::place::initiation, life::place::last_of_initiation,
                                     life::place::cancellation, life::place::executor})
                for (unsigned flags = 0; flags != 1u << 7; ++flags) {
                    auto const has = [&](unsigned bit) { return both[flags >> bit & 1]; };
                    facts const one{has(0), has(1), has(2), has(3), timer, has(4), end, has(5), has(6), place};
                    bool const keeps_dropped_result = one.end == facts::abandoned && one.has_ended;
                    bool const loses_owner_at_start = one.is_lost && one.is_in_initiation();
                    if (!keeps_dropped_result && !loses_owner_at_start)
                        check(one);
                }
}

std::string name_of(life_step step) {
    static std::map<life_step, std::string> const names{{life_step::leave, "leave"},
                                                        {life_step::take_request, "take_request"},
                                                        {life_step::judge, "judge"},
                                                        {life_step::ask, "ask"},
                                                        {life_step::revive, "revive"},
                                                        {life_step::free_timer, "free_timer"},
                                                        {life_step::unlink, "unlink"},
                                                        {life_step::deliver, "deliver"},
                                                        {life_step::deliver_later, "deliver_later"},
                                                        {life_step::deliver_and_stay, "deliver_and_stay"},
                                                        {life_step::dissolve, "dissolve"}};
    return names.at(step);
}

std::string table_of_the_code() {
    std::string result;
    for (situation const& one : situations)
        result += std::string("| ") + one.name + " | `" + name_of(one.step) + "` |\n";
    return result;
}

/// The rows below the heading "What comes next".
std::string table_of_the_page() {
    std::ifstream in(file_of_project("doc/internals/lifecycle.md"));
    std::string result;
    bool is_there = false;
    int rows = 0;
    for (std::string line; std::getline(in, line);) {
        if (line.starts_with("## "))
            is_there = line == "## What comes next";
        if (is_there && line.starts_with("|") && ++rows > 2)
            result += line + "\n";
    }
    return result;
}

TEST(attempt_life, next_step_is_what_the_table_says) {
    EXPECT_EQ(table_of_the_page(), table_of_the_code());
    std::set<situation const*> seen;
    for_all_facts([&](facts const& known) {
        auto const row =
            std::ranges::find_if(situations, [&](situation const& one) { return one.holds(known); });
        seen.insert(&*row);
        life one;
        make(one, known);
        ASSERT_EQ(name_of(one.next()), name_of(row->step)) << row->name;
    });
    EXPECT_EQ(seen.size(), situations.size());
}

TEST(attempt_life, seeks_an_owner_when_its_wait_is_lost_and_asks_the_machine_when_it_is_over) {
    for (auto const& [event, step] : {std::pair(life_event::timer_lost, life_step::revive),
                                      std::pair(life_event::timer_due, life_step::ask)}) {
        life one;
        (void)one.take_question();
        one.set_timer(life::timer::wait);
        one.go_to_executor();
        one.put_in(event);
        EXPECT_EQ(name_of(one.next()), name_of(step));
    }
}

TEST(attempt_life, goes_on_here_as_on_its_executor_unless_it_would_end_in_the_initiating_function) {
    life resting, running;
    running.starting(1);
    for (life* one : {&resting, &running})
        one->go_on_here(life_event::called);
    EXPECT_FALSE(resting.is_on_executor());
    EXPECT_TRUE(resting.is_in_initiation());
    EXPECT_TRUE(running.is_on_executor());
}

// The end of a wait may run in a turn of the scheduler; a limit stops an attempt, which runs the user's code.
TEST(attempt_life, lets_a_timer_end_in_the_turn_of_the_scheduler_only_while_no_attempt_runs) {
    using enum life::timer;
    for (auto const why : {none, limit, wait, queued})
        for (bool const runs : {false, true}) {
            life one;
            if (runs)
                one.starting(1);
            one.set_timer(why);
            EXPECT_EQ(one.waits(), !runs && (why == wait || why == queued));
        }
}

TEST(attempt_life, queues_no_turn_on_an_executor_that_has_destroyed_one) {
    life one;
    one.starting(1);
    one.go_to_executor();
    one.lose_executor();
    one.lose_owner();
    one.ask();
    EXPECT_EQ(name_of(one.next()), name_of(life_step::leave));
    EXPECT_EQ(one.occupancy.take_all(), life_event::nothing);
}

// --- every order of events

TEST(attempt_life, ends_after_every_order_of_seven_events_of_a_retry) {
    for (walk_shape const& shape : walk_shapes<1>())
        EXPECT_EQ(fault_of_every_walk<1>(shape, 7), "");
}

TEST(attempt_life, ends_after_every_order_of_five_events_of_two_attempts) {
    for (walk_shape const& shape : walk_shapes<2>())
        EXPECT_EQ(fault_of_every_walk<2>(shape, 5), "");
}

// The word of an operation with one attempt has no bits for the ends of sixteen.
TEST(occupancy, stays_occupied_while_the_occupant_takes_the_ends_of_attempts) {
    detail::basic_occupancy<detail::life_event, std::uint16_t> narrow;
    EXPECT_TRUE(narrow.begin_telling());
    narrow.add(detail::attempt_ended(1) | detail::life_event::called);
    EXPECT_EQ(narrow.take_those(detail::all_attempts), detail::attempt_ended(1));
    EXPECT_FALSE(narrow.enter());
    EXPECT_FALSE(narrow.begin_telling());
    narrow.end_telling();
    EXPECT_EQ(narrow.leave(), detail::life_event::called);
}

} // namespace
} // namespace asio_retry::test
