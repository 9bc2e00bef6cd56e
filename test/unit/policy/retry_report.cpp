#include <asio_retry/retry_report.hpp>

#include <asio_retry/async_retry.hpp>
#include <asio_retry/virtual_time.hpp>
#include <asio_retry/with_report.hpp>

#include "support/in_virtual_time.hpp"
#include "support/recording_gate.hpp"
#include "support/script.hpp"
#include "support/scripted_operation.hpp"

#include <boost/asio.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <exception>
#include <future>
#include <memory>
#include <optional>
#include <ostream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace asio_retry {

inline bool operator==(failed_attempt const& a, failed_attempt const& b) {
    return a.number == b.number && a.error == b.error && a.stopped == b.stopped &&
           a.ended_after == b.ended_after && a.delay == b.delay;
}
inline void PrintTo(failed_attempt const& a, std::ostream* out) {
    *out << a.number << ": " << a.error << ", " << to_string(a.stopped) << ", after " << a.ended_after.count()
         << "ns, delay " << a.delay.count() << "ns";
}

} // namespace asio_retry

namespace asio_retry::test {
namespace {

using testing::ElementsAre;

TEST(interruption, has_names) {
    EXPECT_EQ(to_string(interruption::none), "none");
    EXPECT_EQ(to_string(interruption::attempt_timeout), "attempt_timeout");
    EXPECT_EQ(to_string(interruption::deadline), "deadline");
    EXPECT_EQ(to_string(interruption::cancellation), "cancellation");
    EXPECT_EQ(to_string(static_cast<interruption>(99)), "unknown interruption");
    EXPECT_EQ(to_string(interruption::beaten), "beaten");
}

/// Operations on virtual time, with a report.
class retry_report_test : public testing::Test, protected in_virtual_time {
protected:
    retry_report report;
    script played = script::failures(2);
    completion_record record;

    auto scripted() {
        return [this](auto token) { return async_scripted(io, played, std::move(token)); };
    }
};

TEST_F(retry_report_test, of_a_success) {
    async_retry(io, with_report(scripted(), report), endless_every_100ms(), record.handler());
    time.run();
    EXPECT_EQ(record.value, 3);
    EXPECT_TRUE(report.ended);
    EXPECT_EQ(report.reason, stop_reason::succeeded);
    EXPECT_EQ(report.attempts, 3u);
    EXPECT_EQ(report.elapsed, 200ms);
    EXPECT_EQ(report.waited, 200ms);
    EXPECT_EQ(report.last_error, refused());
    EXPECT_EQ(report.last_exception, nullptr);
    EXPECT_THAT(report.history, ElementsAre(failed_attempt{1, refused(), interruption::none, 0ms, 100ms},
                                            failed_attempt{2, refused(), interruption::none, 100ms, 100ms}));
}

TEST_F(retry_report_test, of_exhausted_attempts) {
    played = script::failures(9);
    async_retry(io, with_report(scripted(), report), endless_every_100ms().max_attempts(2), record.handler());
    time.run();
    EXPECT_EQ(report.reason, stop_reason::attempts);
    EXPECT_EQ(report.attempts, 2u);
    EXPECT_EQ(report.elapsed, 100ms);
    EXPECT_THAT(report.history, ElementsAre(failed_attempt{1, refused(), interruption::none, 0ms, 100ms},
                                            failed_attempt{2, refused(), interruption::none, 100ms, 0ms}));
}

TEST_F(retry_report_test, of_what_a_gate_refuses) {
    auto const gate = std::make_shared<recording_gate>();
    auto const play = [&] {
        played = script::failures(9);
        async_retry(io, with_report(scripted(), report), endless_every_100ms().gate(gate), record.handler());
        time.run();
    };
    gate->refusals = {duration::max()};
    play();
    EXPECT_EQ(report.reason, stop_reason::refused);
    EXPECT_EQ(report.attempts, 0u);
    EXPECT_TRUE(report.history.empty());
    EXPECT_EQ(record.error, error::circuit_open);

    gate->refusals = {std::nullopt, duration::max()};
    play();
    EXPECT_EQ(report.reason, stop_reason::refused);
    EXPECT_EQ(report.attempts, 1u);
    EXPECT_EQ(report.last_error, refused());
    EXPECT_EQ(report.waited, 100ms);

    gate->grants = {false};
    play();
    EXPECT_EQ(report.reason, stop_reason::budget);
    EXPECT_EQ(report.attempts, 1u);
    EXPECT_EQ(report.waited, 0ms);
}

TEST_F(retry_report_test, of_waits_after_refusals) {
    auto const gate = std::make_shared<recording_gate>();
    gate->refusals = {1s, no_idea, let_in, 2s};
    async_retry(io, with_report(scripted(), report), endless_every_100ms().gate(gate).wait_when_refused(),
                record.handler());
    time.run();
    EXPECT_EQ(report.attempts, 3u);
    EXPECT_EQ(report.elapsed, 3500ms);
    EXPECT_EQ(report.waited, 3500ms) << "each counts from its own beginning";
    ASSERT_EQ(report.history.size(), 2u);
    EXPECT_EQ(report.history[0].delay, 100ms) << "what followed was for the gate";
}

// The first and the last k, whatever k is.
TEST_F(retry_report_test, history_is_bounded) {
    for (std::size_t const last : {0u, 1u, 2u, 3u, 8u}) {
        retry_report bounded(last);
        script failing = script::failures(6);
        async_retry(
            io, with_report([&](auto token) { return async_scripted(io, failing, std::move(token)); }, bounded),
            endless_every_100ms(), record.handler());
        time.run();
        std::vector<std::uint64_t> numbers;
        for (failed_attempt const& failed : bounded.history) {
            numbers.push_back(failed.number);
            EXPECT_EQ(failed.ended_after, (failed.number - 1) * 100ms);
            EXPECT_EQ(failed.delay, 100ms);
        }
        std::vector<std::uint64_t> expected = {1, 2, 3, 4, 5, 6};
        if (last < 5)
            expected.erase(expected.begin() + 1, expected.end() - static_cast<std::ptrdiff_t>(last));
        EXPECT_EQ(numbers, expected) << last;
    }
}

TEST(retry_report, never_allocates_after_the_start) {
    retry_report report(3);
    retry_machine machine(endless_every_100ms());
    detail::report_recorder recorder(report);
    recorder.clear();
    recorder.make_room();
    machine.observe(recorder);
    auto const* const memory = report.history.data();
    EXPECT_EQ(report.history.capacity(), 4u);
    random source(1);
    machine.start();
    for (int i = 0; i != 100; ++i) {
        machine.on_failure(verdict::failure(unreachable()), {}, source);
        machine.on_wait_over({});
    }
    EXPECT_EQ(report.history.data(), memory);
    EXPECT_EQ(report.history.size(), 4u);
    EXPECT_EQ(report.attempts, 101u);
}

struct recorded_machine {
    recorded_machine() { machine.observe(recorder); }

    retry_report report;
    retry_machine machine{endless_every_100ms()};
    detail::report_recorder recorder{report};
    random source{1};
};

TEST(retry_report, has_no_exception_of_a_failure_before_the_last) {
    recorded_machine all;
    auto& [report, machine, recorder, source] = all;
    machine.start();
    auto const thrown = std::make_exception_ptr(std::runtime_error("x"));
    machine.on_failure(verdict::failure(thrown), {}, source);
    EXPECT_EQ(report.last_exception, thrown);
    machine.on_wait_over({});
    machine.on_failure(verdict::failure(unreachable()), {}, source);
    EXPECT_EQ(report.last_error, unreachable());
    EXPECT_EQ(report.last_exception, nullptr);
}

TEST(retry_report, its_time_does_not_go_back_with_the_clock) {
    recorded_machine all;
    auto& [report, machine, recorder, source] = all;
    time_point const begin(1h);
    machine.start(begin);
    machine.on_failure(verdict::failure(unreachable()), begin + 2s, source);
    machine.on_wait_over(begin + 1s);
    machine.on_success(begin + 1s);
    EXPECT_EQ(report.elapsed, 2s);
}

TEST_F(retry_report_test, is_cleared_by_the_next_operation) {
    async_retry(io, with_report(scripted(), report), endless_every_100ms(), record.handler());
    time.run();
    async_retry(io, with_report(scripted(), report), endless_every_100ms(), record.handler());
    EXPECT_FALSE(report.ended);
    time.run();
    EXPECT_EQ(report.attempts, 1u);
    EXPECT_TRUE(report.history.empty());
    EXPECT_FALSE(report.last_error);
    EXPECT_EQ(report.waited, 0s);
    EXPECT_EQ(report.elapsed, 0s);
}

TEST_F(retry_report_test, a_wait_cut_short_counts_for_as_long_as_it_was) {
    asio::cancellation_signal signal;
    async_retry(io, with_report(scripted(), report), endless_every_100ms(),
                asio::bind_cancellation_slot(signal.slot(), record.handler()));
    time.advance(30ms);
    signal.emit(asio::cancellation_type::terminal);
    time.run();
    EXPECT_EQ(report.reason, stop_reason::cancelled);
    EXPECT_EQ(report.waited, 30ms);
    EXPECT_EQ(report.elapsed, 30ms);
    EXPECT_EQ(report.last_error, refused());
    EXPECT_EQ(report.history.back().delay, 100ms);
}

// --- who ended it

class retry_report_ends : public retry_report_test {
protected:
    pending_attempts attempts{io};
    asio::cancellation_signal signal;

    void start(retry_policy const& policy) {
        async_retry(
            io, with_report([this](auto token) { return attempts.async_attempt(std::move(token)); }, report),
            policy, asio::bind_cancellation_slot(signal.slot(), record.handler()));
        time.advance(10ms);
    }
    /// The first attempt fails, the second is there for 10 ms.
    void start_with_a_failure(retry_policy const& policy) {
        start(policy);
        attempts.complete(refused());
        time.advance(110ms);
    }
};

TEST_F(retry_report_ends, user_cancellation) {
    start_with_a_failure(endless_every_100ms());
    signal.emit(asio::cancellation_type::terminal);
    time.run();
    EXPECT_EQ(record.error, aborted());
    EXPECT_EQ(report.reason, stop_reason::cancelled);
    EXPECT_EQ(report.history.back().stopped, interruption::cancellation);
    EXPECT_EQ(report.last_error, refused()) << "what an attempt last said by itself";
}

TEST_F(retry_report_ends, attempt_timeout) {
    start_with_a_failure(endless_every_100ms().attempt_timeout(50ms).max_attempts(2));
    time.run();
    EXPECT_EQ(record.error, timed_out());
    EXPECT_EQ(report.reason, stop_reason::attempts);
    EXPECT_EQ(report.history.back(),
              (failed_attempt{2, timed_out(), interruption::attempt_timeout, 160ms, 0ms}));
    EXPECT_EQ(report.last_error, timed_out());
}

TEST_F(retry_report_ends, total_timeout) {
    start_with_a_failure(endless_every_100ms().total_timeout(150ms));
    time.run();
    EXPECT_EQ(record.error, timed_out());
    EXPECT_EQ(report.reason, stop_reason::deadline);
    EXPECT_EQ(report.history.back(), (failed_attempt{2, timed_out(), interruption::deadline, 150ms, 0ms}));
    EXPECT_EQ(report.last_error, refused());
    EXPECT_EQ(report.elapsed, 150ms);
}

TEST_F(retry_report_ends, socket_closed_elsewhere) {
    start_with_a_failure(endless_every_100ms());
    attempts.complete(aborted());
    time.run();
    EXPECT_EQ(record.error, aborted());
    EXPECT_EQ(report.reason, stop_reason::not_retryable);
    EXPECT_EQ(report.history.back().stopped, interruption::none);
    EXPECT_EQ(report.last_error, aborted());
}

TEST_F(retry_report_ends, peer_that_says_timed_out) {
    start(endless_every_100ms().attempt_timeout(50ms).max_attempts(1));
    attempts.complete(timed_out());
    time.run();
    EXPECT_EQ(report.history.back().stopped, interruption::none);
}

TEST_F(retry_report_ends, no_attempt_at_all) {
    start(endless_every_100ms().total_timeout(0s));
    EXPECT_EQ(report.reason, stop_reason::deadline);
    EXPECT_EQ(report.attempts, 0u);
    EXPECT_TRUE(report.history.empty());
}

// --- every form and token

TEST_F(retry_report_test, of_an_awaitable_awaited_directly_or_under_a_limit) {
    for (bool const limited : {false, true}) {
        int calls = 0;
        auto const operation = [&]() -> asio::awaitable<int> {
            if (++calls < 3)
                throw std::runtime_error("not yet");
            co_return calls;
        };
        auto const policy = limited ? endless_every_100ms().attempt_timeout(1h) : endless_every_100ms();
        asio::co_spawn(
            io,
            [&]() -> asio::awaitable<void> { co_await async_retry(with_report(operation, report), policy); },
            asio::detached);
        time.run();
        EXPECT_EQ(report.attempts, 3u);
        EXPECT_EQ(report.waited, 200ms);
        EXPECT_EQ(report.elapsed, 200ms);
        EXPECT_EQ(report.last_error, error::operation_threw);
        EXPECT_THROW(std::rethrow_exception(report.last_exception), std::runtime_error);
    }
}

TEST_F(retry_report_test, of_judged_results_inside_and_outside) {
    auto const is_small = [](int value) { return value < 4; };
    played.errors.clear();
    async_retry(io, with_report(fail_if(scripted(), is_small), report), endless_every_100ms(),
                record.handler());
    time.run();
    EXPECT_EQ(report.attempts, 4u);
    EXPECT_EQ(report.last_error, error::result_rejected);
    played.attempts = 0;
    async_retry(io, fail_if(with_report(scripted(), report), is_small), endless_every_100ms(),
                record.handler());
    time.run();
    EXPECT_EQ(record.value, 4);
    EXPECT_EQ(report.attempts, 4u);
}

TEST_F(retry_report_test, of_every_token) {
    auto const expect_report = [&] {
        time.run();
        EXPECT_EQ(std::exchange(report.attempts, 0u), 3u);
        played.attempts = 0;
    };
    async_retry(io, with_report(scripted(), report), endless_every_100ms(), asio::detached);
    expect_report();
    auto future = async_retry(io, with_report(scripted(), report), endless_every_100ms(), asio::use_future);
    expect_report();
    EXPECT_EQ(future.get(), 3);
    async_retry(io, with_report(scripted(), report), endless_every_100ms(), asio::deferred)(record.handler());
    expect_report();
    async_retry(io, with_report(scripted(), report), endless_every_100ms(),
                asio::any_completion_handler<void(error_code, int)>(record.handler()));
    expect_report();
    asio::co_spawn(
        io,
        [&]() -> asio::awaitable<void> {
            co_await async_retry(with_report(scripted(), report), endless_every_100ms());
        },
        asio::detached);
    expect_report();
}

} // namespace
} // namespace asio_retry::test
