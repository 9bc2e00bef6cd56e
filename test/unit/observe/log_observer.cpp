#include <asio_retry/observe/log_observer.hpp>

#include <asio_retry/retry_machine.hpp>
#include <asio_retry/traffic/rate_limit.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/elements.hpp"
#include "support/named_gate.hpp"
#include "support/refuses.hpp"
#include "support/script.hpp"

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace asio_retry::test {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

/// The lines of one operation, each with its level and without its beginning, "operation 17, ".
class written {
public:
    explicit written(log_level least = log_level::info)
        : observer(log_observer([this](log_line const& line) { lines.push_back(line); }, least)) {}

    std::vector<std::string> of(std::uint64_t operation) const {
        std::string const beginning = "operation " + std::to_string(operation) + ", ";
        std::vector<std::string> result;
        for (log_line const& line : lines) {
            std::string const text = to_string(line);
            EXPECT_TRUE(text.starts_with(beginning)) << text;
            EXPECT_EQ(line.operation, operation);
            result.push_back(std::string(to_string(line.level)) + ": " + text.substr(beginning.size()));
        }
        return result;
    }

    std::vector<log_line> lines;
    std::shared_ptr<retry_observer> const observer;
};

struct logged_script {
    explicit logged_script(retry_policy const& policy, log_level least = log_level::info)
        : log(least)
        , script(policy.observe(log.observer)) {}
    machine_script* operator->() { return &script; }
    std::vector<std::string> lines() const { return log.of(script.machine.operation_number()); }

    written log;
    machine_script script;
};

struct logged_hedge {
    explicit logged_hedge(hedge_policy const& policy, log_level least = log_level::info)
        : log(least)
        , script(policy.observe(log.observer)) {}
    hedge_script* operator->() { return &script; }
    std::vector<std::string> lines() const { return log.of(script.machine.operation_number()); }

    written log;
    hedge_script script;
};

retry_policy three_logged_attempts() {
    return endless_every_100ms().max_attempts(3).pushback_spread(0);
}

std::string const is_unreachable = unreachable().message();
std::string const is_canceled = detail::aborted_error().message();
std::string const is_refused = hedge_script::refused_connection().error().message();

// --- retries

TEST(log_observer, writes_a_line_for_each_retry_and_for_the_give_up) {
    logged_script script(three_logged_attempts());
    script->start();
    script->fail(2ms);
    script->wake(102ms);
    script->fail(104ms, verdict::rejected(judge_http(503, "1")));
    script->wake(1104ms);
    script->fail(1200ms, verdict::rejected(judge_http(429)));
    EXPECT_THAT(script.lines(), elements("warning: attempt 1: " + is_unreachable + "; retry in 100 ms",
                                         "warning: attempt 2: HTTP 503, retry after 1 s; retry in 1 s",
                                         "error: attempt 3: HTTP 429; gave up after 1.2 s: attempts"));
}

TEST(log_observer, lines_have_fields) {
    logged_script script(three_logged_attempts().max_attempts(2));
    script->start();
    script->fail(2ms, detail::timed_out_error());
    script->wake(102ms);
    script->fail(104ms);
    ASSERT_THAT(script.log.lines, SizeIs(2));
    log_line const& retry = script.log.lines.at(0);
    EXPECT_EQ(retry.what, log_line::kind::retry);
    EXPECT_EQ(retry.level, log_level::warning);
    EXPECT_EQ(retry.operation, script->machine.operation_number());
    EXPECT_EQ(retry.attempt, 1u);
    EXPECT_EQ(retry.error, detail::timed_out_error());
    EXPECT_EQ(retry.message, detail::timed_out_error().message());
    EXPECT_EQ(retry.delay, 100ms);
    EXPECT_FALSE(retry.is_hedge);
    log_line const& end = script.log.lines.at(1);
    EXPECT_EQ(end.what, log_line::kind::gave_up);
    EXPECT_EQ(end.level, log_level::error);
    EXPECT_EQ(end.attempt, 2u);
    EXPECT_EQ(end.error, unreachable());
    EXPECT_EQ(end.message, is_unreachable);
    EXPECT_EQ(end.delay, 0ms);
    EXPECT_EQ(end.took, 104ms);
    EXPECT_EQ(end.reason, stop_reason::attempts);
    EXPECT_EQ(end.gate, "");
}

TEST(log_observer, writes_nothing_of_what_succeeds_at_once) {
    logged_script script(three_logged_attempts(), log_level::debug);
    script->start();
    script->machine.on_success(script->begin + 2ms);
    EXPECT_THAT(script.lines(), IsEmpty());
}

TEST(log_observer, writes_a_success_after_a_retry_for_debugging) {
    for (auto const least : {log_level::debug, log_level::info}) {
        logged_script script(three_logged_attempts(), least);
        script->start();
        script->fail(2ms);
        script->wake(102ms);
        script->machine.on_success(script->begin + 1200ms);
        std::string const retry = "warning: attempt 1: " + is_unreachable + "; retry in 100 ms";
        if (least == log_level::debug)
            EXPECT_THAT(script.lines(), elements(retry, "debug: attempt 2: succeeded after 1.2 s"));
        else
            EXPECT_THAT(script.lines(), elements(retry));
    }
}

TEST(log_observer, writes_that_the_retry_follows_now) {
    logged_script script(retry_policy().backoff(constant(0ms)).max_attempts(2));
    script->start();
    script->fail();
    script->wake();
    script->fail();
    EXPECT_THAT(script.lines(), elements("warning: attempt 1: " + is_unreachable + "; retry now",
                                         "error: attempt 2: " + is_unreachable + "; gave up: attempts"))
        << "and nothing of a time that has not passed";
}

TEST(log_observer, writes_what_an_exception_says) {
    logged_script script(three_logged_attempts().max_attempts(2));
    script->start();
    script->fail_with(std::runtime_error("no such host"));
    script->wake(100ms);
    script->fail(104ms,
                 verdict::failure(std::make_exception_ptr(permanent(std::runtime_error("no such table")))));
    EXPECT_THAT(script.lines(),
                elements("warning: attempt 1: no such host; retry in 100 ms",
                         "error: attempt 2: no such table; gave up after 104 ms: not_retryable"));
}

TEST(log_observer, writes_which_limit_was_reached) {
    logged_script attempt(three_logged_attempts().max_attempts(2).attempt_timeout(500ms));
    attempt->start();
    attempt->expire(0s, 501ms);
    attempt->wake(601ms);
    attempt->expire(601ms, 1102ms);
    EXPECT_THAT(attempt.lines(),
                elements("warning: attempt 1: attempt timed out after 500 ms; retry in 100 ms",
                         "error: attempt 2: attempt timed out after 500 ms; gave up after 1.102 s: attempts"));

    logged_script total(three_logged_attempts().total_timeout(3s));
    total->start();
    total->expire(0s, 3001ms);
    EXPECT_THAT(total.lines(),
                elements("error: attempt 1: operation timed out after 3 s; gave up after 3.001 s: deadline"));

    logged_script late(three_logged_attempts().deadline(time_point()));
    late->start();
    EXPECT_THAT(late.lines(), elements("error: no attempt: deadline reached; gave up: deadline"));

    logged_script no_time(three_logged_attempts().total_timeout(50ms));
    no_time->start();
    no_time->fail(1ms);
    EXPECT_THAT(no_time.lines(),
                elements("error: attempt 1: " + is_unreachable + "; gave up after 1 ms: deadline"));
}

TEST(log_observer, writes_a_cancellation_as_information) {
    logged_script running(three_logged_attempts());
    running->start();
    running->machine.cancel();
    running->fail(1ms, detail::aborted_error());
    EXPECT_THAT(running.lines(),
                elements("info: attempt 1: " + is_canceled + "; gave up after 1 ms: cancelled"));

    logged_script waiting(three_logged_attempts());
    waiting->start();
    waiting->fail(1ms);
    waiting->machine.cancel();
    waiting->wake(20ms);
    EXPECT_THAT(waiting.lines(),
                elements("warning: attempt 1: " + is_unreachable + "; retry in 100 ms",
                         "info: attempt 1: " + is_canceled + "; gave up after 20 ms: cancelled"));

    logged_script before(three_logged_attempts());
    before->machine.cancel();
    before->start();
    EXPECT_THAT(before.lines(), elements("info: no attempt: " + is_canceled + "; gave up: cancelled"));

    written log;
    std::uint64_t dropped = 0;
    {
        machine_script script(three_logged_attempts().observe(log.observer));
        dropped = script.machine.operation_number();
        script.start();
    }
    EXPECT_THAT(log.of(dropped), elements("info: attempt 1: " + is_canceled + "; gave up: cancelled"));
}

TEST(log_observer, writes_what_a_callable_threw) {
    logged_script script(three_logged_attempts().retry_if(
        [](error_code const&) -> bool { throw std::runtime_error("no answer"); }));
    script->start();
    script->fail(1ms);
    EXPECT_THAT(script.lines(), elements("error: attempt 1: no answer; gave up after 1 ms: not_retryable"));
}

// --- gates

TEST(log_observer, writes_one_line_for_a_retry_that_a_gate_refuses) {
    auto const gate = std::make_shared<named_gate>("token_budget");
    gate->grants = false;
    logged_script script(three_logged_attempts().gate(gate));
    script->start();
    script->fail(1ms);
    EXPECT_THAT(script.lines(), elements("error: attempt 1: " + is_unreachable +
                                         "; gave up after 1 ms: budget (token_budget refused the retry)"));
    EXPECT_EQ(script.log.lines.at(0).gate, "token_budget");
}

TEST(log_observer, writes_which_gate_refused_an_attempt) {
    auto const gate = std::make_shared<named_gate>();
    gate->refused_from = 2;
    logged_script second(three_logged_attempts().gate(gate));
    second->start();
    second->fail(1ms);
    second->wake(101ms);
    EXPECT_THAT(second.lines(), elements("warning: attempt 1: " + is_unreachable + "; retry in 100 ms",
                                         "error: attempt 1: " + is_unreachable +
                                             "; gave up after 101 ms: refused (my_gate refused the attempt)"));

    std::string const open = make_error_code(error::circuit_open).message();
    gate->refused_from = 1;
    logged_script first(three_logged_attempts().gate(gate));
    first->start();
    EXPECT_THAT(first.lines(),
                elements("error: no attempt: " + open + "; gave up: refused (my_gate refused the attempt)"));
}

TEST(log_observer, writes_refusals_for_debugging) {
    auto const gate = std::make_shared<named_gate>();
    std::string const open = make_error_code(error::circuit_open).message();
    for (auto const least : {log_level::debug, log_level::info}) {
        gate->refused_from = 1;
        logged_script script(three_logged_attempts().gate(gate).wait_when_refused(), least);
        script->start();
        gate->refused_from = 99;
        script->wake(100ms);
        gate->grants = false;
        script->fail(101ms);
        std::string const retry = "warning: attempt 1: " + is_unreachable + "; retry in 100 ms";
        if (least == log_level::debug)
            EXPECT_THAT(script.lines(), elements("debug: attempt 1: my_gate refused the attempt: " + open,
                                                 "debug: attempt 2: my_gate refused the retry", retry));
        else
            EXPECT_THAT(script.lines(), elements(retry));
        gate->grants = true;
    }
}

// Without the second line nobody would know which gate the limit of the operation does not wait for.
TEST(log_observer, writes_which_gate_lets_an_attempt_wait) {
    retry_policy const policy =
        three_logged_attempts().gate(std::make_shared<rate_limit>(1, 1s)).wait_when_refused();
    logged_script first(policy), second(policy, log_level::debug), third(policy.total_timeout(1500ms));
    first->start();
    second->start();
    third->start();
    EXPECT_THAT(second.lines(), elements("debug: attempt 1: rate_limit lets the attempt begin in 1 s"));
    EXPECT_EQ(second.log.lines.at(0).gate, "rate_limit");
    EXPECT_EQ(second.log.lines.at(0).delay, duration(1s));
    EXPECT_THAT(third.lines(),
                elements("error: no attempt: operation timed out after 1.5 s; gave up: deadline"));
}

TEST(log_observer, writes_that_there_was_no_room) {
    logged_script script(three_logged_attempts());
    EXPECT_TRUE(script->machine.may_start(script->begin));
    script->machine.refuse(detail::no_buffer_space_error(), script->begin);
    EXPECT_THAT(script.lines(), elements("error: no attempt: " + detail::no_buffer_space_error().message() +
                                         "; gave up: budget"));
}

// --- hedges

TEST(log_observer, writes_a_hedge_of_a_slow_attempt_for_debugging) {
    for (auto const least : {log_level::debug, log_level::info}) {
        logged_hedge hedge(hedge_policy(20ms), least);
        hedge->start();
        hedge->go_on(20);
        hedge->succeed(1, 25);
        hedge->complete_late(2, 26);
        if (least == log_level::debug) {
            EXPECT_THAT(hedge.lines(), elements("debug: attempt 2 began after 20 ms: no result yet",
                                                "debug: 2 attempts: succeeded after 26 ms"));
            EXPECT_TRUE(hedge.log.lines.at(0).is_hedge);
            EXPECT_EQ(hedge.log.lines.at(0).what, log_line::kind::hedge);
            EXPECT_EQ(hedge.log.lines.at(0).took, 20ms);
        } else {
            EXPECT_THAT(hedge.lines(), IsEmpty()) << "nothing has failed";
        }
    }
}

TEST(log_observer, writes_why_an_attempt_of_a_hedge_follows_and_its_give_up) {
    logged_hedge hedge(hedge_policy(20ms).max_attempts(2));
    hedge->start();
    hedge->fail(1, 3);
    hedge->fail(2, 5, verdict::rejected(judge_http(503)));
    EXPECT_THAT(hedge.lines(), elements("warning: attempt 2 began after 3 ms: " + is_refused,
                                        "error: 2 attempts: HTTP 503; gave up after 5 ms: attempts"));

    logged_hedge single(hedge_policy(20ms).max_attempts(1));
    single->start();
    single->fail(1, 3);
    EXPECT_THAT(single.lines(), elements("error: 1 attempt: " + is_refused + "; gave up after 3 ms: attempts"));
}

TEST(log_observer, writes_how_hedges_end_otherwise) {
    logged_hedge late(hedge_policy(20ms).total_timeout(30ms));
    late->start();
    late->go_on(20);
    late->go_on(30);
    late->fail(1, 31, verdict::failure(detail::aborted_error()));
    late->fail(2, 32, verdict::failure(detail::aborted_error()));
    EXPECT_THAT(late.lines(),
                elements("error: 2 attempts: operation timed out after 30 ms; gave up after 32 ms: "
                         "deadline"));

    logged_hedge cancelled(hedge_policy(20ms));
    cancelled->start();
    cancelled->machine.cancel(true);
    cancelled->go_on(1);
    cancelled->fail(1, 2, verdict::failure(detail::aborted_error()));
    EXPECT_THAT(cancelled.lines(),
                elements("info: 1 attempt: " + is_canceled + "; gave up after 2 ms: cancelled"));

    auto const gate = std::make_shared<named_gate>("token_budget");
    gate->grants = false;
    logged_hedge refusing(hedge_policy(20ms).gate(gate));
    refusing->start();
    refusing->fail(1, 3);
    EXPECT_THAT(refusing.lines(), elements("error: 1 attempt: " + is_refused +
                                           "; gave up after 3 ms: budget (token_budget refused the retry)"));

    gate->refused_from = 1;
    logged_hedge first(hedge_policy(20ms).gate(gate));
    first->start();
    EXPECT_THAT(first.lines(), elements("error: no attempt: " + make_error_code(error::circuit_open).message() +
                                        "; gave up: refused (token_budget refused the attempt)"));
}

// --- a line stays one line

std::string message_for(std::string const& thrown) {
    logged_script script(retry_policy().max_attempts(1));
    script->start();
    script->fail_with(std::runtime_error(thrown));
    EXPECT_THAT(script.log.lines, SizeIs(1));
    return script.log.lines.at(0).message;
}

TEST(log_observer, escapes_control_characters) {
    EXPECT_EQ(message_for("no\r\noperation 1, attempt 1: all is well"),
              "no\\r\\noperation 1, attempt 1: all is well");
    EXPECT_EQ(message_for("a\tb\x1b[2Jc\x7f"), "a\\tb\\x1b[2Jc\\x7f");
    EXPECT_EQ(message_for("\v\f\b\x01\x1f"), "\\x0b\\x0c\\x08\\x01\\x1f");
    EXPECT_EQ(message_for(" !~"), " !~") << "the first and the last that are none";
}

TEST(log_observer, leaves_a_backslash) {
    EXPECT_EQ(message_for("C:\\new"), "C:\\new");
    EXPECT_EQ(message_for(""), "");
}

TEST(log_observer, leaves_UTF_8) {
    for (std::string const text : {"gr\xc3\xbc\xc3\x9f", "\xe6\x97\xa5", "\xf0\x9f\x98\x80", "\xc2\xa0",
                                   "\xe2\x80\xa7\xe2\x80\xaa", "\xf4\x8f\xbf\xbf"})
        EXPECT_EQ(message_for(text), text);
}

// The next line, what begins a command of a terminal, and separators of lines and paragraphs.
TEST(log_observer, escapes_control_characters_of_UTF_8) {
    EXPECT_EQ(message_for("\xc2\x85|\xc2\x9b"), "\\xc2\\x85|\\xc2\\x9b");
    EXPECT_EQ(message_for("\xc2\x80\xc2\x9f"), "\\xc2\\x80\\xc2\\x9f");
    EXPECT_EQ(message_for("\xe2\x80\xa8|\xe2\x80\xa9"), "\\xe2\\x80\\xa8|\\xe2\\x80\\xa9");
}

TEST(log_observer, escapes_what_is_no_UTF_8) {
    EXPECT_EQ(message_for("\x9b[2J"), "\\x9b[2J");
    EXPECT_EQ(message_for("a\xc3"), "a\\xc3") << "cut off";
    EXPECT_EQ(message_for("\xc3\n"), "\\xc3\\n") << "cut off by a line break";
    EXPECT_EQ(message_for("\xe6\x97"), "\\xe6\\x97");
    EXPECT_EQ(message_for("\xed\xa0\x80|\xff"), "\\xed\\xa0\\x80|\\xff");
    EXPECT_EQ(message_for("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");
}

TEST(log_observer, escapes_the_name_of_a_gate) {
    log_line line;
    line.attempt = 1;
    line.message = "no";
    line.reason = stop_reason::budget;
    line.gate = "my\ngate";
    EXPECT_EQ(to_string(line), "operation 0, attempt 1: no; gave up: budget (my\\ngate refused the retry)");
}

// --- sinks

TEST(log_observer, goes_on_after_a_sink_that_throws) {
    int calls = 0;
    machine_script script(three_logged_attempts().max_attempts(2).observe(log_observer([&](log_line const&) {
        ++calls;
        throw std::runtime_error("the disk is full");
    })));
    script.start();
    EXPECT_THAT(script.fail(), is_wait(100ms));
    script.wake(100ms);
    EXPECT_THAT(script.fail(101ms), is_completion(stop_reason::attempts, no_replacement));
    EXPECT_EQ(calls, 2);
}

void write_nowhere(log_line const&) {}

TEST(log_observer, takes_any_callable) {
    struct move_only {
        std::unique_ptr<int> count = std::make_unique<int>();
        void operator()(log_line const&) { ++*count; }
    };
    EXPECT_NE(log_observer(write_nowhere), nullptr);
    EXPECT_NE(log_observer(move_only()), nullptr);
    EXPECT_NE(log_observer(std::function<int(log_line)>([](log_line const&) { return 1; })), nullptr);
    EXPECT_NE(log_observer(&log_line::level), nullptr) << "which is called, and says nothing";
}

TEST(log_observer, refuses_a_sink_that_is_empty) {
    auto const message = refuses("asio_retry: log_observer.sink = empty: must be a callable");
    EXPECT_THAT(calling([] { static_cast<void>(log_observer(std::function<void(log_line const&)>())); }),
                message);
    void (*const nothing)(log_line const&) = nullptr;
    EXPECT_THAT(calling([&] { static_cast<void>(log_observer(nothing)); }), message);
}

TEST(log_observer, leaves_out_lines_of_less_weight) {
    auto const count_of = [](log_level least) {
        written log(least);
        {
            machine_script script(three_logged_attempts().max_attempts(2).observe(log.observer));
            script.start();
            script.fail(1ms);
            script.wake(101ms);
            script.fail(102ms);
        }
        machine_script cancelled(three_logged_attempts().observe(log.observer));
        cancelled.start();
        cancelled.fail(1ms);
        cancelled.wake(101ms);
        cancelled.machine.cancel();
        cancelled.fail(102ms);
        return log.lines.size();
    };
    EXPECT_EQ(count_of(log_level::info), 4u);
    EXPECT_EQ(count_of(log_level::warning), 3u);
    EXPECT_EQ(count_of(log_level::error), 1u);
}

// --- text

TEST(log_observer, levels_and_lines_are_written_to_streams) {
    std::ostringstream out;
    for (int level = 0; level != 5; ++level)
        out << static_cast<log_level>(level) << '|';
    EXPECT_EQ(out.str(), "debug|info|warning|error|unknown log_level|");
    out.str("");
    for (int kind = 0; kind != 7; ++kind)
        out << static_cast<log_line::kind>(kind) << '|';
    EXPECT_EQ(out.str(), "retry|hedge|refused|held|succeeded|gave_up|unknown log_line::kind|");
    log_line line;
    line.operation = 17;
    line.attempt = 3;
    line.message = "HTTP 503";
    line.took = 1200ms;
    line.reason = stop_reason::attempts;
    out.str({});
    out << line;
    EXPECT_EQ(out.str(), "operation 17, attempt 3: HTTP 503; gave up after 1.2 s: attempts");
}

} // namespace
} // namespace asio_retry::test
