#include <asio_retry/async_hedge.hpp>
#include <asio_retry/async_retry.hpp>
#include <asio_retry/fail_if.hpp>
#include <asio_retry/retry_scope.hpp>
#include <asio_retry/virtual_time.hpp>
#include <asio_retry/with_report.hpp>

#include "support/policies.hpp"
#include "support/scripted_operation.hpp"
#include "support/throws_at.hpp"

#include <boost/asio.hpp>
#include <boost/system/result.hpp>
#include <boost/system/system_error.hpp>
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <exception>
#include <optional>
#include <tuple>

// Every form of operation, with a value that throws when it is made by default or moved. AddressSanitizer sees
// what becomes of the memory of an operation that ends so, where Asio keeps none.

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;

/// Which of the functions of a value throw, and whether all do from then on.
struct trouble {
    bool when_made, when_moved, goes_on;
    std::size_t left;
    bool has_come = false;

    void meet(bool here) {
        if (here && (left == 0 ? goes_on : --left == 0)) {
            has_come = true;
            throw planned_exception();
        }
    }
};

/// Its first constructor, for what an attempt comes to, never throws.
class fickle {
public:
    static inline trouble* current = nullptr;

    explicit fickle(int) noexcept {}
    fickle() {
        if (current)
            current->meet(current->when_made);
    }
    fickle(fickle&&) {
        if (current)
            current->meet(current->when_moved);
    }
    fickle& operator=(fickle&&) = delete;
    ~fickle() = default;
};

/// What became of the handler and its copies.
class counted_end {
public:
    struct counts {
        int handlers = 0;
        int calls = 0;
    };

    counted_end(counts& of, asio::cancellation_slot slot) noexcept
        : counts_(&of)
        , slot_(slot) {
        ++counts_->handlers;
    }
    counted_end(counted_end&& other) noexcept
        : counted_end(*other.counts_, other.slot_) {}
    counted_end& operator=(counted_end&&) = delete;
    ~counted_end() { --counts_->handlers; }

    using cancellation_slot_type = asio::cancellation_slot;
    cancellation_slot_type get_cancellation_slot() const noexcept { return slot_; }

    template <typename Failure, typename... Values>
    void operator()(Failure const&, Values const&...) {
        ++counts_->calls;
    }

private:
    counts* counts_;
    asio::cancellation_slot slot_;
};

/// Of one thread, or as one that several may run, where nothing waits.
struct place {
    trouble what;
    bool can_be_cancelled;
    counted_end::counts end;
    script played;
    retry_report report;
    asio::cancellation_signal signal;
    asio::io_context io;
    std::optional<virtual_time> time;
    retry_scope scope{io.get_executor()};
    bool refused = false;
    int escaped = 0;

    place(trouble given, std::size_t failures, bool cancellable, bool has_threads)
        : what(given)
        , can_be_cancelled(cancellable)
        , played(script::failures(failures)) {
        if (!has_threads)
            time.emplace(io);
        fickle::current = &what;
    }
    ~place() { fickle::current = nullptr; }

    retry_policy slow(retry_policy policy) const { return time ? policy : policy.backoff(constant(0ms)); }
    hedge_policy hedge() const { return hedge_policy(time ? 10ms : 0ms).max_attempts(3); }

    counted_end handler() { return {end, can_be_cancelled ? signal.slot() : asio::cancellation_slot()}; }

    void run() {
        for (int before = -1; before != escaped;) {
            before = escaped;
            try {
                if (time)
                    time->run();
                io.restart();
                io.run();
            } catch (planned_exception const&) {
                ++escaped;
            }
        }
    }
};

// --- the forms

error_code next(place& in) {
    return in.played.next();
}
void throw_if(error_code const& ec) {
    if (ec)
        throw boost::system::system_error(ec);
}

struct of_a_token {
    static auto make(place& in) {
        return [&in](auto token) {
            return asio::async_initiate<decltype(token), void(error_code, fickle)>(
                [&in](auto handler) {
                    asio::post(in.io, [&in, handler = std::move(handler)]() mutable {
                        error_code const ec = next(in);
                        std::move(handler)(ec, fickle(1));
                    });
                },
                token);
        };
    }
};
struct of_a_token_inline {
    static auto make(place& in) {
        return [&in](auto token) {
            return asio::async_initiate<decltype(token), void(std::exception_ptr, fickle)>(
                [&in](auto handler) {
                    std::exception_ptr failure;
                    if (error_code const ec = next(in))
                        failure = std::make_exception_ptr(boost::system::system_error(ec));
                    std::move(handler)(failure, fickle(1));
                },
                token);
        };
    }
};
struct judged {
    static auto make(place& in) {
        return fail_if(of_a_token::make(in), [](fickle const&) { return false; });
    }
};
struct awaitable_at_once {
    static auto make(place& in) {
        return [&in]() -> asio::awaitable<fickle> {
            throw_if(next(in));
            co_return fickle(1);
        };
    }
};
struct awaitable_in_a_turn {
    static auto make(place& in) {
        return [&in]() -> asio::awaitable<fickle> {
            co_await asio::post(asio::use_awaitable);
            throw_if(next(in));
            co_return fickle(1);
        };
    }
};
struct awaitable_tuple {
    static auto make(place& in) {
        return [&in]() -> asio::awaitable<std::tuple<error_code, fickle>> {
            error_code const ec = next(in);
            co_return std::tuple<error_code, fickle>(ec, 1);
        };
    }
};
struct awaitable_result {
    static auto make(place& in) {
        return [&in]() -> asio::awaitable<boost::system::result<fickle>> {
            if (error_code const ec = next(in))
                co_return ec;
            co_return fickle(1);
        };
    }
};
struct awaitable_reported {
    static auto make(place& in) { return with_report(awaitable_at_once::make(in), in.report); }
};
struct plain {
    static auto make(place& in) {
        return [&in] {
            throw_if(next(in));
            return fickle(1);
        };
    }
};
struct plain_result {
    static auto make(place& in) {
        return [&in]() -> boost::system::result<fickle> {
            if (error_code const ec = next(in))
                return ec;
            return fickle(1);
        };
    }
};

// --- how they are started

struct called_back {
    template <typename Form>
    static void start(place& in, retry_policy policy) {
        async_retry(in.io, Form::make(in), std::move(policy), in.handler());
    }
};
struct in_a_scope {
    template <typename Form>
    static void start(place& in, retry_policy policy) {
        async_retry(in.scope, Form::make(in), std::move(policy), in.handler());
    }
};
struct on_a_strand {
    template <typename Form>
    static void start(place& in, retry_policy policy) {
        async_retry(Form::make(in), std::move(policy),
                    asio::bind_executor(asio::make_strand(in.io), in.handler()));
    }
};
struct hedged {
    template <typename Form>
    static void start(place& in, retry_policy const&) {
        async_hedge(in.io, Form::make(in), in.hedge(), in.handler());
    }
};

/// On one thread, or else on a strand, or where somebody may cancel it in a coroutine of the library's.
struct awaited_value {
    template <typename Form>
    static asio::awaitable<void> run(place& in, retry_policy policy) {
        co_await async_retry(Form::make(in), std::move(policy), asio::as_tuple(asio::use_awaitable));
    }
    template <typename Form>
    static void start(place& in, retry_policy policy) {
        asio::co_spawn(in.io, run<Form>(in, std::move(policy)), in.handler());
    }
};
struct awaited_hedge {
    template <typename Form>
    static asio::awaitable<void> run(place& in) {
        co_await async_hedge(Form::make(in), in.hedge(), asio::as_tuple(asio::use_awaitable));
    }
    template <typename Form>
    static void start(place& in, retry_policy const&) {
        asio::co_spawn(in.io, run<Form>(in), in.handler());
    }
};

/// Returns whether the trouble came: then the handler may have been destroyed uncalled.
template <typename How, typename Form>
bool plays(trouble what, std::size_t failures, bool cancellable, bool has_threads, retry_policy const& policy) {
    place in(what, failures, cancellable, has_threads);
    try {
        How::template start<Form>(in, in.slow(policy));
    } catch (planned_exception const&) {
        in.refused = true;
        EXPECT_EQ(in.end.handlers, 0) << "its initiating function threw and kept the handler";
    }
    in.run();
    EXPECT_EQ(in.end.handlers, 0) << "it never ends";
    EXPECT_LE(in.end.calls, 1);
    bool const was_told = in.refused || in.escaped != 0;
    if (in.what.has_come)
        EXPECT_TRUE(in.end.calls == 1 || was_told) << "nobody was told";
    else
        EXPECT_TRUE(in.end.calls == 1 && !was_told);
    EXPECT_FALSE(in.refused && in.end.calls != 0);
    EXPECT_EQ(in.scope.pending(), 0u);
    return in.what.has_come;
}

struct surroundings {
    bool is_limited, can_be_cancelled, has_threads;
};

/// Once for each function of the value that is called.
template <typename How, typename Form>
void expect_an_end_in(surroundings const& in) {
    retry_policy const policy = in.is_limited ? every_100ms().attempt_timeout(1s) : every_100ms();
    for (std::size_t const failures : {0u, 1u, 9u})
        for (int kind = 0; kind != 3; ++kind) {
            std::size_t nth = 0;
            for (bool has_come = true; has_come;) {
                ASSERT_LT(++nth, 100u);
                SCOPED_TRACE(testing::Message()
                             << "limited: " << in.is_limited << ", cancellable: " << in.can_be_cancelled
                             << ", threads: " << in.has_threads << ", failures: " << failures
                             << ", kind: " << kind << ", nth: " << nth);
                has_come = plays<How, Form>({kind != 1, kind != 0, kind == 2, nth}, failures,
                                            in.can_be_cancelled, in.has_threads, policy);
            }
        }
}

template <typename How, typename Form>
void expect_an_end() {
    for (surroundings const& in :
         {surroundings{false, false, false}, surroundings{true, false, true}, surroundings{false, true, true},
          surroundings{true, true, false}, surroundings{true, true, true}})
        expect_an_end_in<How, Form>(in);
}

template <typename How, typename... Forms>
void expect_an_end_of_each() {
    (expect_an_end<How, Forms>(), ...);
}

TEST(values_that_throw, decision_59_end_an_operation_of_steps) {
    expect_an_end_of_each<called_back, of_a_token, of_a_token_inline, judged>();
    expect_an_end<in_a_scope, of_a_token>();
}

TEST(values_that_throw, decision_59_end_an_operation_of_a_plain_callable) {
    expect_an_end_of_each<called_back, plain, plain_result>();
    expect_an_end<in_a_scope, plain>();
}

TEST(values_that_throw, decision_59_end_an_operation_in_a_coroutine_of_the_librarys) {
    expect_an_end_of_each<called_back, awaitable_at_once, awaitable_in_a_turn, awaitable_tuple,
                          awaitable_result, awaitable_reported>();
    expect_an_end_of_each<in_a_scope, awaitable_at_once, awaitable_in_a_turn>();
    expect_an_end_of_each<on_a_strand, awaitable_at_once, awaitable_in_a_turn>();
}

TEST(values_that_throw, decision_59_end_an_operation_that_is_awaited) {
    expect_an_end_of_each<awaited_value, awaitable_at_once, awaitable_in_a_turn, awaitable_tuple,
                          awaitable_reported, of_a_token>();
}

TEST(values_that_throw, decision_59_end_a_hedge) {
    for (surroundings const& in : {surroundings{false, false, false}, surroundings{false, true, true}}) {
        expect_an_end_in<hedged, of_a_token>(in);
        expect_an_end_in<hedged, of_a_token_inline>(in);
        expect_an_end_in<hedged, judged>(in);
        expect_an_end_in<hedged, plain>(in);
        expect_an_end_in<hedged, awaitable_at_once>(in);
        expect_an_end_in<hedged, awaitable_in_a_turn>(in);
        expect_an_end_in<hedged, awaitable_tuple>(in);
        expect_an_end_in<awaited_hedge, awaitable_at_once>(in);
    }
}

} // namespace
} // namespace asio_retry::test
