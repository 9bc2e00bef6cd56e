// Names that the system's own getaddrinfo looks up, at a name server of the test, in a network of the test.
#include "name_server.hpp"

#include <asio_retry/async_retry.hpp>
#include <asio_retry/failure_class.hpp>
#include <asio_retry/fresh_connection.hpp>
#include <asio_retry/random.hpp>
#include <asio_retry/virtual_time.hpp>

#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <resolv.h>

namespace asio_retry::test {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::Pair;

/// What a lookup or a connect has completed with.
struct completion {
    std::optional<error_code> code;
    std::size_t addresses = 0;

    auto of_lookup() {
        return [this](error_code ec, tcp::resolver::results_type const& found) {
            code = ec;
            addresses = found.size();
        };
    }
};

class names : public testing::Test {
protected:
    // So long that no answer comes too late.
    names() { configure_lookups("options timeout:30 attempts:1"); }

    /// Retries only what cannot have reached a server.
    retry_policy every_ms() {
        return retry_policy()
            .max_attempts(3)
            .backoff(constant(1ms))
            .retry_if(surely_not_done)
            .on_retry([this](retry_event const& e) {
                failures.push_back(e.error);
                kinds.push_back(e.kind);
            });
    }

    auto look_up(std::string name) {
        return [this, name = std::move(name)](auto token) {
            return resolver.async_resolve(name, "80", std::move(token));
        };
    }

    name_server server;
    asio::io_context io;
    tcp::resolver resolver{io};
    completion outcome;
    std::vector<error_code> failures;
    std::vector<failure_kind> kinds;
};

TEST_F(names, that_a_failing_name_server_denies_are_found_by_the_next_attempt) {
    server.add("passing.test", {reply::server_failure, reply::address}, {reply::no_address});
    tcp::acceptor acceptor(io, {asio::ip::address_v4::loopback(), 0});
    tcp::socket socket(io);
    fresh_connection const connect(socket, "passing.test", std::to_string(acceptor.local_endpoint().port()));
    async_retry(io, connect, every_ms(), [&](error_code ec, tcp::endpoint) { outcome.code = ec; });
    io.run();
    EXPECT_EQ(outcome.code, error_code());
    EXPECT_EQ(socket.remote_endpoint(), acceptor.local_endpoint());
    EXPECT_THAT(failures, ElementsAre(asio::error::host_not_found));
    EXPECT_THAT(kinds, ElementsAre(failure_kind::transient));
    EXPECT_EQ(server.asked("passing.test", record::a), 2u);
}

TEST_F(names, of_a_server_that_fails_now_and_then_are_all_found) {
    tcp::acceptor acceptor(io, {asio::ip::address_v4::loopback(), 0});
    std::string const port = std::to_string(acceptor.local_endpoint().port());
    random dice(19);
    std::size_t denials = 0;
    for (int i = 0; i != 200; ++i) {
        std::string const name = "name" + std::to_string(i) + ".test";
        std::vector<reply> replies(dice.uniform(std::uint64_t(0), 2), reply::server_failure);
        denials += replies.size();
        replies.push_back(reply::address);
        server.add(name, replies, {reply::no_address});
        tcp::socket socket(io);
        fresh_connection const connect(socket, name, port);
        outcome = {};
        async_retry(io, connect, every_ms(), [&](error_code ec, tcp::endpoint) { outcome.code = ec; });
        io.restart();
        io.run();
        EXPECT_EQ(outcome.code, error_code()) << name;
        acceptor.accept();
    }
    EXPECT_EQ(failures.size(), denials);
}

TEST_F(names, that_are_wrong_cost_every_attempt) {
    server.add("wrong.test", {reply::no_such_name}, {reply::no_such_name});
    async_retry(io, look_up("wrong.test"), every_ms(), outcome.of_lookup());
    io.run();
    EXPECT_EQ(outcome.code, asio::error::host_not_found);
    EXPECT_EQ(failures.size(), 2u);
    EXPECT_EQ(server.asked("wrong.test", record::a), 3u);
}

TEST_F(names, are_asked_for_ipv4_alone_with_its_protocol) {
    server.add("half_lost.test", {reply::address}, {reply::lost});
    auto const look_up_v4 = [this](auto token) {
        return resolver.async_resolve(tcp::v4(), "half_lost.test", "80", std::move(token));
    };
    async_retry(io, look_up_v4, every_ms(), outcome.of_lookup());
    io.run();
    EXPECT_EQ(outcome.code, error_code());
    EXPECT_EQ(outcome.addresses, 1u);
    EXPECT_EQ(server.asked("half_lost.test", record::a), 1u);
    EXPECT_EQ(server.asked("half_lost.test", record::aaaa), 0u);
}

TEST_F(names, of_ipv4_alone_are_not_denied_by_a_failing_name_server) {
    server.add("passing.test", {reply::server_failure}, {reply::no_address});
    resolver.async_resolve(tcp::v4(), "passing.test", "80", outcome.of_lookup());
    io.run();
    EXPECT_EQ(outcome.code, asio::error::host_not_found_try_again);
}

TEST(names_without_a_server, are_to_be_asked_for_later) {
    asio::io_context io;
    tcp::resolver resolver(io);
    completion outcome;
    resolver.async_resolve("any.test", "80", outcome.of_lookup());
    io.run();
    EXPECT_EQ(outcome.code, asio::error::host_not_found_try_again);
    EXPECT_TRUE(surely_not_done(*outcome.code));
}

/// A lookup that hangs until the test releases it.
class hanging_names : public names {
protected:
    hanging_names() {
        server.add("hanging.test", {reply::address}, {reply::held});
        server.add("next.test", {reply::address}, {reply::no_address});
    }

    void await_lookup() { server.await_asked("hanging.test", record::aaaa, 1); }

    /// Runs the context until nothing of the lookup is left.
    void release() {
        server.release();
        io.restart();
        io.run();
    }

    retry_policy const within_2s = retry_policy().max_attempts(1).attempt_timeout(2s);
    virtual_time time{io};
};

TEST_F(hanging_names, end_by_their_own_limit_and_keep_the_thread_of_their_context) {
    async_retry(io, look_up("hanging.test"), within_2s.deliver_at_once(), outcome.of_lookup());
    await_lookup();
    time.advance(2s);
    EXPECT_EQ(outcome.code, asio::error::timed_out);

    completion next, elsewhere;
    resolver.async_resolve("next.test", "80", next.of_lookup());
    asio::io_context other;
    tcp::resolver resolver_elsewhere(other);
    resolver_elsewhere.async_resolve("next.test", "80", elsewhere.of_lookup());
    other.run();
    io.poll();
    EXPECT_EQ(elsewhere.code, error_code());
    EXPECT_EQ(next.code, std::nullopt);
    EXPECT_EQ(server.asked("next.test", record::a), 1u) << "that of the other context";

    release();
    EXPECT_EQ(next.code, error_code());
}

TEST_F(hanging_names, end_by_the_limit_of_a_fresh_connection) {
    tcp::socket socket(io);
    async_retry(io, fresh_connection(socket, "hanging.test", "80"), within_2s,
                [&](error_code ec, tcp::endpoint) { outcome.code = ec; });
    await_lookup();
    time.advance(2s);
    EXPECT_EQ(outcome.code, asio::error::timed_out);
    release();
}

// The negative control: Asio cannot interrupt a lookup that has begun, not even by `cancel`.
TEST_F(hanging_names, outlast_a_limit_that_waits_for_them) {
    async_retry(io, look_up("hanging.test"), within_2s, outcome.of_lookup());
    await_lookup();
    time.advance(2s);
    resolver.cancel();
    io.poll();
    EXPECT_EQ(outcome.code, std::nullopt);
    release();
    EXPECT_NE(outcome.code, std::nullopt);
}

struct said {
    reply a, aaaa;
    error_code code;
};

/// A lookup in a context of its own, whose thread has not yet learned that a server loses answers.
struct lookup {
    explicit lookup(std::string const& name) { resolver.async_resolve(name, "80", outcome.of_lookup()); }
    std::optional<error_code> complete() {
        io.run();
        return outcome.code;
    }

    completion outcome;
    asio::io_context io;
    tcp::resolver resolver{io};
};

error_code const not_found = asio::error::host_not_found;
error_code const ask_later = asio::error::host_not_found_try_again;

// The table of "Names and addresses", as far as nothing is lost.
TEST_F(names, get_the_errors_that_the_page_lists) {
    std::vector<said> const table = {
        {reply::no_such_name, reply::no_such_name, not_found},
        {reply::no_address, reply::no_address, not_found},
        {reply::server_failure, reply::server_failure, ask_later},
        {reply::server_failure, reply::no_address, not_found},
        {reply::server_failure, reply::no_such_name, not_found},
        {reply::refused, reply::refused, ask_later},
        {reply::refused, reply::no_address, not_found},
        {reply::malformed, reply::malformed, not_found},
        {reply::address, reply::server_failure, error_code()},
    };
    configure_lookups("options timeout:30");
    int row = 0;
    for (auto const& [a, aaaa, code] : table) {
        std::string const name = "row" + std::to_string(++row) + ".test";
        server.add(name, {a}, {aaaa});
        EXPECT_EQ(lookup(name).complete(), code) << name;
        EXPECT_TRUE(!code || surely_not_done(code)) << name;
    }
}

/// How often a name server was asked for A and for AAAA.
std::pair<std::size_t, std::size_t> questions(name_server const& server, std::string const& name) {
    return {server.asked(name, record::a), server.asked(name, record::aaaa)};
}

/// Lookups of which answers are lost, with glibc's own number of attempts. Those of a test run at once. The
/// page has 5 s, which is glibc's own limit of an answer, for each time that the lost question is asked.
class names_that_are_lost : public names {
protected:
    names_that_are_lost() {
        configure_lookups("options timeout:1");
        tell(server);
    }
    ~names_that_are_lost() override { ::unsetenv("RES_OPTIONS"); }

    static void tell(name_server& of) {
        of.add("aaaa_lost.test", {reply::address}, {reply::lost});
        of.add("a_lost.test", {reply::lost}, {reply::no_address});
        of.add("silent.test", {reply::lost}, {reply::lost});
    }
    auto asked(std::string const& name) const { return questions(server, name); }
};

TEST_F(names_that_are_lost, are_asked_for_three_times_or_twice) {
    lookup aaaa_lost("aaaa_lost.test"), a_lost("a_lost.test"), silent("silent.test");
    EXPECT_EQ(aaaa_lost.complete(), error_code());
    EXPECT_EQ(a_lost.complete(), ask_later);
    EXPECT_EQ(silent.complete(), ask_later);
    EXPECT_THAT(asked("aaaa_lost.test"), Pair(3, 3));
    EXPECT_THAT(asked("a_lost.test"), Pair(3, 1));
    EXPECT_THAT(asked("silent.test"), Pair(2, 2));
}

TEST_F(names_that_are_lost, are_asked_for_at_each_name_server) {
    name_server second(asio::ip::make_address_v4("127.0.0.2"));
    tell(second);
    configure_lookups("nameserver 127.0.0.2\noptions timeout:1");
    lookup a_lost("a_lost.test"), silent("silent.test");
    EXPECT_EQ(a_lost.complete(), ask_later);
    EXPECT_EQ(silent.complete(), ask_later);
    EXPECT_EQ(server.asked("a_lost.test", record::a) + second.asked("a_lost.test", record::a), 5u);
    EXPECT_THAT(asked("silent.test"), Pair(2, 2));
    EXPECT_THAT(questions(second, "silent.test"), Pair(2, 2));
}

TEST_F(names_that_are_lost, are_asked_for_in_the_domains_of_a_search_list) {
    configure_lookups("search x y z\noptions ndots:5 timeout:1");
    server.add("silent.test.x", {reply::lost}, {reply::lost});
    for (std::string const domain : {".x", ".y", ".z"})
        server.add("aaaa_lost.test" + domain, {reply::no_such_name}, {reply::lost});
    lookup aaaa_lost("aaaa_lost.test"), silent("silent.test");
    EXPECT_EQ(aaaa_lost.complete(), error_code());
    EXPECT_EQ(silent.complete(), ask_later);
    EXPECT_THAT(asked("silent.test.x"), Pair(2, 2));
    EXPECT_THAT(asked("silent.test"), Pair(2, 2));
    EXPECT_EQ(server.asked("aaaa_lost.test.x", record::aaaa), 3u);
    for (std::string const domain : {".y", ".z", ""})
        EXPECT_EQ(server.asked("aaaa_lost.test" + domain, record::aaaa), 1u) << domain;
}

TEST_F(names_that_are_lost, are_not_asked_for_ipv6_with_no_aaaa) {
    ::setenv("RES_OPTIONS", "no-aaaa", 1);
    configure_lookups("options timeout:1");
    lookup aaaa_lost("aaaa_lost.test"), silent("silent.test");
    EXPECT_EQ(aaaa_lost.complete(), error_code());
    EXPECT_EQ(silent.complete(), ask_later);
    EXPECT_THAT(asked("aaaa_lost.test"), Pair(1, 0));
    EXPECT_THAT(asked("silent.test"), Pair(2, 0));
}

/// The limit of an answer in seconds, and the number of attempts, as glibc reads them.
std::pair<int, int> limits_of_glibc() {
    struct __res_state state{}; // a macro hides the name
    EXPECT_EQ(res_ninit(&state), 0);
    std::pair const limits(state.retrans, state.retry);
    res_nclose(&state);
    return limits;
}

TEST_F(names_that_are_lost, cost_5_s_for_each_question_or_what_res_options_says) {
    configure_lookups("");
    EXPECT_THAT(limits_of_glibc(), Pair(5, 2));
    ::setenv("RES_OPTIONS", "timeout:1", 1);
    configure_lookups("");
    EXPECT_THAT(limits_of_glibc(), Pair(1, 2));
}

} // namespace
} // namespace asio_retry::test

int main(int argc, char** argv) {
    testing::InitGoogleMock(&argc, argv);
    if (argc != 2) {
        std::cerr << "usage: names_tests FOLDER\n";
        return 2;
    }
    try {
        asio_retry::test::own_network const network(argv[1]);
        return RUN_ALL_TESTS();
    } catch (std::runtime_error const& e) {
        std::cout << "skipped: this process may not have a network of its own (" << e.what()
                  << "); run it as root, in a container with --cap-add SYS_ADMIN\n";
        return 77;
    }
}
