#include <asio_retry/backoff_ticker.hpp>

#include <asio_retry/retry_gate.hpp>
#include <asio_retry/virtual_time.hpp>

#include "support/elements.hpp"
#include "support/in_virtual_time.hpp"
#include "support/recording_gate.hpp"
#include "support/recording_observer.hpp"
#include "support/scripted_operation.hpp"

#include <boost/asio.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

class ticker_gate : public testing::Test, protected in_virtual_time {
protected:
    std::shared_ptr<recording_gate> gate = std::make_shared<recording_gate>();
    std::shared_ptr<recording_observer> observer = std::make_shared<recording_observer>();
    std::optional<backoff_ticker> ticker;
    std::vector<duration> ticks;
    std::vector<error_code> ends;

    void make(bool waits) {
        retry_policy const policy = retry_policy()
                                        .backoff(exponential(100ms))
                                        .jitter(no_jitter())
                                        .unlimited_attempts()
                                        .gate(gate)
                                        .observe(observer);
        ticker.emplace(io, waits ? policy.wait_when_refused() : policy);
    }
    void wait() {
        ticker->async_wait([this](error_code ec) {
            if (ec)
                ends.push_back(ec);
            else
                ticks.push_back(time.now() - begin);
        });
    }
    void tick() {
        wait();
        time.run();
    }
    void TearDown() override {
        EXPECT_EQ(scheduler(io).pending(), 0u);
        EXPECT_THAT(observer->events, IsEmpty());
    }
};

TEST_F(ticker_gate, decision_26_is_asked_for_ticks_after_the_first_and_for_nothing_else) {
    make(false);
    tick();
    EXPECT_THAT(gate->told, IsEmpty());
    tick();
    tick();
    EXPECT_THAT(gate->told, elements("acquire transient", "acquire transient"));
    EXPECT_THAT(ticks, elements(0ms, 100ms, 300ms));
    gate->grants = {false};
    tick();
    EXPECT_THAT(ends, ElementsAre(error_code(error::exhausted)));
}

TEST_F(ticker_gate, is_waited_for_where_the_policy_waits) {
    make(true);
    tick();
    gate->grants = {false, false, true};
    tick();
    EXPECT_THAT(ticks, elements(0ms, 100ms + 400ms));
    EXPECT_THAT(gate->told, elements("no lease transient", "no lease transient", "acquire transient"));
    EXPECT_THAT(ends, IsEmpty());
}

TEST_F(ticker_gate, a_wait_for_it_ends_like_any_other) {
    make(true);
    tick();
    gate->grants.assign(100, false);
    wait();
    time.advance(200ms);
    EXPECT_THAT(ends, IsEmpty());
    ticker->retry_now();
    time.advance(1ms);
    EXPECT_THAT(ticks, elements(0ms)) << "it was asked, and has refused";
    ticker->stop();
    time.run();
    EXPECT_THAT(ends, ElementsAre(aborted()));
}

TEST_F(ticker_gate, a_limit_ends_the_wait_for_it_with_the_same_errors_as_any_other) {
    auto const policy =
        retry_policy().backoff(constant(100ms)).jitter(no_jitter()).unlimited_attempts().wait_when_refused();
    auto const ends_with = [&](retry_policy const& limited) {
        gate->grants.assign(100, false);
        backoff_ticker limited_ticker(io, limited.gate(gate));
        error_code last;
        for (int i = 0; i != 2; ++i) {
            limited_ticker.async_wait([&](error_code ec) { last = ec; });
            time.run();
        }
        gate->grants.clear();
        return last;
    };
    error_code const exhausted = error::exhausted;
    EXPECT_EQ(ends_with(policy.max_elapsed(450ms)), exhausted);
    EXPECT_EQ(ends_with(policy.max_waited(450ms)), exhausted);
    EXPECT_EQ(ends_with(policy.total_timeout(450ms)), asio::error::timed_out);
    EXPECT_EQ(ends_with(policy.deadline(time.now() + 450ms)), asio::error::timed_out);
    EXPECT_EQ(ends_with(retry_policy().backoff(constant(100ms))), exhausted) << "and where it does not wait";
}

TEST_F(ticker_gate, a_wait_for_it_may_be_cancelled) {
    make(true);
    tick();
    gate->grants.assign(2, false);
    asio::cancellation_signal signal;
    ticker->async_wait(asio::bind_cancellation_slot(signal.slot(), [&](error_code ec) { ends.push_back(ec); }));
    time.advance(200ms);
    signal.emit(asio::cancellation_type::terminal);
    time.advance(0ms);
    EXPECT_THAT(ends, ElementsAre(aborted()));
    tick();
    EXPECT_THAT(ticks, elements(0ms, 500ms)) << "the next wait takes its place";
}

// As a hook of the policy may; what it takes meanwhile is given back.
TEST_F(ticker_gate, may_stop_reset_hurry_or_destroy_the_ticker_that_asks) {
    struct meddling final : retry_gate {
        bool acquire(failure_kind, time_point) noexcept override {
            leases += grants;
            if (auto const once = std::exchange(deed, nullptr))
                once();
            return grants;
        }
        void give_back(failure_kind) noexcept override { --leases; }
        std::function<void()> deed;
        bool grants = true;
        int leases = 0;
    };
    std::function<void()> const deeds[] = {[this] { ticker->stop(); }, [this] { ticker->reset(); },
                                           [this] { ticker->retry_now(); }, [this] { ticker.reset(); }};
    for (auto const& deed : deeds)
        for (bool const waits : {false, true})
            for (bool const grants : {false, true}) {
                auto const own = std::make_shared<meddling>();
                own->grants = grants;
                retry_policy const policy = retry_policy().max_attempts(3).max_elapsed(10s).gate(own);
                ticker.emplace(io, waits ? policy.wait_when_refused() : policy);
                ticks.clear();
                ends.clear();
                tick();
                own->deed = deed;
                for (int i = 0; i != 5 && ticker && ends.empty(); ++i)
                    tick();
                EXPECT_THAT(ends, testing::SizeIs(1)) << "by then it is over";
                ticker.reset();
                EXPECT_EQ(own->leases, static_cast<int>(ticks.size()) - 1);
            }
}

TEST_F(ticker_gate, decision_25_a_context_that_is_destroyed_while_it_waits_leaves_nothing_behind) {
    {
        asio::io_context other;
        virtual_time other_time(other);
        gate->grants.assign(100, false);
        backoff_ticker dropped(other, retry_policy().backoff(constant(100ms)).gate(gate).wait_when_refused());
        int calls = 0;
        dropped.async_wait([&](error_code) { ++calls; });
        other_time.advance(0ms);
        dropped.async_wait([&](error_code) { ++calls; });
        other_time.advance(250ms);
        EXPECT_EQ(calls, 1);
    }
    EXPECT_EQ(gate->leases, 0);
}

/// A ticker whose gate refuses at random, and to which anything may happen.
class random_ticker {
public:
    explicit random_ticker(std::uint64_t seed)
        : dice_(seed) {
        for (int i = below(5); i > 0; --i)
            gate_->grants.push_back(!one_in(3));
        retry_policy policy =
            retry_policy().backoff(constant(up_to(20ms))).max_attempts(1 + below(6)).gate(gate_);
        if (one_in(2))
            policy = policy.observe(observer_);
        if (one_in(2))
            policy = policy.wait_when_refused();
        if (one_in(3))
            policy = policy.total_timeout(100ms);
        if (one_in(4))
            policy = policy.max_elapsed(100ms);
        if (one_in(4))
            policy = policy.clamp();
        ticker_.emplace(io_, policy);
    }

    void play() {
        if (one_in(6))
            reset();
        for (int step = below(40); step > 0; --step) {
            wait();
            meddle();
        }
        ticker_.reset();
        time_.run();
    }

    void expect_balance() const {
        int const paid = gate_->leases, free = ticks_ - paid;
        EXPECT_TRUE(free == 1 || (free == 0 && (is_reset_ || ticks_ == 0))) << free;
        EXPECT_EQ(gate_->running, 0);
        EXPECT_THAT(observer_->events, IsEmpty());
    }

private:
    int below(int n) { return static_cast<int>(dice_() % static_cast<std::uint64_t>(n)); }
    bool one_in(int n) { return below(n) == 0; }
    duration up_to(std::chrono::milliseconds longest) {
        return std::chrono::milliseconds(below(static_cast<int>(longest.count()) + 1));
    }

    void wait() {
        if (std::exchange(is_waiting_, true))
            return;
        ticker_->async_wait(asio::bind_cancellation_slot(signal_.slot(), [this](error_code ec) {
            is_waiting_ = false;
            ticks_ += !ec;
        }));
    }
    void reset() {
        is_reset_ = is_reset_ || ticks_ == 0; // before the first tick, which it may take away
        ticker_->reset();
    }
    void meddle() {
        switch (below(14)) {
        case 0:
            return signal_.emit(asio::cancellation_type::terminal);
        case 1:
            return reset();
        case 2:
            return ticker_->retry_now();
        case 3:
            if (one_in(3))
                ticker_->stop();
            return;
        default:
            time_.advance(up_to(30ms));
        }
    }

    std::mt19937_64 dice_;
    std::shared_ptr<recording_gate> gate_ = std::make_shared<recording_gate>();
    std::shared_ptr<recording_observer> observer_ = std::make_shared<recording_observer>();
    asio::io_context io_{1};
    virtual_time time_{io_};
    asio::cancellation_signal signal_;
    std::optional<backoff_ticker> ticker_;
    int ticks_ = 0;
    bool is_reset_ = false;
    bool is_waiting_ = false;
};

// Every tick but the first has cost one retry, and no other thing has.
TEST(random_tickers, decision_26_what_was_granted_is_spent_by_ticks_or_given_back) {
    for (std::uint64_t seed = 1; seed <= 250 && !testing::Test::HasFailure(); ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        random_ticker ticker(seed);
        ticker.play();
        ticker.expect_balance();
    }
}

} // namespace
} // namespace asio_retry::test
