#include <asio_retry/fresh_connection.hpp>

#include <asio_retry/async_retry.hpp>
#include <asio_retry/virtual_time.hpp>

#include "support/lookups.hpp"
#include "support/scripted_operation.hpp"

#include <boost/asio.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
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
    explicit port(asio::io_context& io)
        : acceptor(io) {
        acceptor.open(tcp::v4());
        acceptor.bind(any_port());
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
    explicit full_port(asio::io_context& io)
        : port(io)
        , first(io) {
        acceptor.listen(0);
        first.connect(endpoint());
    }

    tcp::socket first;
};

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

TEST_F(fresh_connections, whose_lookup_takes_too_long_are_not_made_in_that_attempt) {
    virtual_time time(io);
    wandering_host host{refusing.number(), listening.number()};
    host.hold();
    async_retry(io, fresh_connection(socket, host.name, "any"), every_ms().attempt_timeout(2s),
                outcome.handler());
    host.await_lookups(1);
    refusing.listen();
    time.advance(2s);
    EXPECT_THAT(failures, ElementsAre()) << "the lookup cannot be interrupted";
    host.release();
    while (failures.empty())
        time.advance(0s);
    EXPECT_THAT(failures, ElementsAre(timed_out()));
    EXPECT_FALSE(refusing.accepted());
    time.advance(1ms);
    while (outcome.count == 0)
        time.advance(0s);
    expect_connected_to(listening);
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

} // namespace
} // namespace asio_retry::test
