#include <asio_retry/async_hedge.hpp>
#include <asio_retry/async_retry.hpp>

#include <asio_retry/virtual_time.hpp>

#include "support/many_attempts.hpp"
#include "support/recording_gate.hpp"

#include <boost/asio.hpp>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <exception>
#include <memory>
#include <optional>
#include <string>

// What a cancellation of a hedge comes to: by every means, at every point, whatever its attempts do when they
// are told, on every kind of executor, with both ways of delivery.

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;

enum class hedge_point {
    before_start,
    one_in_flight,
    two_in_flight,
    three_in_flight,
    after_a_failure, ///< the second began because the first has failed
    waiting,         ///< the first has failed, and its peer wants a pause
    failure_queued,  ///< of the first; its completion has not come
    success_queued,  ///< the same
    losers_ending,   ///< the second has succeeded, the first has been told
    in_hook,         ///< inside on_hedge, before the second
    in_predicate,    ///< inside retry_if, about the first
    after_the_end,
};
enum class hedge_means { nothing, terminal, partial, total, partial_and_total, all, scope, parent_scope };
enum class when_told { aborts, aborts_here, succeeds, fails, ignores_and_succeeds, ignores_and_fails };
enum class hedge_place { io_context, strand, any_executor };

constexpr std::array hedge_points{
    hedge_point::before_start,    hedge_point::one_in_flight,   hedge_point::two_in_flight,
    hedge_point::three_in_flight, hedge_point::after_a_failure, hedge_point::waiting,
    hedge_point::failure_queued,  hedge_point::success_queued,  hedge_point::losers_ending,
    hedge_point::in_hook,         hedge_point::in_predicate,    hedge_point::after_the_end};
constexpr std::array hedge_means_all{hedge_means::nothing, hedge_means::terminal,          hedge_means::partial,
                                     hedge_means::total,   hedge_means::partial_and_total, hedge_means::all,
                                     hedge_means::scope,   hedge_means::parent_scope};
constexpr std::array all_when_told{
    when_told::aborts, when_told::aborts_here,          when_told::succeeds,
    when_told::fails,  when_told::ignores_and_succeeds, when_told::ignores_and_fails};

struct hedge_case {
    hedge_point at;
    hedge_means by;
    when_told does;
    bool at_once;
    hedge_place on;

    bool by_scope() const { return by >= hedge_means::scope; }
    std::uint64_t begun() const {
        switch (at) {
        case hedge_point::before_start:
            return 0;
        case hedge_point::two_in_flight:
        case hedge_point::after_a_failure:
        case hedge_point::losers_ending:
            return 2;
        case hedge_point::three_in_flight:
            return 3;
        default:
            return 1;
        }
    }
    /// Whether the cancellation stops the operation.
    bool counts() const {
        if (at == hedge_point::after_the_end || by == hedge_means::nothing)
            return false;
        if (at == hedge_point::before_start)
            return by_scope(); // a slot has nobody to tell yet
        if (by != hedge_means::total)
            return true;
        // Only while the first is alone and has not failed, as far as is known.
        return begun() == 1 && at != hedge_point::waiting && at != hedge_point::in_predicate;
    }
    asio::cancellation_type_t emitted() const {
        using type = asio::cancellation_type;
        constexpr type by_means[] = {
            type::none, type::terminal, type::partial, type::total, type::partial | type::total,
            type::all,  type::none,     type::none};
        return by_means[static_cast<std::size_t>(by)];
    }
    std::string name() const {
        return "point " + std::to_string(static_cast<int>(at)) + " means " +
               std::to_string(static_cast<int>(by)) + " told " + std::to_string(static_cast<int>(does)) +
               (at_once ? " at once" : "") + " place " + std::to_string(static_cast<int>(on));
    }
};

class hedge_scenario {
public:
    explicit hedge_scenario(hedge_case const& c)
        : case_(c) {
        attempts_.on_cancel = [this](many_attempts&, std::uint64_t number) { tell(number); };
    }

    void run() {
        if (case_.at == hedge_point::before_start)
            cancel();
        launch();
        drive();
        if (case_.at != hedge_point::before_start && case_.at != hedge_point::in_hook &&
            case_.at != hedge_point::in_predicate)
            cancel();
        poll();
        expect_what_was_told();
        bool const done_by_now = completions_ == 1;
        if (case_.counts() && case_.at_once) {
            EXPECT_TRUE(done_by_now);
        }
        finish_attempts();
        expect_end(done_by_now);
    }

private:
    void launch() {
        auto operation = [this](attempt a, auto token) {
            if (case_.at == hedge_point::waiting)
                a.heed(pushback::after(1s));
            return attempts_(a, std::move(token));
        };
        hedge_policy policy = hedge_policy(10ms).max_attempts(3).gate(gate_);
        if (case_.at_once)
            policy = policy.deliver_at_once();
        if (case_.at == hedge_point::in_hook)
            policy = policy.on_hedge([this](std::uint64_t) { cancel(); });
        if (case_.at == hedge_point::in_predicate)
            policy = policy.retry_if([this](error_code) {
                cancel();
                return true;
            });
        auto handler = [this](error_code ec, int value) {
            ++completions_;
            error_ = ec;
            value_ = value;
        };
        auto const start = [&](auto executor) {
            auto bound =
                asio::bind_executor(executor, asio::bind_cancellation_slot(signal_.slot(), std::move(handler)));
            if (case_.by_scope())
                async_hedge(scope_, operation, policy, std::move(bound));
            else
                async_hedge(executor, operation, policy, std::move(bound));
        };
        switch (case_.on) {
        case hedge_place::io_context:
            return start(io_.get_executor());
        case hedge_place::strand:
            return start(asio::make_strand(io_));
        case hedge_place::any_executor:
            return start(asio::any_io_executor(asio::make_strand(io_)));
        }
    }

    void drive() {
        switch (case_.at) {
        case hedge_point::before_start:
        case hedge_point::one_in_flight:
            break;
        case hedge_point::two_in_flight:
        case hedge_point::in_hook:
            time_.advance(10ms);
            break;
        case hedge_point::three_in_flight:
            time_.advance(20ms);
            break;
        case hedge_point::after_a_failure:
        case hedge_point::waiting:
        case hedge_point::in_predicate:
            attempts_.complete(1, refused());
            poll();
            break;
        case hedge_point::failure_queued:
            attempts_.complete(1, refused());
            break;
        case hedge_point::success_queued:
            attempts_.complete(1, {}, 1);
            break;
        case hedge_point::losers_ending: {
            time_.advance(10ms);
            auto const tell = std::exchange(attempts_.on_cancel, nullptr);
            attempts_.complete(2, {}, 2);
            poll();
            attempts_.on_cancel = tell;
            break;
        }
        case hedge_point::after_the_end:
            attempts_.complete(1, {}, 1);
            poll();
            break;
        }
    }

    void cancel() {
        int const completed = completions_;
        if (case_.by == hedge_means::scope)
            scope_.cancel();
        else if (case_.by == hedge_means::parent_scope)
            parent_.cancel();
        else
            signal_.emit(case_.emitted());
        EXPECT_EQ(completions_, completed) << "completed inside emit";
    }

    void tell(std::uint64_t number) {
        switch (case_.does) {
        case when_told::aborts:
            return attempts_.complete(number, aborted());
        case when_told::aborts_here:
            return attempts_.complete_here(number, aborted());
        case when_told::succeeds:
            return attempts_.complete(number, {}, static_cast<int>(number));
        case when_told::fails:
            return attempts_.complete(number, refused());
        case when_told::ignores_and_succeeds:
        case when_told::ignores_and_fails:
            return;
        }
    }

    void poll() {
        io_.restart();
        io_.poll();
    }

    bool is_in_flight_point() const {
        return case_.at >= hedge_point::one_in_flight && case_.at <= hedge_point::after_a_failure;
    }

    /// Each attempt that runs is told once, with the type that was emitted. By a scope, or with delivery at
    /// once, that is terminal.
    void expect_what_was_told() {
        if (!is_in_flight_point())
            return;
        for (std::uint64_t number = case_.at == hedge_point::after_a_failure ? 2 : 1; number <= case_.begun();
             ++number) {
            auto const& told = attempts_.told[number];
            if (!case_.counts()) {
                EXPECT_TRUE(told.empty());
                continue;
            }
            ASSERT_GE(told.size(), 1u);
            bool const is_final = case_.by_scope() || case_.at_once;
            EXPECT_EQ(told[0], is_final ? asio::cancellation_type::terminal : case_.emitted());
        }
    }

    /// Attempts that still run end now: as they would have, or with success where nobody cancelled.
    void finish_attempts() {
        for (int round = 0; round < 4; ++round) {
            for (std::uint64_t number = 3; number >= 1; --number)
                if (attempts_.pending(number)) {
                    bool const fails = case_.counts() && case_.does == when_told::ignores_and_fails;
                    attempts_.complete(number, fails ? refused() : error_code(), static_cast<int>(number));
                    poll();
                }
            if (completions_ == 0)
                time_.advance(1s);
        }
        time_.run();
    }

    bool expects_success(bool done_by_now) const {
        if (case_.at == hedge_point::success_queued || case_.at == hedge_point::losers_ending ||
            case_.at == hedge_point::after_the_end || !case_.counts())
            return true;
        if (case_.at == hedge_point::before_start || case_.at == hedge_point::waiting ||
            case_.at == hedge_point::failure_queued || case_.at == hedge_point::in_predicate)
            return false; // nobody is left who could succeed
        if (case_.does == when_told::ignores_and_succeeds)
            return !done_by_now;
        // A scope tells and delivers in one turn, before what they post.
        bool const in_one_turn = case_.at_once && (case_.by_scope() || case_.at == hedge_point::in_hook);
        return case_.does == when_told::succeeds && !in_one_turn;
    }

    void expect_end(bool done_by_now) {
        EXPECT_EQ(completions_, 1);
        if (expects_success(done_by_now)) {
            EXPECT_FALSE(error_) << error_;
            EXPECT_NE(value_, 0);
        } else {
            EXPECT_EQ(error_, aborted());
        }
        if (case_.counts()) {
            EXPECT_EQ(attempts_.started, case_.begun()) << "nothing begins after a cancellation";
        }
        EXPECT_TRUE(gate_->is_balanced());
        EXPECT_EQ(scheduler(io_).pending(), 0u);
        EXPECT_EQ(scope_.pending(), 0u);
        signal_.emit(asio::cancellation_type::all); // which nobody hears
        poll();
        EXPECT_TRUE(io_.stopped());
        EXPECT_EQ(completions_, 1);
    }

    hedge_case const case_;
    asio::cancellation_signal signal_;
    asio::io_context io_;
    virtual_time time_{io_};
    retry_scope parent_{io_};
    retry_scope scope_{parent_};
    many_attempts attempts_{io_};
    std::shared_ptr<recording_gate> const gate_ = std::make_shared<recording_gate>();
    int completions_ = 0;
    error_code error_;
    int value_ = 0;
};

TEST(hedge_cancellation, completes_as_the_table_says) {
    int cases = 0;
    for (hedge_point at : hedge_points)
        for (hedge_means by : hedge_means_all)
            for (when_told does : all_when_told)
                for (bool at_once : {false, true})
                    for (hedge_place on :
                         {hedge_place::io_context, hedge_place::strand, hedge_place::any_executor}) {
                        hedge_case const c{at, by, does, at_once, on};
                        if (at == hedge_point::before_start && !c.by_scope())
                            continue;
                        ++cases;
                        SCOPED_TRACE(c.name());
                        hedge_scenario(c).run();
                    }
    EXPECT_EQ(cases, (11 * 8 + 2) * 6 * 2 * 3);
}

// An awaitable sees `terminal` alone.
TEST(hedge_that_hears_nothing, is_interrupted_at_its_deadline_all_the_same) {
    for (auto const type : {asio::cancellation_type::partial, asio::cancellation_type::total}) {
        asio::io_context io(1);
        virtual_time time(io);
        time_point const begin = time.now();
        asio::cancellation_signal signal;
        std::exception_ptr thrown;
        duration took{};
        auto const hangs = []() -> asio::awaitable<void> {
            auto const policy = retry_policy().backoff(constant(1h)).jitter(no_jitter());
            co_await async_retry([] { return error_code(asio::error::try_again); }, policy,
                                 asio::use_awaitable);
        };
        async_hedge(io, hangs, hedge_policy(1min).total_timeout(10s),
                    asio::bind_cancellation_slot(signal.slot(), [&](std::exception_ptr e) {
                        thrown = e;
                        took = time.now() - begin;
                    }));
        time.advance(1s);
        signal.emit(type);
        time.run();
        EXPECT_EQ(code_of(thrown), asio::error::operation_aborted);
        EXPECT_EQ(took, 10s);
    }
}

} // namespace
} // namespace asio_retry::test
