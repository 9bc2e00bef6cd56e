#include <asio_retry/async_retry.hpp>
#include <asio_retry/observe/retry_metrics.hpp>
#include <asio_retry/traffic/circuit_breaker.hpp>
#include <asio_retry/traffic/retry_budget.hpp>

#include "support/exposition_parser.hpp"
#include "support/tallying_gate.hpp"

#include <boost/asio/append.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

// Four threads, each with a context of its own, share what observes and guards their operations.

namespace asio_retry::test {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using namespace std::chrono_literals;

constexpr int counting_threads = 4;
constexpr int per_thread = 2'000;

template <typename Work>
void on_counting_threads(Work const& work) {
    std::vector<std::thread> threads;
    for (int i = 0; i != counting_threads; ++i)
        threads.emplace_back([&, i] { work(i); });
    for (std::thread& thread : threads)
        thread.join();
}

/// Runs operations of which number n fails n % 4 times; every eighth is cancelled in its wait.
void run_operations(retry_policy const& policy, std::size_t operations = per_thread) {
    asio::io_context io(1);
    std::vector<asio::cancellation_signal> signals(operations);
    for (std::size_t n = 0; n != operations; ++n) {
        auto const operation = [&io, left = static_cast<int>(n % 4)](auto token) mutable {
            error_code const ec = left-- > 0 ? asio::error::try_again : error_code();
            return asio::async_initiate<decltype(token), void(error_code)>(
                [&io, ec](auto handler) { asio::post(io, asio::append(std::move(handler), ec)); }, token);
        };
        async_retry(io, operation, policy, asio::bind_cancellation_slot(signals[n].slot(), [](error_code) {}));
        if (n % 8 == 7)
            asio::post(io, [&signal = signals[n]] { signal.emit(asio::cancellation_type::terminal); });
    }
    io.run();
}

std::uint64_t sum(auto const& counts) {
    return std::accumulate(counts.begin(), counts.end(), std::uint64_t(0));
}

TEST(metrics_of_four_threads, lose_nothing_and_are_read_meanwhile) {
    auto const metrics = std::make_shared<retry_metrics>();
    retry_policy const policy =
        retry_policy().backoff(constant(10us)).jitter(no_jitter()).max_attempts(3).observe(metrics);
    std::atomic<int> running = counting_threads;
    std::string fault;
    std::thread reader([&] {
        for (int i = 0; running > 0; ++i) {
            retry_counts const now = metrics->counts();
            if (sum(now.ended) > now.operations || sum(now.failures) > now.attempts ||
                now.retries > now.attempts)
                fault = "more ends than beginnings";
            if (i == 10)
                metrics->add_gauge("added_meanwhile", [] { return 1.; });
            if (i % 10 == 0)
                fault += exposition_parser(metrics->prometheus("thread=\"reader\"")).fault;
        }
    });
    on_counting_threads([&](int) {
        run_operations(policy);
        --running;
    });
    reader.join();

    EXPECT_EQ(fault, "");
    retry_counts const end = metrics->counts();
    EXPECT_EQ(end.operations, std::uint64_t(counting_threads * per_thread));
    EXPECT_EQ(end.pending, 0u);
    EXPECT_EQ(sum(end.ended), end.operations);
    EXPECT_EQ(sum(end.failures), end.attempts);
    EXPECT_EQ(end.attempts - end.retries, end.operations) << "no gate refused one";
    EXPECT_EQ(end.succeeded_at_once, end.operations / 4);
    EXPECT_EQ(end.succeeded_at_once + end.succeeded_after_retry, end.ended[0]);
    exposition_parser const text(metrics->prometheus());
    EXPECT_EQ(text.fault, "");
    EXPECT_EQ(text.value("asio_retry_attempt_seconds_count"), static_cast<double>(end.attempts));
}

/// Of a user: in each call it gives others time, and in some it begins another operation.
struct meddler final : tallying_gate, retry_observer {
    bool acquire(failure_kind after, time_point now) noexcept override {
        std::this_thread::yield();
        return tallying_gate::acquire(after, now);
    }
    void on_event(observation const& event) noexcept override {
        begun += event.what == observation::kind::started;
        ended += event.what == observation::kind::ended;
        std::this_thread::yield();
        if (event.operation % 16 != 0 || event.what == observation::kind::refused)
            return;
        asio::io_context io(1);
        async_retry(io, [] { return error_code(); }, retry_policy().gate(budget), asio::detached);
        io.run();
    }

    std::shared_ptr<retry_budget> budget =
        std::make_shared<retry_budget>(retry_budget_options{.per_second = 1e6});
    std::atomic<int> begun = 0, ended = 0;
};

// A user's own, a budget, a breaker: one object each for the policies of all contexts.
TEST(metrics_of_four_threads, gates_and_observers_are_shared_by_contexts) {
    constexpr int operations = 200; // of each thread
    auto const mine = std::make_shared<meddler>();
    auto const breaker = std::make_shared<circuit_breaker>(
        circuit_breaker_options{.failure_rate = 0.9, .open_for = 1us, .open_cap = 1us});
    auto const policy = [&] {
        return retry_policy()
            .backoff(constant(10us))
            .jitter(no_jitter())
            .wait_when_refused()
            .gate(all_gates({mine, mine->budget, breaker}))
            .observe(mine);
    };
    on_counting_threads(
        [&](int i) { run_operations(i % 2 ? policy().max_attempts(4) : policy(), operations); });
    EXPECT_EQ(mine->running, 0);
    EXPECT_EQ(mine->leases, 0);
    EXPECT_EQ(mine->begun, counting_threads * operations);
    EXPECT_EQ(mine->ended, mine->begun);
}

/// Its destructor makes an operation, and counts.
struct last_words final : retry_gate {
    explicit last_words(std::atomic<int>& count)
        : gone(count) {}
    ~last_words() override {
        asio::io_context io(1);
        async_retry(io, [] { return error_code(); }, retry_policy(), [this](error_code) { ++gone; });
        io.run();
    }
    std::atomic<int>& gone;
};

// The last policy that has a gate may be that of an operation, which ends on any thread or is never ended.
TEST(metrics_of_four_threads, operations_may_be_the_last_owners_of_a_gate) {
    std::atomic<int> gone = 0;
    int const rounds = 200;
    on_counting_threads([&](int) {
        for (int i = 0; i != rounds; ++i) {
            asio::io_context io(1);
            auto const failing = [] { return error_code(asio::error::try_again); };
            async_retry(io, failing,
                        retry_policy().backoff(constant(1us)).gate(std::make_shared<last_words>(gone)),
                        [](error_code) {});
            if (i % 2)
                io.run();
        }
    });
    EXPECT_EQ(gone, counting_threads * rounds);
}

} // namespace
} // namespace asio_retry::test
