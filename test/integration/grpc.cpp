// gRPC's own server and client on sockets: `grpc_unary`, and the points that gRFC A6 names.
#include "greeter_server.hpp"
#include "support/refuses.hpp"

#include <asio_retry/async_hedge.hpp>
#include <asio_retry/async_retry.hpp>
#include <asio_retry/fail_if.hpp>
#include <asio_retry/grpc.hpp>
#include <asio_retry/permanent.hpp>
#include <asio_retry/traffic/token_budget.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <future>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace asio_retry::test {
namespace {

namespace asio = boost::asio;
using grpc::StatusCode;
using testing::ElementsAre;
using testing::UnorderedElementsAre;
using namespace std::chrono_literals;
using milliseconds = std::chrono::milliseconds;

constexpr void (Greeter::Stub::async::*say_hello)(grpc::ClientContext*, HelloRequest const*, HelloReply*,
                                                  std::function<void(grpc::Status)>) =
    &Greeter::Stub::async::SayHello;

/// The answer of the server to one call. Without a status it waits until the client has gone.
struct scripted_answer {
    std::optional<StatusCode> code = StatusCode::OK;
    std::optional<std::string> pushback{};
    std::string text = "so it is";
};

/// The server's view of a call.
struct seen_call {
    std::string previous;         ///< grpc-previous-rpc-attempts
    milliseconds time_left = 24h; ///< until the deadline; 24 h without
    time_point came;
};

/// A server that gives these answers, the last one for ever, and notes what it sees.
class scripted_server {
public:
    scripted_server(std::initializer_list<scripted_answer> answers)
        : scripted_server(std::vector<scripted_answer>(answers)) {}
    explicit scripted_server(std::vector<scripted_answer> answers)
        : answers_(std::move(answers))
        , server_([this](greeter_server::call const& call) { answer(call); }) {}

    ~scripted_server() { let_go(); }

    std::vector<seen_call> seen() const {
        std::scoped_lock const lock(mutex_);
        return seen_;
    }
    std::vector<std::string> seen_previous() const {
        std::vector<std::string> all;
        for (seen_call const& each : seen())
            all.push_back(each.previous);
        return all;
    }
    void wait_for_calls(std::size_t count) const {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return seen_.size() >= count; });
    }
    std::unique_ptr<Greeter::Stub> stub(std::string const& service_config = {}) const {
        return Greeter::NewStub(server_.channel(service_config));
    }

private:
    /// Ends the calls that wait, and those that are still to come.
    void let_go() {
        std::vector<grpc::ServerUnaryReactor*> waiting;
        {
            std::scoped_lock const lock(mutex_);
            is_closing_ = true;
            waiting.swap(waiting_);
        }
        for (auto* const each : waiting)
            each->Finish(grpc::Status::CANCELLED);
    }

    void answer(greeter_server::call const& call) {
        seen_call note;
        note.came = std::chrono::steady_clock::now();
        auto const& fields = call.context.client_metadata();
        for (auto [at, end] = fields.equal_range("grpc-previous-rpc-attempts"); at != end; ++at)
            note.previous += std::string(at->second.data(), at->second.size());
        if (auto const until = call.context.deadline(); until < std::chrono::system_clock::now() + 24h)
            note.time_left = std::chrono::duration_cast<milliseconds>(until - std::chrono::system_clock::now());
        scripted_answer next;
        {
            std::scoped_lock const lock(mutex_);
            next = answers_[std::min(seen_.size(), answers_.size() - 1)];
            seen_.push_back(std::move(note));
            if (is_closing_)
                next.code = StatusCode::CANCELLED;
            if (!next.code)
                waiting_.push_back(&call.reactor);
            changed_.notify_all();
        }
        if (!next.code)
            return;
        if (next.pushback)
            call.context.AddTrailingMetadata("grpc-retry-pushback-ms", *next.pushback);
        call.reply.set_message("hello " + call.request.name());
        call.reactor.Finish(*next.code == StatusCode::OK ? grpc::Status()
                                                         : grpc::Status(*next.code, next.text, "detail"));
    }

    std::vector<scripted_answer> const answers_;
    std::mutex mutable mutex_;
    std::condition_variable mutable changed_;
    std::vector<seen_call> seen_;
    std::vector<grpc::ServerUnaryReactor*> waiting_;
    bool is_closing_ = false;
    greeter_server server_;
};

HelloRequest request_for(std::string const& name) {
    HelloRequest request;
    request.set_name(name);
    return request;
}

retry_policy quick() {
    return retry_policy().backoff(constant(1ms)).jitter(no_jitter()).max_attempts(4);
}

struct grpc_outcome {
    std::exception_ptr failure;
    std::string message;
    grpc::Status status() const { return grpc_status(failure); }
    StatusCode code() const { return status().error_code(); }
};

/// Carries out a retry, or a hedge, to its end.
template <typename Operation>
grpc_outcome outcome_of(Operation operation, retry_policy const& policy) {
    asio::io_context io;
    grpc_outcome result{std::make_exception_ptr(std::logic_error("the handler was not called")), {}};
    async_retry(io, std::move(operation), policy,
                [&](std::exception_ptr e, HelloReply reply) { result = {std::move(e), reply.message()}; });
    io.run();
    return result;
}

grpc_outcome greet(scripted_server const& server, retry_policy const& policy) {
    auto const stub = server.stub();
    return outcome_of(grpc_unary(stub, say_hello, request_for("you")), policy);
}

// --- gRFC A6

TEST(grpc_a6, retries_by_the_classes_of_status_codes) {
    for (int code = 1; code <= 16; ++code) {
        scripted_server server{{static_cast<StatusCode>(code)}, {StatusCode::OK}};
        grpc_outcome const result = greet(server, quick());
        bool const is_retried = classify_grpc(code).kind != failure_kind::permanent;
        EXPECT_EQ(server.seen().size(), is_retried ? 2u : 1u) << code;
        EXPECT_EQ(result.code(), is_retried ? StatusCode::OK : code);
        EXPECT_EQ(result.message, is_retried ? "hello you" : "");
    }
}

TEST(grpc_a6, retries_only_retryable_status_codes) {
    auto const policy = quick().retry_if(grpc_codes{StatusCode::UNAVAILABLE});
    scripted_server unavailable{{StatusCode::UNAVAILABLE}, {StatusCode::INTERNAL}};
    EXPECT_EQ(greet(unavailable, policy).code(), StatusCode::INTERNAL);
    EXPECT_EQ(unavailable.seen().size(), 2u);

    scripted_server permanent{{StatusCode::NOT_FOUND}, {StatusCode::OK}};
    EXPECT_EQ(greet(permanent, quick().retry_if(grpc_codes{StatusCode::NOT_FOUND})).code(), StatusCode::OK);

    scripted_server late{{std::nullopt}, {StatusCode::OK}};
    auto const limited = quick().attempt_timeout(50ms);
    EXPECT_EQ(greet(late, limited.retry_if(grpc_codes{StatusCode::DEADLINE_EXCEEDED})).code(), StatusCode::OK);

    scripted_server named{{StatusCode::INTERNAL}, {StatusCode::OK}};
    EXPECT_EQ(greet(named, quick().retry_if(grpc_codes(std::vector<std::string>{"INTERNAL"}))).code(),
              StatusCode::OK);
    EXPECT_THROW(grpc_codes(std::vector<std::string>{"internal"}), std::invalid_argument);
}

TEST(grpc_a6, makes_at_most_max_attempts_and_tells_how_many_came_before) {
    scripted_server server{{StatusCode::UNAVAILABLE}};
    grpc_outcome const result = greet(server, quick().max_attempts(4));
    EXPECT_EQ(result.status().error_code(), StatusCode::UNAVAILABLE);
    EXPECT_EQ(result.status().error_message(), "so it is");
    EXPECT_EQ(result.status().error_details(), "detail");
    EXPECT_THAT(server.seen_previous(), ElementsAre("", "1", "2", "3"));
}

TEST(grpc_a6, a_channel_that_retries_too_hides_how_many_came_before) {
    scripted_server server{{StatusCode::UNAVAILABLE}, {StatusCode::OK}};
    outcome_of(grpc_unary(server.stub("{}"), say_hello, request_for("you")), quick());
    EXPECT_THAT(server.seen_previous(), ElementsAre("", ""));
}

TEST(grpc_a6, waits_as_long_as_the_server_pushes_back) {
    scripted_server server{{StatusCode::UNAVAILABLE, "150"}, {StatusCode::UNAVAILABLE}, {StatusCode::OK}};
    EXPECT_EQ(greet(server, quick().pushback_spread(0)).code(), StatusCode::OK);
    auto const seen = server.seen();
    ASSERT_EQ(seen.size(), 3u);
    EXPECT_GE(seen[1].came - seen[0].came, 150ms);
}

TEST(grpc_a6, makes_no_retry_after_a_pushback_that_is_negative_or_no_number) {
    for (char const* const text : {"-1", "-2147483648", "x", "", "1.5", "99999999999"}) {
        scripted_server server{{StatusCode::UNAVAILABLE, text}, {StatusCode::OK}};
        EXPECT_EQ(greet(server, quick()).code(), StatusCode::UNAVAILABLE) << text;
        EXPECT_EQ(server.seen().size(), 1u) << text;
    }
}

TEST(grpc_a6, pushback_makes_no_code_retryable) {
    scripted_server server{{StatusCode::INVALID_ARGUMENT, "1"}, {StatusCode::OK}};
    EXPECT_EQ(greet(server, quick()).code(), StatusCode::INVALID_ARGUMENT);
    EXPECT_EQ(server.seen().size(), 1u);
}

TEST(grpc_a6, throttles_retries_while_half_of_the_tokens_are_gone) {
    auto const tokens = std::make_shared<token_budget>(grpc_tokens(4, 0.1));
    scripted_server server{{StatusCode::UNAVAILABLE}};
    auto const policy = quick().gate(tokens);
    EXPECT_EQ(greet(server, policy).code(), StatusCode::UNAVAILABLE);
    EXPECT_EQ(server.seen().size(), 2u) << "4 tokens - 1 is above half of 4, and 4 - 2 is not";
    EXPECT_EQ(greet(server, policy).code(), StatusCode::UNAVAILABLE);
    EXPECT_EQ(server.seen().size(), 3u) << "the first attempt is never throttled";
}

TEST(grpc_a6, the_throttle_counts_a_refused_retry_but_no_other_permanent_failure) {
    auto const tokens = std::make_shared<token_budget>(grpc_tokens(10, 0.5));
    scripted_server server{{StatusCode::NOT_FOUND}, {StatusCode::UNAVAILABLE, "-1"}, {StatusCode::OK}};
    greet(server, quick().gate(tokens));
    EXPECT_DOUBLE_EQ(tokens->balance(), 10);
    greet(server, quick().gate(tokens));
    EXPECT_DOUBLE_EQ(tokens->balance(), 9);
    greet(server, quick().gate(tokens));
    EXPECT_DOUBLE_EQ(tokens->balance(), 9.5);
}

TEST(grpc_a6, the_deadline_of_the_operation_holds_for_all_attempts) {
    scripted_server server{{StatusCode::UNAVAILABLE}, {std::nullopt}};
    auto const begin = std::chrono::steady_clock::now();
    EXPECT_EQ(greet(server, quick().total_timeout(1s)).code(), StatusCode::DEADLINE_EXCEEDED);
    EXPECT_GE(std::chrono::steady_clock::now() - begin, 999ms);
    auto const seen = server.seen();
    ASSERT_EQ(seen.size(), 2u);
    for (seen_call const& each : seen)
        EXPECT_LE(each.time_left, 1010ms) << "gRPC counts in milliseconds";
    EXPECT_LE(seen[1].time_left, seen[0].time_left + 10ms);
}

TEST(grpc_a6, each_attempt_has_the_deadline_of_its_own_limit) {
    scripted_server server{{std::nullopt}, {StatusCode::OK}};
    auto const begin = std::chrono::steady_clock::now();
    EXPECT_EQ(greet(server, quick().attempt_timeout(200ms).total_timeout(1h)).code(), StatusCode::OK);
    auto const seen = server.seen();
    ASSERT_EQ(seen.size(), 2u);
    EXPECT_LE(seen[0].time_left, 210ms);
    EXPECT_LE(seen[1].time_left, 210ms);
    EXPECT_GE(seen[1].came - begin, 199ms) << "the second attempt comes after the limit of the first";
}

TEST(grpc_a6, without_a_limit_there_is_no_deadline) {
    scripted_server server{{StatusCode::OK}};
    EXPECT_EQ(greet(server, quick()).code(), StatusCode::OK);
    EXPECT_EQ(server.seen().at(0).time_left, 24h);
}

// --- the operation

TEST(grpc_unary, an_earlier_deadline_of_the_caller_stays) {
    scripted_server server{{std::nullopt}};
    auto const stub = server.stub();
    auto const prepare = [](grpc::ClientContext& context) {
        context.set_deadline(std::chrono::system_clock::now() + 100ms);
    };
    auto const policy = quick().max_attempts(1).attempt_timeout(1h);
    grpc_outcome const result = outcome_of(grpc_unary(*stub, say_hello, request_for("you"), prepare), policy);
    EXPECT_EQ(result.code(), StatusCode::DEADLINE_EXCEEDED);
    EXPECT_LE(server.seen().at(0).time_left, 110ms);
}

TEST(grpc_unary, what_prepare_throws_is_the_failure_of_an_attempt) {
    scripted_server server{{StatusCode::OK}};
    auto const stub = server.stub();
    int calls = 0;
    auto const prepare = [&](grpc::ClientContext&) {
        if (++calls == 1)
            throw std::runtime_error("no token");
    };
    EXPECT_EQ(outcome_of(grpc_unary(*stub, say_hello, request_for("you"), prepare), quick()).message,
              "hello you");
    EXPECT_EQ(calls, 2);
    EXPECT_THAT(server.seen_previous(), ElementsAre("1"));
}

TEST(grpc_unary, tells_events_the_message_of_the_server) {
    scripted_server server{{StatusCode::UNAVAILABLE}, {StatusCode::OK}};
    std::vector<std::string> messages;
    greet(server, quick().on_retry([&](retry_event const& e) { messages.push_back(e.message()); }));
    EXPECT_THAT(messages, ElementsAre("UNAVAILABLE: so it is"));
}

TEST(grpc_unary, a_request_that_must_not_be_sent_twice_is_not) {
    scripted_server server{{StatusCode::UNAVAILABLE}, {StatusCode::OK}};
    EXPECT_EQ(greet(server, quick().retry_sent(false)).code(), StatusCode::UNAVAILABLE);
    EXPECT_EQ(server.seen().size(), 1u);
    scripted_server undone{{StatusCode::ABORTED}, {StatusCode::OK}};
    EXPECT_EQ(greet(undone, quick().retry_if(surely_not_done)).code(), StatusCode::OK);
}

constexpr std::size_t message_limit = 4 << 20; // of gRPC's clients and servers, by default

// The name goes into the request and, with "hello ", into the response.
TEST(grpc_unary, makes_one_attempt_if_the_response_is_too_large_as_the_work_is_done) {
    auto const request = request_for(std::string(message_limit - 8, 'x'));
    auto const chosen = quick().retry_if(grpc_codes{StatusCode::RESOURCE_EXHAUSTED});
    for (retry_policy const& policy : {quick(), quick().retry_sent(false), chosen}) {
        scripted_server server{{StatusCode::OK}};
        auto const stub = server.stub();
        grpc_outcome const result = outcome_of(grpc_unary(*stub, say_hello, request), policy);
        EXPECT_EQ(server.seen().size(), 1u);
        EXPECT_EQ(result.code(), StatusCode::RESOURCE_EXHAUSTED);
        EXPECT_THAT(result.status().error_message(), testing::HasSubstr("Received message larger than max"));
        EXPECT_THROW(std::rethrow_exception(result.failure), grpc_error);
        EXPECT_EQ(grpc_status(std::make_exception_ptr(permanent(result.failure))).error_message(),
                  result.status().error_message());
    }
}

TEST(grpc_unary, makes_one_attempt_if_the_request_is_too_large) {
    scripted_server server{{StatusCode::OK}};
    auto const stub = server.stub();
    int retries = 0;
    auto const policy = quick().on_retry([&](retry_event const&) { ++retries; });
    auto const request = request_for(std::string(message_limit, 'x'));
    EXPECT_EQ(outcome_of(grpc_unary(*stub, say_hello, request), policy).code(), StatusCode::RESOURCE_EXHAUSTED);
    EXPECT_EQ(retries, 0);
    EXPECT_TRUE(server.seen().empty());
}

TEST(grpc_unary, makes_one_attempt_if_a_server_in_another_language_says_that_a_message_is_too_large) {
    for (char const* const text : {"grpc: received message larger than max (4194305 vs. 4194304)",
                                   "grpc: trying to send message larger than max (5 vs. 4)",
                                   "gRPC message exceeds maximum size 4194304: 6144592",
                                   "Decompressed gRPC message exceeds maximum size 4194304",
                                   "Received message exceeds the maximum configured message size.",
                                   "Sending message exceeds the maximum configured message size."}) {
        scripted_server server{{StatusCode::RESOURCE_EXHAUSTED, std::nullopt, text}};
        EXPECT_EQ(greet(server, quick()).status().error_message(), text);
        EXPECT_EQ(server.seen().size(), 1u) << text;
    }
    scripted_server metadata{{StatusCode::RESOURCE_EXHAUSTED, std::nullopt,
                              "received trailing metadata size exceeds limit (9000 vs. 8192)"},
                             {StatusCode::OK}};
    EXPECT_EQ(greet(metadata, quick()).code(), StatusCode::OK) << "metadata is no message";
}

TEST(grpc_unary, called_by_itself_wraps_only_the_error_of_a_message_that_is_too_large) {
    scripted_server server{{StatusCode::RESOURCE_EXHAUSTED, std::nullopt, "message larger than max"},
                           {StatusCode::RESOURCE_EXHAUSTED}};
    auto const stub = server.stub();
    auto const ask = grpc_unary(stub, say_hello, request_for("you"));
    auto const failure = [&] {
        asio::io_context io;
        std::exception_ptr failed;
        ask(attempt(), asio::bind_executor(io, [&](std::exception_ptr e, HelloReply) { failed = e; }));
        io.run();
        return failed;
    };
    try {
        std::rethrow_exception(failure());
    } catch (permanent_error const& marked) {
        EXPECT_THROW(std::rethrow_exception(marked.exception()), grpc_error);
        EXPECT_EQ(grpc_status(std::current_exception()).error_message(), "message larger than max");
    }
    EXPECT_THROW(std::rethrow_exception(failure()), grpc_error);
}

TEST(grpc_unary, hedged_ends_with_the_plain_error_of_a_message_that_is_too_large) {
    scripted_server server{{StatusCode::RESOURCE_EXHAUSTED, std::nullopt, "message larger than max"}};
    auto const stub = server.stub();
    asio::io_context io;
    std::exception_ptr failed;
    async_hedge(io, grpc_unary(*stub, say_hello, request_for("you")), hedge_policy(1h).max_attempts(3),
                [&](std::exception_ptr e, HelloReply) { failed = std::move(e); });
    io.run();
    EXPECT_THROW(std::rethrow_exception(failed), grpc_error);
    EXPECT_EQ(server.seen().size(), 1u);
}

TEST(grpc_unary, retries_RESOURCE_EXHAUSTED_of_the_server_unless_the_request_must_not_be_sent_twice) {
    scripted_server limiting{{StatusCode::RESOURCE_EXHAUSTED}, {StatusCode::OK}};
    EXPECT_EQ(greet(limiting, quick()).code(), StatusCode::OK);
    scripted_server once{{StatusCode::RESOURCE_EXHAUSTED}, {StatusCode::OK}};
    EXPECT_EQ(greet(once, quick().retry_sent(false)).code(), StatusCode::RESOURCE_EXHAUSTED);
    EXPECT_EQ(once.seen().size(), 1u);
    scripted_server chosen{{StatusCode::RESOURCE_EXHAUSTED}, {StatusCode::OK}};
    auto const policy = quick().retry_if(grpc_codes{StatusCode::RESOURCE_EXHAUSTED});
    EXPECT_EQ(greet(chosen, policy).code(), StatusCode::OK);
}

TEST(grpc_unary, takes_every_kind_of_pointer_to_a_stub) {
    scripted_server server{{StatusCode::OK}};
    HelloRequest const request = request_for("you");
    auto unique = server.stub();
    std::shared_ptr<Greeter::Stub> const shared = server.stub();
    std::unique_ptr<Greeter::StubInterface> interface = server.stub();
    EXPECT_EQ(outcome_of(grpc_unary(*unique, say_hello, request), quick()).message, "hello you");
    EXPECT_EQ(outcome_of(grpc_unary(unique.get(), say_hello, request), quick()).message, "hello you");
    EXPECT_EQ(outcome_of(grpc_unary(unique, say_hello, request), quick()).message, "hello you");
    EXPECT_EQ(outcome_of(grpc_unary(shared, say_hello, request), quick()).message, "hello you");
    EXPECT_EQ(outcome_of(grpc_unary(std::move(unique), say_hello, request), quick()).message, "hello you");
    EXPECT_EQ(
        outcome_of(grpc_unary(*interface, &Greeter::StubInterface::async_interface::SayHello, request), quick())
            .message,
        "hello you");
    EXPECT_THROW(static_cast<void>(grpc_unary(unique, say_hello, request)), std::invalid_argument);
    void (Greeter::Stub::async::*none)(grpc::ClientContext*, HelloRequest const*, HelloReply*,
                                       std::function<void(grpc::Status)>) = nullptr;
    EXPECT_THROW(static_cast<void>(grpc_unary(shared, none, request)), std::invalid_argument);
}

/// As a mock is: its `async()` is a null pointer.
class greeter_without_async final : public Greeter::StubInterface {
public:
    grpc::Status SayHello(grpc::ClientContext*, HelloRequest const&, HelloReply*) override { return {}; }

private:
    using reader = grpc::ClientAsyncResponseReaderInterface<HelloReply>;
    reader* AsyncSayHelloRaw(grpc::ClientContext*, HelloRequest const&, grpc::CompletionQueue*) override {
        return nullptr;
    }
    reader* PrepareAsyncSayHelloRaw(grpc::ClientContext*, HelloRequest const&,
                                    grpc::CompletionQueue*) override {
        return nullptr;
    }
};

TEST(grpc_unary, refuses_a_stub_without_async) {
    greeter_without_async stub;
    EXPECT_THAT(
        [&] {
            static_cast<void>(
                grpc_unary(stub, &Greeter::StubInterface::async_interface::SayHello, HelloRequest()));
        },
        refuses("grpc_unary.stub", "without async()", "must be generated: a mock of it has no calls"));
}

TEST(grpc_unary, completes_on_the_executor_of_the_handler) {
    scripted_server server{{StatusCode::UNAVAILABLE}, {StatusCode::OK}};
    auto const stub = server.stub();
    auto const here = std::this_thread::get_id();
    int completions = 0;
    auto const ask = fail_if(grpc_unary(*stub, say_hello, request_for("you")), [&](HelloReply const&) {
        ++completions;
        EXPECT_EQ(std::this_thread::get_id(), here);
        return false;
    });
    auto const retried = quick().on_retry([&](retry_event const&) {
        ++completions;
        EXPECT_EQ(std::this_thread::get_id(), here);
    });
    asio::io_context io;
    async_retry(io, ask, retried, [&](std::exception_ptr e, HelloReply const&) {
        ++completions;
        EXPECT_FALSE(e);
        EXPECT_EQ(std::this_thread::get_id(), here);
    });
    io.run();
    EXPECT_EQ(completions, 3);
}

TEST(grpc_unary, a_coroutine_gets_the_reply_or_the_error) {
    scripted_server server{{StatusCode::UNAVAILABLE}, {StatusCode::OK}, {StatusCode::NOT_FOUND}};
    auto const stub = server.stub();
    std::string log;
    auto const talk = [&]() -> asio::awaitable<void> {
        auto ask = grpc_unary(*stub, say_hello, request_for("you"));
        HelloReply const reply = co_await async_retry(ask, quick());
        log += reply.message();
        try {
            co_await async_retry(ask, quick());
        } catch (grpc_error const& e) {
            log += std::string("; ") + e.what();
            EXPECT_EQ(e.code(), grpc_code(StatusCode::NOT_FOUND));
            EXPECT_EQ(e.status().error_details(), "detail");
        }
    };
    asio::io_context io;
    asio::co_spawn(io, talk, asio::detached);
    io.run();
    EXPECT_EQ(log, "hello you; NOT_FOUND: so it is");
}

TEST(grpc_unary, fail_if_judges_replies) {
    scripted_server server{{StatusCode::OK}};
    auto const stub = server.stub();
    int calls = 0;
    auto const ask = fail_if(grpc_unary(*stub, say_hello, request_for("you")),
                             [&](HelloReply const& reply) { return ++calls < 3 && !reply.message().empty(); });
    EXPECT_EQ(outcome_of(ask, quick()).message, "hello you");
    EXPECT_EQ(server.seen().size(), 3u);
}

/// Cancels an operation whose attempt waits at the server.
grpc_outcome cancelled_outcome(scripted_server& server, asio::cancellation_type type) {
    auto const stub = server.stub();
    asio::io_context io;
    asio::cancellation_signal signal;
    grpc_outcome result;
    async_retry(io, grpc_unary(*stub, say_hello, request_for("you")), quick(),
                asio::bind_cancellation_slot(signal.slot(), [&](std::exception_ptr e, HelloReply reply) {
                    result = {std::move(e), reply.message()};
                }));
    std::jthread const canceller([&] {
        server.wait_for_calls(1);
        asio::post(io, [&] { signal.emit(type); });
    });
    io.run();
    return result;
}

TEST(grpc_unary, a_cancellation_reaches_the_server) {
    using enum asio::cancellation_type;
    for (auto const type : {terminal, partial, total}) {
        scripted_server server{{std::nullopt}};
        grpc_outcome const result = cancelled_outcome(server, type);
        EXPECT_EQ(result.code(), StatusCode::CANCELLED);
        ASSERT_TRUE(result.failure);
        EXPECT_EQ(code_of(result.failure), asio::error::operation_aborted);
        EXPECT_EQ(server.seen().size(), 1u);
    }
}

TEST(grpc_unary, a_hedge_overtakes_a_call_that_waits) {
    scripted_server server{{std::nullopt}, {StatusCode::OK}};
    auto const stub = server.stub();
    asio::io_context io;
    grpc_outcome result;
    async_hedge(io, grpc_unary(*stub, say_hello, request_for("you")), hedge_policy(20ms),
                [&](std::exception_ptr e, HelloReply reply) { result = {std::move(e), reply.message()}; });
    io.run();
    EXPECT_EQ(result.code(), StatusCode::OK);
    EXPECT_EQ(result.message, "hello you");
    EXPECT_THAT(server.seen_previous(), UnorderedElementsAre("", "1"));
}

TEST(grpc_unary, a_hedge_makes_no_attempt_after_a_pushback_that_forbids_it) {
    scripted_server server{{StatusCode::UNAVAILABLE, "-1"}, {StatusCode::OK}};
    auto const stub = server.stub();
    asio::io_context io;
    grpc_outcome result;
    async_hedge(io, grpc_unary(*stub, say_hello, request_for("you")), hedge_policy(1h).max_attempts(3),
                [&](std::exception_ptr e, HelloReply reply) { result = {std::move(e), reply.message()}; });
    io.run();
    EXPECT_EQ(result.code(), StatusCode::UNAVAILABLE);
    EXPECT_EQ(server.seen().size(), 1u);
}

// --- lifetimes

/// Notes that it was destroyed.
struct counted {
    explicit counted(std::atomic<int>& alive)
        : alive_(&alive) {
        ++alive;
    }
    counted(counted const& other)
        : alive_(other.alive_) {
        ++*alive_;
    }
    counted& operator=(counted const&) = delete;
    ~counted() { --*alive_; }

private:
    std::atomic<int>* alive_;
};

TEST(grpc_unary, a_context_may_be_destroyed_while_calls_run) {
    std::atomic<int> alive = 0;
    scripted_server server{{std::nullopt}};
    auto const stub = server.stub();
    for (int round = 0; round != 20; ++round) {
        asio::io_context io;
        for (int i = 0; i != 10; ++i)
            async_retry(io, grpc_unary(*stub, say_hello, request_for("you")), quick(),
                        [kept = counted(alive)](std::exception_ptr, HelloReply) { FAIL(); });
        io.poll();
        if (round % 2 == 1)
            server.wait_for_calls(static_cast<std::size_t>(round) / 2 * 10 + 10);
    }
    EXPECT_EQ(alive, 0);
}

TEST(grpc_unary, a_context_may_be_destroyed_while_calls_end) {
    std::atomic<int> alive = 0;
    scripted_server server{{StatusCode::OK}};
    auto const stub = server.stub();
    for (std::size_t round = 1; round != 40; ++round) {
        asio::io_context io;
        for (int i = 0; i != 5; ++i)
            async_retry(io, grpc_unary(*stub, say_hello, request_for("you")), quick(),
                        [kept = counted(alive)](std::exception_ptr, HelloReply) {});
        server.wait_for_calls(round); // some have ended, and others not
        if (round % 3 == 0)
            io.poll_one();
    }
    EXPECT_EQ(alive, 0);
}

TEST(grpc_unary, an_attempt_left_behind_ends_later) {
    scripted_server server{{std::nullopt}};
    auto const stub = server.stub();
    auto const policy = quick().max_attempts(2).attempt_timeout(30ms).deliver_at_once();
    grpc_outcome const result = outcome_of(grpc_unary(*stub, say_hello, request_for("you")), policy);
    EXPECT_EQ(result.code(), StatusCode::DEADLINE_EXCEEDED);
}

TEST(grpc_unary, many_operations_share_a_stub_on_several_threads) {
    std::vector<scripted_answer> answers;
    for (int i = 0; i != 600; ++i)
        answers.push_back({i % 3 == 0 ? StatusCode::UNAVAILABLE : StatusCode::OK});
    scripted_server server(answers);
    auto const stub = server.stub();
    asio::thread_pool pool(4);
    std::vector<std::future<HelloReply>> replies;
    auto const policy = quick().max_attempts(50).attempt_timeout(1h);
    for (int i = 0; i != 400; ++i) {
        auto const strand = asio::make_strand(pool);
        replies.push_back(async_retry(strand, grpc_unary(*stub, say_hello, request_for(std::to_string(i))),
                                      policy, asio::use_future));
    }
    for (int i = 0; i != 400; ++i)
        EXPECT_EQ(replies[static_cast<std::size_t>(i)].get().message(), "hello " + std::to_string(i));
    pool.join();
}

// --- the codes

TEST(grpc_category, classifies_its_codes) {
    for (int code = 0; code <= 17; ++code)
        EXPECT_EQ(classify(grpc_code(static_cast<StatusCode>(code))), classify_grpc(code)) << code;
    EXPECT_EQ(grpc_code(StatusCode::DEADLINE_EXCEEDED), boost::system::errc::timed_out);
    EXPECT_EQ(grpc_code(StatusCode::CANCELLED), boost::system::errc::operation_canceled);
    EXPECT_EQ(grpc_code(StatusCode::UNAVAILABLE).message(), "UNAVAILABLE");
    EXPECT_EQ(grpc_category().message(99), "unknown gRPC status");
    EXPECT_EQ(grpc_category().message(-1), "unknown gRPC status");
    EXPECT_STREQ(grpc_error({StatusCode::UNAVAILABLE, ""}).what(), "UNAVAILABLE");
}

TEST(grpc_status, translates_what_an_operation_ends_with) {
    auto const of = [](auto const& e) { return grpc_status(std::make_exception_ptr(e)).error_code(); };
    EXPECT_TRUE(grpc_status(nullptr).ok());
    EXPECT_EQ(of(grpc_error({StatusCode::ABORTED, "again"})), StatusCode::ABORTED);
    EXPECT_EQ(of(boost::system::system_error(asio::error::timed_out)), StatusCode::DEADLINE_EXCEEDED);
    EXPECT_EQ(of(boost::system::system_error(asio::error::operation_aborted)), StatusCode::CANCELLED);
    EXPECT_EQ(of(boost::system::system_error(error::circuit_open)), StatusCode::UNAVAILABLE);
    EXPECT_EQ(of(std::runtime_error("?")), StatusCode::UNKNOWN);
    EXPECT_EQ(of(5), StatusCode::UNKNOWN);
}

} // namespace
} // namespace asio_retry::test
