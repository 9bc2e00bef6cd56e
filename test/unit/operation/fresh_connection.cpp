#include <asio_retry/fresh_connection.hpp>

#include <asio_retry/async_retry.hpp>
#include <asio_retry/virtual_time.hpp>

#include "support/lookups.hpp"
#include "support/refuses.hpp"
#include "support/scripted_operation.hpp"

#include <boost/asio.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;
using asio::ip::tcp;
using testing::ElementsAre;

tcp::endpoint any_port() {
    return {asio::ip::address_v4::loopback(), 0};
}

/// A port of loopback that refuses connections until it listens.
struct port {
    explicit port(asio::io_context& io, tcp::endpoint const& at = any_port())
        : acceptor(io) {
        acceptor.open(tcp::v4());
        acceptor.bind(at);
        acceptor.non_blocking(true);
    }

    tcp::acceptor acceptor;

    tcp::endpoint endpoint() const { return acceptor.local_endpoint(); }
    unsigned short number() const { return endpoint().port(); }
    void listen() { acceptor.listen(); }

    /// A connection that was made, if there is one.
    std::optional<tcp::socket> accepted() {
        error_code ec;
        tcp::socket peer = acceptor.accept(ec);
        return ec ? std::nullopt : std::optional(std::move(peer));
    }
};

/// A port that listens, but has no room for connections: they neither succeed nor fail.
struct full_port : port {
    explicit full_port(asio::io_context& io, tcp::endpoint const& at = any_port())
        : port(io, at)
        , first(io) {
        acceptor.listen(0);
        first.connect(endpoint());
    }

    tcp::socket first;
};

/// What handlers are to be called with, until the test calls them, in any order.
class kept_handlers {
    struct function {
        virtual ~function() = default;
        virtual void call() = 0;
    };

public:
    class executor_type {
    public:
        explicit executor_type(kept_handlers& kept) noexcept
            : kept_(&kept) {}

        template <typename Function>
        void execute(Function f) const {
            struct held final : function {
                explicit held(Function&& given)
                    : kept(std::move(given)) {}
                void call() override { kept(); }
                Function kept;
            };
            kept_->functions_.push_back(std::make_unique<held>(std::move(f)));
        }
        friend bool operator==(executor_type, executor_type) noexcept = default;

    private:
        kept_handlers* kept_;
    };

    executor_type get_executor() noexcept { return executor_type(*this); }

    /// Runs the context until there are so many.
    void await(asio::io_context& io, std::size_t count) {
        while (functions_.size() < count)
            io.run_one();
    }

    void call(std::size_t index) {
        auto const called = std::move(functions_[index]);
        functions_.erase(functions_.begin() + static_cast<std::ptrdiff_t>(index));
        called->call();
    }

    /// Until neither the context nor these have more to do.
    void run(asio::io_context& io) {
        do {
            while (!functions_.empty())
                call(0);
            io.restart();
        } while (io.run_one() != 0 || !functions_.empty());
    }

    void drop() { std::deque<std::unique_ptr<function>>().swap(functions_); }

private:
    std::deque<std::unique_ptr<function>> functions_;
};

/// Begins to fail at once, wherever it is tried: no stream goes to many hosts.
tcp::endpoint multicast(unsigned short port) {
    return {asio::ip::make_address("ff02::1"), port};
}

constexpr asio::cancellation_type all_types[] = {
    asio::cancellation_type::terminal, asio::cancellation_type::partial, asio::cancellation_type::total};

struct result {
    int count = 0;
    error_code error;
    tcp::endpoint peer;

    auto handler() {
        return [this](error_code ec, tcp::endpoint connected) {
            ++count;
            error = ec;
            peer = connected;
        };
    }
};

class fresh_connections : public testing::Test {
protected:
    asio::io_context io;
    tcp::socket socket{io};
    port refusing{io}, listening{io};
    result outcome;
    std::vector<error_code> failures;

    fresh_connections() { listening.listen(); }

    /// Every failed attempt must leave the socket closed.
    retry_policy every_ms() {
        return retry_policy().backoff(constant(1ms)).jitter(no_jitter()).on_retry([this](retry_event const& e) {
            failures.push_back(e.error);
            EXPECT_FALSE(socket.is_open());
        });
    }

    void expect_connected_to(port& to) {
        EXPECT_EQ(outcome.count, 1);
        EXPECT_FALSE(outcome.error) << outcome.error.message();
        EXPECT_EQ(outcome.peer, to.endpoint());
        ASSERT_TRUE(socket.is_open());
        EXPECT_EQ(socket.remote_endpoint(), to.endpoint());
        auto const peer = to.accepted();
        ASSERT_TRUE(peer);
        EXPECT_EQ(peer->remote_endpoint(), socket.local_endpoint());
        EXPECT_FALSE(to.accepted()) << "more than one connection was made";
    }

    void expect_failed(error_code const& error) {
        EXPECT_EQ(outcome.count, 1);
        EXPECT_EQ(outcome.error, error) << outcome.error.message();
        EXPECT_EQ(outcome.peer, tcp::endpoint());
        EXPECT_FALSE(socket.is_open());
    }
};

TEST_F(fresh_connections, are_made_where_the_lookup_says) {
    wandering_host const host{listening.number()};
    async_retry(fresh_connection(socket, host.name, "any"), every_ms(),
                asio::bind_executor(io.get_executor(), outcome.handler()));
    io.run();
    expect_connected_to(listening);
    EXPECT_THAT(failures, ElementsAre());
}

TEST_F(fresh_connections, are_made_for_a_socket_with_a_default_token) {
    using socket_type = asio::use_awaitable_t<>::as_default_on_t<tcp::socket>;
    wandering_host const host{listening.number()};
    socket_type awaited(io);
    std::vector<tcp::endpoint> const found{listening.endpoint()};
    std::vector<tcp::endpoint> connected;
    auto const session = [&]() -> asio::awaitable<void> {
        connected.push_back(co_await async_retry(fresh_connection(awaited, host.name, "any"), every_ms()));
        connected.push_back(co_await async_retry(fresh_connection(awaited, found), every_ms()));
    };
    asio::co_spawn(io, session, [](std::exception_ptr const& thrown) { EXPECT_FALSE(thrown); });
    io.run();
    EXPECT_THAT(connected, ElementsAre(listening.endpoint(), listening.endpoint()));
}

TEST_F(fresh_connections, try_the_next_endpoint_before_the_attempt_fails) {
    async_retry(io, fresh_connection(socket, {refusing.endpoint(), refusing.endpoint(), listening.endpoint()}),
                every_ms().max_attempts(1), outcome.handler());
    io.run();
    expect_connected_to(listening);
    EXPECT_THAT(failures, ElementsAre());
}

TEST_F(fresh_connections, do_not_use_a_socket_again_whose_connect_failed) {
    auto const policy = every_ms().on_retry([this](retry_event const& e) {
        failures.push_back(e.error);
        EXPECT_FALSE(socket.is_open());
        refusing.listen();
    });
    async_retry(io, fresh_connection(socket, {refusing.endpoint()}), policy, outcome.handler());
    io.run();
    EXPECT_THAT(failures, ElementsAre(refused()));
    expect_connected_to(refusing);
}

#if !defined(BOOST_ASIO_HAS_IO_URING_AS_DEFAULT) // which connects it again
// The negative control: a socket whose connect was refused is spoilt.
TEST_F(fresh_connections, are_needed_after_a_connect_that_failed) {
    auto const policy =
        retry_policy().backoff(constant(1ms)).max_attempts(2).on_retry([this](retry_event const&) {
            refusing.listen();
        });
    error_code error;
    async_retry(
        io, [this](auto token) { return socket.async_connect(refusing.endpoint(), std::move(token)); }, policy,
        [&](error_code ec) { error = ec; });
    io.run();
    EXPECT_EQ(error, asio::error::connection_aborted);
    EXPECT_FALSE(refusing.accepted());
}
#endif

TEST_F(fresh_connections, are_made_when_somebody_listens_at_last) {
    auto const policy = every_ms().on_retry([this](retry_event const& e) {
        failures.push_back(e.error);
        if (e.attempt == 2)
            refusing.listen();
    });
    async_retry(io, fresh_connection(socket, "127.0.0.1", std::to_string(refusing.number())), policy,
                outcome.handler());
    io.run();
    EXPECT_THAT(failures, ElementsAre(refused(), refused()));
    expect_connected_to(refusing);
}

TEST_F(fresh_connections, that_are_refused_everywhere_fail_with_the_last_error_and_a_closed_socket) {
    port other(io);
    async_retry(io, fresh_connection(socket, {refusing.endpoint(), other.endpoint()}),
                every_ms().max_attempts(4), outcome.handler());
    io.run();
    EXPECT_THAT(failures, ElementsAre(refused(), refused(), refused()));
    expect_failed(refused());
}

TEST_F(fresh_connections, look_the_host_up_in_each_attempt) {
    wandering_host const host{0, refusing.number(), listening.number()};
    async_retry(io, fresh_connection(socket, host.name, "any"), every_ms(), outcome.handler());
    io.run();
    EXPECT_EQ(host.lookups(), 3u);
    EXPECT_THAT(failures, ElementsAre(asio::error::host_not_found, refused()));
    expect_connected_to(listening);
}

TEST_F(fresh_connections, fail_with_the_error_of_the_lookup) {
    socket.connect(listening.endpoint());
    async_retry(io, fresh_connection(socket, "127.0.0.1", "no-such-service"), every_ms().max_attempts(2),
                outcome.handler());
    io.run();
    EXPECT_THAT(failures, ElementsAre(asio::error::service_not_found));
    expect_failed(asio::error::service_not_found);
}

TEST_F(fresh_connections, to_no_endpoint_fail) {
    async_retry(io, fresh_connection(socket, std::vector<tcp::endpoint>()), every_ms().max_attempts(1),
                outcome.handler());
    io.run();
    expect_failed(asio::error::not_found);
}

TEST_F(fresh_connections, replace_the_one_that_was_there) {
    fresh_connection const connect(socket, {listening.endpoint()});
    async_retry(io, connect, every_ms(), outcome.handler());
    io.run();
    auto old_peer = listening.accepted();
    ASSERT_TRUE(old_peer);
    outcome = result();
    async_retry(io, connect, every_ms(), outcome.handler());
    io.restart();
    io.run();
    expect_connected_to(listening);
    char byte;
    error_code ec;
    EXPECT_EQ(old_peer->read_some(asio::buffer(&byte, 1), ec), 0u);
    EXPECT_EQ(ec, asio::error::eof);
}

TEST_F(fresh_connections, are_awaited_by_default) {
    bool over = false;
    asio::co_spawn(
        io,
        [&]() -> asio::awaitable<void> {
            auto const policy = every_ms().max_attempts(2);
            tcp::endpoint const peer = co_await async_retry(
                fresh_connection(socket, "127.0.0.1", std::to_string(listening.number())), policy);
            EXPECT_EQ(peer, listening.endpoint());
            error_code refusal;
            try {
                co_await async_retry(fresh_connection(socket, "127.0.0.1", std::to_string(refusing.number())),
                                     policy);
            } catch (boost::system::system_error const& e) {
                refusal = e.code();
            }
            EXPECT_EQ(refusal, refused());
            over = true;
        },
        asio::detached);
    io.run();
    EXPECT_TRUE(over);
}

TEST_F(fresh_connections, may_be_judged_by_whom_they_reached) {
    wandering_host const host{refusing.number(), listening.number()};
    refusing.listen();
    auto const wrong = [&](tcp::endpoint const& peer) { return peer == refusing.endpoint(); };
    retry_policy const policy = retry_policy().backoff(constant(1ms));
    async_retry(io, fail_if(fresh_connection(socket, host.name, "any"), wrong), policy, outcome.handler());
    io.run();
    EXPECT_TRUE(refusing.accepted());
    expect_connected_to(listening);
}

TEST_F(fresh_connections, take_sockets_of_any_executor) {
    auto const strand = asio::make_strand(io);
    asio::basic_stream_socket<tcp, asio::strand<asio::io_context::executor_type>> own(strand);
    async_retry(strand, fresh_connection(own, "127.0.0.1", std::to_string(listening.number())), retry_policy(),
                [&](error_code ec, tcp::endpoint peer) {
                    EXPECT_TRUE(strand.running_in_this_thread());
                    outcome.handler()(ec, peer);
                });
    io.run();
    EXPECT_EQ(outcome.count, 1);
    EXPECT_EQ(outcome.peer, listening.endpoint());
    EXPECT_TRUE(own.is_open());
}

// --- cancellation

TEST_F(fresh_connections, are_not_made_after_a_cancellation_during_the_lookup) {
    for (auto const type : all_types) {
        wandering_host host{listening.number()};
        host.hold();
        asio::cancellation_signal signal;
        outcome = result();
        fresh_connection(socket, host.name, "any")(
            asio::bind_cancellation_slot(signal.slot(), asio::bind_executor(io, outcome.handler())));
        host.await_lookups(1);
        io.poll();
        signal.emit(type);
        host.release();
        io.restart();
        io.run();
        expect_failed(aborted());
        EXPECT_FALSE(listening.accepted());
        signal.emit(type);
    }
}

TEST_F(fresh_connections, are_not_looked_up_after_a_cancellation_that_came_first) {
    wandering_host host{listening.number()};
    host.hold();
    tcp::socket first(io);
    asio::cancellation_signal signal;
    fresh_connection(first, host.name, "any")(asio::detached);
    host.await_lookups(1); // another has to wait for it
    fresh_connection(socket, host.name, "any")(asio::bind_cancellation_slot(signal.slot(), outcome.handler()));
    signal.emit(asio::cancellation_type::terminal);
    host.release();
    io.run();
    expect_failed(aborted());
    EXPECT_EQ(host.lookups(), 1u);
}

// The negative control: a lookup that nobody cancels.
TEST_F(fresh_connections, are_made_after_a_lookup_that_took_long) {
    wandering_host host{listening.number()};
    host.hold();
    fresh_connection(socket, host.name, "any")(outcome.handler());
    host.await_lookups(1);
    io.poll();
    EXPECT_EQ(outcome.count, 0);
    host.release();
    io.run();
    expect_connected_to(listening);
}

TEST_F(fresh_connections, that_are_being_made_are_given_up_at_once_when_cancelled) {
    full_port full(io);
    for (auto const type : all_types) {
        asio::cancellation_signal signal;
        outcome = result();
        fresh_connection(socket, {refusing.endpoint(), full.endpoint(), listening.endpoint()})(
            asio::bind_cancellation_slot(signal.slot(), outcome.handler()));
        io.restart();
        io.poll();
        EXPECT_EQ(outcome.count, 0);
        EXPECT_TRUE(socket.is_open());
        signal.emit(type);
        io.run();
        expect_failed(aborted());
        EXPECT_FALSE(listening.accepted());
        signal.emit(type);
    }
}

TEST_F(fresh_connections, cancelled_at_any_step_are_not_retried) {
    for (auto const type : all_types)
        for (bool const during_lookup : {true, false}) {
            full_port full(io);
            wandering_host host{full.number()};
            if (during_lookup)
                host.hold();
            asio::cancellation_signal signal;
            outcome = result();
            async_retry(io, fresh_connection(socket, host.name, "any"), every_ms(),
                        asio::bind_cancellation_slot(signal.slot(), outcome.handler()));
            host.await_lookups(1);
            io.restart();
            while (!during_lookup && !socket.is_open())
                io.poll();
            signal.emit(type);
            host.release();
            io.run();
            expect_failed(aborted());
            EXPECT_EQ(host.lookups(), 1u);
        }
    EXPECT_THAT(failures, ElementsAre());
}

TEST_F(fresh_connections, that_take_too_long_are_given_up_and_made_anew) {
    virtual_time time(io);
    full_port full(io);
    auto const policy = every_ms().attempt_timeout(2s).max_attempts(3);
    async_retry(io, fresh_connection(socket, {full.endpoint()}), policy, outcome.handler());
    time.advance(2s - 1ns);
    EXPECT_TRUE(socket.is_open());
    EXPECT_THAT(failures, ElementsAre());
    time.advance(1ns);
    EXPECT_THAT(failures, ElementsAre(timed_out()));
    time.run();
    EXPECT_THAT(failures, ElementsAre(timed_out(), timed_out()));
    expect_failed(timed_out());
}

TEST_F(fresh_connections, decision_66_lookup_that_hangs_does_not_outlast_a_limit) {
    virtual_time time(io);
    wandering_host host{refusing.number(), listening.number()};
    host.hold();
    async_retry(io, fresh_connection(socket, host.name, "any"), every_ms().attempt_timeout(2s),
                outcome.handler());
    host.await_lookups(1);
    refusing.listen();
    time.advance(2s);
    EXPECT_THAT(failures, ElementsAre(timed_out()));
    time.advance(1ms); // the next attempt, whose lookup waits for this one
    EXPECT_EQ(host.lookups(), 1u);
    host.release();
    while (outcome.count == 0)
        time.advance(0s);
    EXPECT_FALSE(refusing.accepted());
    EXPECT_THAT(failures, ElementsAre(timed_out()));
    expect_connected_to(listening);
}

TEST_F(fresh_connections, whose_lookup_was_left_behind_leave_nothing_else) {
    wandering_host host{listening.number()};
    host.hold();
    auto const held = std::make_shared<int>();
    asio::cancellation_signal signal;
    auto own = std::make_unique<asio::io_context>();
    auto made = std::make_unique<tcp::socket>(io);
    fresh_connection(*made, host.name, "any")(asio::bind_cancellation_slot(
        signal.slot(), asio::bind_executor(*own, [this, held](error_code ec, tcp::endpoint) {
            ++outcome.count;
            outcome.error = ec;
        })));
    host.await_lookups(1);
    own->poll();
    EXPECT_FALSE(own->stopped()) << "it has work";
    signal.emit(asio::cancellation_type::terminal);
    EXPECT_EQ(outcome.count, 0);
    io.poll();
    own->run();
    EXPECT_EQ(outcome.count, 1);
    EXPECT_EQ(outcome.error, aborted());
    EXPECT_EQ(held.use_count(), 1);
    own.reset();
    made.reset();
    host.release();
    io.run();
    EXPECT_FALSE(listening.accepted());
}

// --- several endpoints

TEST_F(fresh_connections, decision_66_silent_endpoint_costs_a_quarter_of_a_second_and_not_the_attempt) {
    full_port silent(io);
    int begun_too_early = 0, begun_in_time = 0;
    asio::steady_timer before(io, 249ms), after(io, 252ms);
    std::optional<tcp::socket> peer;
    before.async_wait([&](error_code) { begun_too_early += listening.accepted() ? 1 : 0; });
    fresh_connection(socket, {silent.endpoint(), listening.endpoint()})(outcome.handler());
    after.expires_after(252ms);
    after.async_wait([&](error_code) { // timers of a context end in order, and loopback connects at once
        peer = listening.accepted();
        begun_in_time += peer ? 1 : 0;
    });
    io.run();
    EXPECT_EQ(begun_too_early, 0);
    EXPECT_EQ(begun_in_time, 1);
    EXPECT_EQ(outcome.peer, listening.endpoint());
    ASSERT_TRUE(peer);
    EXPECT_EQ(peer->remote_endpoint(), socket.local_endpoint());
}

TEST_F(fresh_connections, begin_the_next_connect_after_the_stagger) {
    full_port silent(io), other(io);
    fresh_connection const connect(socket, {silent.endpoint(), other.endpoint(), listening.endpoint()});
    connect.stagger(10ms)(outcome.handler());
    io.run();
    expect_connected_to(listening);
}

// The negative control.
TEST_F(fresh_connections, that_are_slow_wait_for_the_stagger) {
    full_port silent(io);
    asio::cancellation_signal signal;
    fresh_connection const connect(socket, {silent.endpoint(), listening.endpoint()});
    connect.stagger((duration::max)())(asio::bind_cancellation_slot(signal.slot(), outcome.handler()));
    asio::steady_timer later(io, 300ms);
    later.async_wait([&](error_code) {
        EXPECT_FALSE(listening.accepted());
        signal.emit(asio::cancellation_type::terminal);
    });
    io.run();
    expect_failed(aborted());
}

TEST_F(fresh_connections, that_are_refused_wait_for_no_stagger) {
    fresh_connection const connect(socket,
                                   {multicast(listening.number()), refusing.endpoint(), listening.endpoint()});
    connect.stagger((duration::max)())(outcome.handler());
    io.run();
    expect_connected_to(listening);
}

TEST_F(fresh_connections, refuse_a_stagger_that_floods) {
    fresh_connection const connect(socket, {listening.endpoint()});
    EXPECT_THAT(calling([&] { return connect.stagger(9ms); }),
                refuses("stagger", "9ms", "must be at least 10ms"));
    EXPECT_THAT(calling([&] { return connect.stagger(0ms); }),
                refuses("stagger", "0s", "must be at least 10ms"));
    EXPECT_THAT(calling([&] { return connect.stagger(-1h); }),
                refuses("stagger", "-1h", "must be at least 10ms"));
    connect.stagger(10ms)(outcome.handler());
    io.run();
    expect_connected_to(listening);
}

TEST_F(fresh_connections, find_a_silent_address_among_those_of_the_host) {
    full_port silent(io, {asio::ip::make_address("127.0.0.2"), listening.number()});
    wandering_host host{listening.number()};
    host.move_to({"127.0.0.2", "2001:db8::1", "127.0.0.1"}); // the second has no route, or is silent too
    async_retry(io, fresh_connection(socket, host.name, "any").stagger(10ms), every_ms().max_attempts(1),
                outcome.handler());
    io.run();
    expect_connected_to(listening);
}

TEST_F(fresh_connections, try_both_families_in_turn_after_a_lookup) {
    wandering_host host{refusing.number()};
    host.move_to({"127.0.0.2", "127.0.0.3", "ff02::1"});
    fresh_connection(socket, host.name, "any").stagger((duration::max)())(outcome.handler());
    io.run();
    expect_failed(refused()); // by the last but one
    outcome = result();
    std::vector const given{refusing.endpoint(), refusing.endpoint(), multicast(refusing.number())};
    fresh_connection(socket, given).stagger((duration::max)())(outcome.handler());
    io.restart();
    io.run();
    EXPECT_EQ(outcome.count, 1);
    EXPECT_NE(outcome.error, refused());
    EXPECT_TRUE(outcome.error);
}

TEST(interleave_families, begins_with_the_first_and_keeps_the_order_of_each) {
    auto const interleaved = [](std::vector<std::string> const& addresses) {
        std::vector<tcp::endpoint> found;
        for (std::string const& one : addresses)
            found.emplace_back(asio::ip::make_address(one), static_cast<unsigned short>(80));
        std::vector<std::string> taken;
        for (tcp::endpoint const& one : detail::interleave_families(found))
            taken.push_back(one.address().to_string());
        return taken;
    };
    EXPECT_THAT(interleaved({}), ElementsAre());
    EXPECT_THAT(interleaved({"::1"}), ElementsAre("::1"));
    EXPECT_THAT(interleaved({"::1", "::2"}), ElementsAre("::1", "::2"));
    EXPECT_THAT(interleaved({"::1", "::2", "::3", "10.0.0.2", "10.0.0.1"}),
                ElementsAre("::1", "10.0.0.2", "::2", "10.0.0.1", "::3"));
    EXPECT_THAT(interleaved({"10.0.0.1", "::1", "::2", "::3"}), ElementsAre("10.0.0.1", "::1", "::2", "::3"));
}

/// Connects to several endpoints, and the test decides which event comes first.
class overlapping_connections : public fresh_connections {
protected:
    kept_handlers handlers;
    asio::cancellation_signal signal;

    void connect_to(std::vector<tcp::endpoint> endpoints) {
        io.restart();
        fresh_connection(socket, std::move(endpoints))
            .stagger(10ms)(asio::bind_cancellation_slot(
                signal.slot(), asio::bind_executor(handlers.get_executor(), outcome.handler())));
    }

    static void expect_closed(port& by) {
        auto peer = by.accepted();
        ASSERT_TRUE(peer);
        char byte;
        error_code ec;
        EXPECT_EQ(peer->read_some(asio::buffer(&byte, 1), ec), 0u);
        EXPECT_EQ(ec, asio::error::eof);
    }
};

TEST_F(overlapping_connections, are_closed_when_another_one_was_first) {
    port other(io);
    other.listen();
    connect_to({other.endpoint(), listening.endpoint()});
    handlers.await(io, 2); // connected, and the wait is over
    handlers.call(1);
    handlers.await(io, 2); // both connected
    handlers.call(1);
    handlers.run(io);
    expect_connected_to(listening);
    expect_closed(other);
    EXPECT_FALSE(other.accepted());
}

TEST_F(overlapping_connections, fail_with_the_error_that_came_last) {
    connect_to({refusing.endpoint(), multicast(refusing.number())});
    handlers.await(io, 2); // refused, and the wait is over
    handlers.call(1);
    handlers.await(io, 2);
    handlers.call(1);
    EXPECT_EQ(outcome.count, 0);
    handlers.run(io);
    expect_failed(refused());
}

TEST_F(overlapping_connections, wait_while_the_last_one_runs_although_another_fails) {
    full_port silent(io);
    connect_to({refusing.endpoint(), silent.endpoint(), listening.endpoint()});
    handlers.await(io, 2); // refused, and the wait is over
    handlers.call(1);
    handlers.call(0);
    EXPECT_FALSE(listening.accepted());
    handlers.run(io);
    expect_connected_to(listening);
}

TEST_F(overlapping_connections, do_not_count_a_wait_for_one_that_has_failed) {
    full_port silent(io);
    connect_to({refusing.endpoint(), silent.endpoint(), listening.endpoint()});
    handlers.await(io, 2); // refused, and the wait is over
    handlers.call(0);
    handlers.call(0);
    EXPECT_FALSE(listening.accepted());
    handlers.run(io);
    expect_connected_to(listening);
}

TEST_F(overlapping_connections, are_all_given_up_when_cancelled) {
    for (auto const type : all_types) {
        full_port silent(io);
        outcome = result();
        connect_to({silent.endpoint(), listening.endpoint(), refusing.endpoint()});
        handlers.await(io, 1); // the wait is over
        handlers.call(0);
        handlers.await(io, 1); // connected
        signal.emit(type);
        EXPECT_EQ(outcome.count, 0);
        handlers.run(io);
        expect_failed(aborted());
        expect_closed(listening);
        signal.emit(type);
    }
}

TEST_F(overlapping_connections, end_when_the_program_closes_the_socket) {
    full_port silent(io);
    connect_to({silent.endpoint(), listening.endpoint()});
    socket.close();
    handlers.run(io);
    expect_failed(aborted());
    EXPECT_FALSE(listening.accepted());

    outcome = result();
    connect_to({refusing.endpoint(), silent.endpoint(), listening.endpoint()});
    handlers.await(io, 2); // refused, and the wait is over
    handlers.call(1);
    handlers.call(0); // the socket connects to nothing, another one does
    socket.close();
    handlers.run(io);
    expect_failed(aborted());
    EXPECT_FALSE(listening.accepted());
}

TEST_F(overlapping_connections, decision_66_end_when_the_program_closes_the_socket_after_one_has_won) {
    full_port silent(io);
    std::vector<tcp::endpoint> const first_wins{listening.endpoint(), silent.endpoint()};
    std::vector<tcp::endpoint> const second_wins{silent.endpoint(), listening.endpoint()};
    for (auto const& endpoints : {first_wins, second_wins}) {
        outcome = result();
        connect_to(endpoints);
        handlers.await(io, endpoints == first_wins ? 2 : 1);
        handlers.call(endpoints == first_wins ? 1 : 0); // the wait is over
        handlers.await(io, 1);
        handlers.call(0); // has won; the other one has yet to end
        EXPECT_EQ(outcome.count, 0);
        EXPECT_TRUE(socket.is_open());
        socket.close();
        handlers.run(io);
        expect_failed(aborted());
        expect_closed(listening);
    }
}

TEST_F(overlapping_connections, are_not_told_of_a_cancellation_after_the_first_was_made) {
    full_port silent(io);
    connect_to({silent.endpoint(), listening.endpoint()});
    handlers.await(io, 1);
    handlers.call(0);
    handlers.await(io, 1);
    handlers.call(0); // has won; the other one has yet to end
    EXPECT_EQ(outcome.count, 0);
    signal.emit(asio::cancellation_type::terminal);
    handlers.run(io);
    expect_connected_to(listening);
}

TEST_F(overlapping_connections, complete_once_without_a_strand_on_four_threads) {
    full_port silent(io);
    asio::thread_pool threads(4);
    constexpr int count = 40;
    std::mutex mutex;
    std::deque<tcp::socket> made;
    int connected = 0;
    for (int i = 0; i != count; ++i) {
        tcp::socket& one = made.emplace_back(threads);
        fresh_connection(one, {refusing.endpoint(), silent.endpoint(), silent.endpoint(), listening.endpoint(),
                               listening.endpoint()})
            .stagger(10ms)([&](error_code ec, tcp::endpoint to) {
                std::lock_guard const lock(mutex);
                connected += !ec && to == listening.endpoint() && one.is_open() ? 1 : 0;
            });
    }
    threads.join();
    EXPECT_EQ(connected, count);
}

TEST_F(overlapping_connections, go_to_sockets_of_any_executor) {
    full_port silent(io);
    auto const strand = asio::make_strand(io);
    asio::basic_stream_socket<tcp, asio::strand<asio::io_context::executor_type>> own(strand);
    fresh_connection(own, {silent.endpoint(), listening.endpoint()})
        .stagger(10ms)([&](error_code ec, tcp::endpoint peer) {
            EXPECT_TRUE(strand.running_in_this_thread());
            outcome.handler()(ec, peer);
        });
    io.run();
    EXPECT_EQ(outcome.count, 1);
    EXPECT_EQ(outcome.peer, listening.endpoint());
    own.non_blocking(true);
    EXPECT_EQ(own.remote_endpoint(), listening.endpoint());
}

// --- the end of the context

TEST_F(fresh_connections, end_with_their_context) {
    for (bool const during_lookup : {true, false}) {
        auto const held = std::make_shared<int>();
        asio::cancellation_signal signal;
        {
            asio::io_context own;
            tcp::socket made(own);
            full_port full(own);
            wandering_host host{full.number()};
            if (during_lookup)
                host.hold();
            async_retry(own, fresh_connection(made, host.name, "any"), retry_policy(),
                        asio::bind_cancellation_slot(
                            signal.slot(), [held](error_code, tcp::endpoint) { ADD_FAILURE() << "called"; }));
            host.await_lookups(1);
            while (!during_lookup && !made.is_open())
                own.poll();
            EXPECT_EQ(held.use_count(), 2);
            host.release();
        }
        EXPECT_EQ(held.use_count(), 1);
        signal.emit(asio::cancellation_type::terminal);
    }
}

TEST_F(fresh_connections, that_overlap_end_with_their_context) {
    for (std::size_t const calls : {0u, 1u, 2u}) {
        auto const held = std::make_shared<int>();
        asio::cancellation_signal signal;
        kept_handlers handlers;
        {
            asio::io_context own;
            tcp::socket made(own);
            full_port silent(own), other(own);
            fresh_connection(made, {silent.endpoint(), other.endpoint(), listening.endpoint()})
                .stagger(10ms)(asio::bind_cancellation_slot(
                    signal.slot(),
                    asio::bind_executor(handlers.get_executor(),
                                        [held](error_code, tcp::endpoint) { ADD_FAILURE() << "called"; })));
            for (std::size_t i = 0; i != calls; ++i) {
                handlers.await(own, 1);
                handlers.call(0);
            }
            handlers.await(own, 1);
            EXPECT_EQ(held.use_count(), 2);
            handlers.drop();
        }
        EXPECT_EQ(held.use_count(), 1);
        signal.emit(asio::cancellation_type::terminal);
    }
}

TEST_F(fresh_connections, whose_lookup_was_left_behind_end_with_their_context) {
    auto const held = std::make_shared<int>();
    asio::cancellation_signal signal;
    {
        asio::io_context own;
        tcp::socket made(own);
        wandering_host host{listening.number()};
        host.hold();
        fresh_connection(made, host.name, "any")(asio::bind_cancellation_slot(
            signal.slot(), [held](error_code, tcp::endpoint) { ADD_FAILURE() << "called"; }));
        host.await_lookups(1);
        signal.emit(asio::cancellation_type::terminal);
        EXPECT_EQ(held.use_count(), 2);
        host.release();
    }
    EXPECT_EQ(held.use_count(), 1);
    signal.emit(asio::cancellation_type::terminal);
}

} // namespace
} // namespace asio_retry::test
