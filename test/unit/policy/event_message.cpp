// What an event says in words, and of which kind it is.
#include <asio_retry/format.hpp>
#include <asio_retry/retry_event.hpp>
#include <asio_retry/retry_machine.hpp>

#include "support/named_gate.hpp"
#include "support/script.hpp"

#include <boost/system/system_error.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace asio_retry::test {
namespace {

retry_policy event_policy() {
    return endless_every_100ms().pushback_spread(0);
}

template <typename T>
std::string streamed(T const& shown) {
    std::ostringstream out;
    out << shown;
    return out.str();
}

TEST(event_message, decision_49_is_what_the_exception_says_or_the_code) {
    machine_script script(event_policy());
    script.start();
    script.fail_with(std::runtime_error("no such host"));
    script.wake();
    script.fail({}, detail::timed_out_error());
    script.wake();
    script.fail({}, verdict::failure(std::make_exception_ptr(42)));
    script.wake();
    script.fail_with(boost::system::system_error(detail::timed_out_error(), "read"));
    ASSERT_EQ(script.retries.size(), 4u);
    EXPECT_EQ(script.retries[0].message(), "no such host");
    EXPECT_EQ(script.retries[1].message(), detail::timed_out_error().message());
    EXPECT_EQ(script.retries[2].message(), make_error_code(error::operation_threw).message());
    EXPECT_EQ(script.retries[3].message(), "read: " + detail::timed_out_error().message());
    EXPECT_EQ(retry_event().message(), "succeeded");
}

// Boost writes them behind the text of a code: "End of file [asio.misc:2 at /usr/include/boost/asio/... in
// function 'do_complete']".
TEST(event_message, decision_49_has_no_number_of_a_code_and_no_place_in_a_header) {
    auto const message_of_thrown = [](std::string const& what) {
        machine_script script(event_policy());
        script.start();
        script.fail(
            {}, verdict::failure(detail::timed_out_error(), std::make_exception_ptr(std::runtime_error(what))));
        return script.retries.at(0).message();
    };
    std::string const text = detail::timed_out_error().message();
    EXPECT_EQ(message_of_thrown(text + " [system:110]"), text);
    EXPECT_EQ(message_of_thrown("read: " + text + " [system:110 at x.hpp:1 in function 'f']"), "read: " + text);
    EXPECT_EQ(message_of_thrown(text + " [system:110] of a"), text + " [system:110] of a") << "more follows";
    EXPECT_EQ(message_of_thrown(text + "]"), text + "]");
    EXPECT_EQ(message_of_thrown("a [b]"), "a [b]");
}

TEST(event_message, decision_49_of_a_judged_value_is_the_status_and_what_the_server_said) {
    machine_script script(event_policy());
    script.start();
    std::vector<judgement> const judged = {judge_http(503, "1"),
                                           judge_http(429),
                                           {true, {}, pushback::after(1500ms)},
                                           {true, {}, {}},
                                           judge_http(503, "0")};
    for (judgement const& one : judged) {
        script.fail({}, verdict::rejected(one));
        script.wake();
    }
    std::string const rejected = make_error_code(error::result_rejected).message();
    std::vector<std::string> messages;
    for (retry_event const& event : script.retries)
        messages.push_back(event.message());
    EXPECT_THAT(messages,
                testing::ElementsAre("HTTP 503, retry after 1 s", "HTTP 429", rejected + ", retry after 1.5 s",
                                     rejected, "HTTP 503, retry after 0 s"));
    EXPECT_EQ(script.retries.at(0).status, 503);
    EXPECT_EQ(script.retries.at(0).said, pushback::after(1s));
    EXPECT_EQ(script.retries.at(2).status, 0);

    judgement never = judge_http(503);
    never.said = pushback::never();
    script.fail({}, verdict::rejected(never));
    EXPECT_EQ(script.give_ups.at(0).message(), "HTTP 503, no retry wanted");
}

TEST(event_message, decision_49_of_a_limit_says_which_and_how_long_it_is) {
    machine_script attempt(event_policy().attempt_timeout(500ms));
    attempt.start();
    attempt.expire(0s, 501ms);
    EXPECT_EQ(attempt.retries.at(0).message(), "attempt timed out after 500 ms");
    EXPECT_EQ(attempt.retries[0].limit, time_limit::attempt_timeout);
    EXPECT_EQ(attempt.retries[0].allowed, 500ms);
    EXPECT_EQ(attempt.retries[0].took, 501ms);
    attempt.wake(601ms);
    attempt.expire(601ms, 1102ms, verdict::failure(std::make_exception_ptr(std::runtime_error("cut off"))));
    EXPECT_EQ(attempt.retries.at(1).message(), "attempt timed out after 500 ms");
    attempt.wake(1202ms);
    attempt.fail(1203ms);
    EXPECT_EQ(attempt.retries.at(2).message(), unreachable().message());
    EXPECT_EQ(attempt.retries[2].limit, time_limit::none);

    machine_script total(event_policy().total_timeout(3s));
    total.start();
    total.expire(0s, 3001ms);
    EXPECT_EQ(total.give_ups.at(0).message(), "operation timed out after 3 s");
    EXPECT_EQ(total.give_ups[0].limit, time_limit::total_timeout);

    machine_script deadline(event_policy().deadline(time_point(1h + 2s)));
    deadline.start();
    deadline.expire(0s, 2s);
    EXPECT_EQ(deadline.give_ups.at(0).message(), "deadline reached after 2 s");
    EXPECT_EQ(deadline.give_ups[0].limit, time_limit::deadline);

    machine_script inherited(event_policy().total_timeout(3s));
    inherited.machine.inherit_deadline(inherited.begin + 1s);
    inherited.start();
    inherited.expire(0s, 1s);
    EXPECT_EQ(inherited.give_ups.at(0).message(), "inherited deadline reached after 1 s");
    EXPECT_EQ(inherited.give_ups[0].limit, time_limit::inherited);
}

TEST(event_message, decision_49_of_an_attempt_that_was_not_set_up_or_fell_silent) {
    machine_script script(event_policy().setup_timeout(10s).idle_timeout(2s).attempt_timeout(60s));
    script.machine.expect_marks();
    script.start();
    script.limit(0s);
    script.machine.on_progress(script.begin + 1s);
    script.machine.on_attempt_limit(script.begin + 3s);
    script.fail(3s, detail::aborted_error());
    EXPECT_EQ(script.retries.at(0).message(), "attempt was silent for 2 s");

    script.wake(4s);
    script.limit(4s);
    for (auto const at : {5s, 7s, 9s, 11s, 13s})
        script.machine.on_progress(script.begin + at);
    script.machine.on_attempt_limit(script.begin + 14s);
    script.fail(14s, detail::aborted_error());
    EXPECT_EQ(script.retries.at(1).message(), "attempt was not set up within 10 s");

    script.wake(15s);
    script.limit(15s);
    script.machine.on_healthy(script.begin + 16s);
    script.machine.on_progress(script.begin + 74s);
    script.machine.on_attempt_limit(script.begin + 75s);
    script.fail(75s, detail::aborted_error());
    EXPECT_EQ(script.retries.at(2).message(), "attempt timed out after 60 s");
}

// The next attempt has not begun then, and the signs of the last one are old.
TEST(event_message, decision_49_names_the_limit_of_the_last_attempt_when_a_gate_refuses_the_next) {
    auto const gate = std::make_shared<named_gate>();
    gate->refused_from = 2;
    machine_script script(event_policy().attempt_timeout(10s).idle_timeout(9s).setup_timeout(8s).gate(gate));
    script.machine.expect_marks();
    script.start();
    script.limit(0s);
    script.machine.on_healthy(script.begin + 2s);
    script.machine.on_attempt_limit(script.begin + 10s);
    script.fail(10s, detail::aborted_error());
    EXPECT_EQ(script.retries.at(0).limit, time_limit::attempt_timeout);
    script.wake(11s);
    ASSERT_EQ(script.give_ups.size(), 1u);
    EXPECT_EQ(script.give_ups[0].reason, stop_reason::refused);
    EXPECT_EQ(script.give_ups[0].limit, time_limit::attempt_timeout);
    EXPECT_EQ(script.give_ups[0].allowed, 10s);
    EXPECT_EQ(script.give_ups[0].message(), "attempt timed out after 10 s");
}

TEST(event_message, decision_49_writes_times_for_a_reader) {
    retry_event event;
    event.stopped = interruption::attempt_timeout;
    std::pair<duration, char const*> const all[] = {
        {1ns, "1 ns"},       {1500ns, "1.5 us"}, {20ms, "20 ms"}, {1234567us, "1.234 s"},
        {1001ms, "1.001 s"}, {1000400us, "1 s"}, {90s, "90 s"},   {2h, "7200 s"},
    };
    for (auto const& [took, text] : all) {
        event.took = took;
        EXPECT_EQ(event.message(), std::string("attempt timed out after ") + text);
    }
    event.took = 0s;
    EXPECT_EQ(event.message(), "attempt timed out");
}

// --- what it knows beside that

TEST(event_message, decision_49_an_event_has_the_kind_of_its_failure) {
    machine_script script(event_policy().attempt_timeout(1s).retry_if(any_failure));
    script.start();
    script.fail({}, boost::system::errc::make_error_code(boost::system::errc::connection_refused));
    script.wake();
    script.fail({}, detail::timed_out_error());
    script.wake();
    script.fail({}, verdict::rejected(judge_http(429)));
    script.wake();
    script.expire(0s, 1s);
    script.wake(2s);
    script.fail({}, boost::system::errc::make_error_code(boost::system::errc::invalid_argument));
    script.wake(3s);
    script.fail_with(permanent(std::runtime_error("no")));
    std::vector<failure_kind> kinds;
    for (retry_event const& event : script.retries)
        kinds.push_back(event.kind);
    using enum failure_kind;
    EXPECT_THAT(kinds, testing::ElementsAre(transient, timeout, throttled, timeout, permanent));
    EXPECT_EQ(script.give_ups.at(0).kind, permanent);
}

TEST(event_message, decision_49_the_kind_is_by_the_policys_own_classify) {
    machine_script script(event_policy().max_attempts(2).classify([](error_code const& ec) {
        return failure_class{ec == unreachable() ? failure_kind::throttled : failure_kind::none,
                             effect::possible};
    }));
    script.start();
    script.fail();
    script.wake();
    script.fail({}, detail::timed_out_error());
    EXPECT_EQ(script.retries.at(0).kind, failure_kind::throttled);
    EXPECT_EQ(script.give_ups.at(0).kind, failure_kind::transient);
}

TEST(event_message, decision_49_an_event_has_what_the_attempt_was_told) {
    std::vector<pushback> asked;
    machine_script script(event_policy().retry_if([&](retry_event const& event) {
        asked.push_back(event.said);
        return true;
    }));
    script.start();
    script.machine.heed(pushback::after(1s));
    script.fail();
    EXPECT_EQ(script.retries.at(0).said, pushback::after(1s));
    EXPECT_EQ(script.retries[0].message(), unreachable().message());
    script.wake(1s);
    script.machine.heed(pushback::after(1s));
    script.fail({}, verdict::rejected(judge_http(503, "2")));
    EXPECT_EQ(script.retries.at(1).said, pushback::after(2s)) << "the judgement comes last";
    script.wake(3s);
    script.fail();
    EXPECT_FALSE(script.retries.at(2).said);
    script.wake(4s);
    script.machine.marks_of_nested()->forbidden = true;
    script.fail();
    EXPECT_EQ(script.give_ups.at(0).said, pushback::never());
    EXPECT_THAT(asked, testing::ElementsAre(pushback::after(1s), pushback(), pushback::never()));
}

// --- one line, and streams

TEST(event_message, decision_49_an_event_is_one_line) {
    retry_event event;
    event.attempt = 2;
    EXPECT_EQ(to_string(event), "attempt 2: succeeded");
    event.error = error::result_rejected;
    event.status = 503;
    event.delay = 50ms;
    EXPECT_EQ(to_string(event), "attempt 2: HTTP 503; next attempt in 50 ms");
    event.delay = 0ms;
    EXPECT_EQ(to_string(event), "attempt 2: HTTP 503; next attempt now");
    event.reason = stop_reason::attempts;
    EXPECT_EQ(to_string(event), "attempt 2: HTTP 503; gave up: attempts");
    event.attempt = 0;
    EXPECT_EQ(to_string(event), "no attempt: HTTP 503; gave up: attempts");
    EXPECT_EQ(streamed(event), to_string(event));
}

TEST(event_message, decision_49_reasons_kinds_states_priorities_and_policies_are_written) {
    EXPECT_EQ(streamed(stop_reason::attempts), "attempts");
    std::vector<std::string> kinds;
    for (int kind = 0; kind != 7; ++kind)
        kinds.push_back(streamed(static_cast<failure_kind>(kind)));
    EXPECT_THAT(kinds, testing::ElementsAre("none", "permanent", "transient", "timeout", "throttled",
                                            "overloaded", "unknown failure_kind"));
    std::vector<std::string> states;
    for (int state = 0; state != 5; ++state)
        states.push_back(streamed(static_cast<breaker_state>(state)));
    EXPECT_THAT(states,
                testing::ElementsAre("closed", "open", "half_open", "isolated", "unknown breaker_state"));
    std::vector<std::string> priorities;
    for (int rank = 0; rank != 4; ++rank)
        priorities.push_back(streamed(static_cast<request_priority>(rank)));
    EXPECT_THAT(priorities, testing::ElementsAre("low", "normal", "high", "unknown request_priority"));
    EXPECT_EQ(streamed(event_policy()), to_string(event_policy()));
}

#if defined(__cpp_lib_format)
TEST(event_message, decision_49_std_format_takes_them) {
    retry_event event;
    event.attempt = 2;
    EXPECT_EQ(std::format("{}", event), "attempt 2: succeeded");
    EXPECT_EQ(std::format("{:>10}|{}|{:6}|{}|{}", stop_reason::attempts, failure_kind::timeout,
                          breaker_state::open, request_priority::low, event_policy()),
              "  attempts|timeout|open  |low|" + to_string(event_policy()));
}
#endif

} // namespace
} // namespace asio_retry::test
