// The token that makes any Asio operation one that is retried.
#include <asio_retry/retrying.hpp>

#include <asio_retry/virtual_time.hpp>

#include "support/in_virtual_time.hpp"
#include "support/policies.hpp"
#include "support/scripted_operation.hpp"

#include <boost/asio.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;
using tcp = asio::ip::tcp;

/// An initiation with an executor, as those of I/O objects have, that takes its argument away.
struct playing {
    using executor_type = asio::io_context::executor_type;
    asio::io_context* context;
    script* played;
    executor_type get_executor() const noexcept { return context->get_executor(); }

    template <typename Handler>
    void operator()(Handler&& handler, std::vector<std::string> words, std::vector<std::string>* seen) const {
        seen->push_back(words.empty() ? "nothing" : words.front());
        error_code const ec = played->next();
        asio::post(*context,
                   asio::append(std::forward<Handler>(handler), ec, static_cast<int>(played->attempts)));
    }
};

template <typename Token>
auto async_say(asio::io_context& io, script& played, std::vector<std::string>& seen, Token&& token) {
    return asio::async_initiate<Token, void(error_code, int)>(playing{&io, &played}, token,
                                                              std::vector<std::string>{"word"}, &seen);
}

class retrying_token : public testing::Test, protected in_virtual_time {
protected:
    script played = script::failures(2);
    std::vector<std::string> seen;
    completion_record record;
};

TEST_F(retrying_token, starts_the_operation_again_with_its_arguments) {
    async_say(io, played, seen, retrying(every_100ms(), record.handler()));
    EXPECT_EQ(seen.size(), 1u) << "the first attempt is initiated in the initiating function";
    time.run();
    EXPECT_EQ(record.count, 1);
    EXPECT_EQ(record.error, error_code());
    EXPECT_EQ(record.value, 3);
    EXPECT_EQ(time.now() - begin, 200ms);
    EXPECT_THAT(seen, testing::Each("word"));
}

TEST_F(retrying_token, is_deferred_by_default) {
    auto deferred = async_say(io, played, seen, retrying(every_100ms()));
    EXPECT_TRUE(seen.empty());
    std::move(deferred)(record.handler());
    time.run();
    EXPECT_EQ(record.value, 3);
    EXPECT_EQ(run([&]() -> asio::awaitable<void> {
                  played = script::failures(1);
                  EXPECT_EQ(co_await async_say(io, played, seen, retrying(every_100ms())), 2);
              }),
              300ms);
}

TEST_F(retrying_token, has_the_default_of_the_executor) {
    using awaits = asio::use_awaitable_t<asio::io_context::executor_type>;
    using timer = awaits::as_default_on_t<asio::steady_timer>;
    timer waiting(io, asio::steady_timer::time_point());
    static_assert(std::is_same_v<decltype(waiting.async_wait(retrying(retry_policy()))),
                                 asio::awaitable<void, awaits::executor_with_default<timer::executor_type>>> ||
                  !std::is_same_v<decltype(waiting.async_wait(retrying(retry_policy()))), void>);
    SUCCEED();
}

TEST_F(retrying_token, completes_as_the_token_inside_says) {
    auto const took = run([&]() -> asio::awaitable<void> {
        auto [ec, value] =
            co_await async_say(io, played, seen, retrying(every_100ms(), asio::as_tuple(asio::use_awaitable)));
        EXPECT_EQ(ec, error_code());
        EXPECT_EQ(value, 3);
        played = script::failures(9);
        std::tie(ec, value) =
            co_await async_say(io, played, seen, retrying(every_100ms(), asio::as_tuple(asio::deferred)));
        EXPECT_EQ(ec, refused());
        EXPECT_EQ(value, 3);
        played = script::failures(9);
        error_code redirected;
        co_await async_say(io, played, seen,
                           retrying(every_100ms(), asio::redirect_error(asio::use_awaitable, redirected)));
        EXPECT_EQ(redirected, refused());
    });
    EXPECT_EQ(took, 600ms);
    played = script::failures(1);
    std::future<int> value = async_say(io, played, seen, retrying(every_100ms(), asio::use_future));
    io.restart();
    time.run();
    EXPECT_EQ(value.get(), 2);
}

TEST_F(retrying_token, moves_a_handler_that_cannot_be_copied) {
    std::optional<int> value;
    async_say(io, played, seen,
              retrying(every_100ms(),
                       [&value, owned = std::make_unique<int>(7)](error_code, int v) { value = v + *owned; }));
    time.run();
    EXPECT_EQ(value, 10);
}

TEST_F(retrying_token, may_be_kept_and_used_again) {
    auto const token = retrying(every_100ms(), asio::use_awaitable);
    run([&]() -> asio::awaitable<void> {
        EXPECT_EQ(co_await async_say(io, played, seen, token), 3);
        played = script::failures(1);
        EXPECT_EQ(co_await async_say(io, played, seen, token), 2);
    });
}

TEST_F(retrying_token, runs_on_the_executor_of_the_handler_and_waits_on_that_of_the_operation) {
    asio::io_context other;
    async_say(io, played, seen, retrying(every_100ms(), asio::bind_executor(other, record.handler())));
    for (int i = 0; i != 9; ++i) {
        other.restart();
        other.poll();
        time.advance(100ms);
    }
    EXPECT_EQ(record.value, 3);
}

TEST_F(retrying_token, is_cancelled_by_the_slot_of_the_token_inside) {
    asio::cancellation_signal signal;
    async_say(io, played, seen,
              retrying(hourly(), asio::bind_cancellation_slot(signal.slot(), record.handler())));
    time.advance(1s);
    EXPECT_EQ(record.count, 0);
    signal.emit(asio::cancellation_type::terminal);
    time.run();
    EXPECT_EQ(record.error, aborted());
    EXPECT_EQ(seen.size(), 1u);
}

TEST_F(retrying_token, is_cancelled_with_its_scope) {
    retry_scope scope(io);
    async_say(io, played, seen, retrying(scope, hourly(), record.handler()));
    time.advance(1s);
    scope.cancel();
    time.run();
    EXPECT_EQ(record.error, aborted());
    EXPECT_EQ(seen.size(), 1u);
}

TEST_F(retrying_token, has_the_time_limits_of_the_policy) {
    auto const took = run([&]() -> asio::awaitable<void> {
        asio::steady_timer never(io, asio::steady_timer::time_point::max());
        auto [ec] = co_await never.async_wait(
            retrying(every_100ms().attempt_timeout(1s), asio::as_tuple(asio::use_awaitable)));
        EXPECT_EQ(ec, timed_out());
    });
    EXPECT_EQ(took, 3200ms);
}

TEST_F(retrying_token, spawns_a_coroutine_again) {
    int runs = 0;
    auto body = [&]() -> asio::awaitable<int> {
        if (++runs < 3)
            throw std::runtime_error("not yet");
        co_return runs;
    };
    auto const took = run([&]() -> asio::awaitable<void> {
        EXPECT_EQ(co_await asio::co_spawn(io, body, retrying(every_100ms())), 3);
    });
    EXPECT_EQ(took, 200ms);
}

/// Composed, with a result that cannot be copied.
struct composed {
    script* played;
    bool begun = false;

    template <typename Self>
    void operator()(Self& self, error_code = {}) {
        if (!std::exchange(begun, true))
            return asio::post(std::move(self));
        error_code const ec = played->next();
        self.complete(ec, ec ? nullptr : std::make_unique<int>(5));
    }
};

TEST_F(retrying_token, starts_a_composed_operation_again) {
    run([&]() -> asio::awaitable<void> {
        auto token = retrying(every_100ms());
        std::unique_ptr<int> const result =
            co_await asio::async_compose<decltype(token), void(error_code, std::unique_ptr<int>)>(
                composed{&played}, token, io);
        EXPECT_EQ(*result, 5);
    });
}

TEST_F(retrying_token, waits_on_the_executor_of_the_handler_where_the_operation_has_none) {
    auto const start = [&](auto&& token) {
        return asio::async_initiate<decltype(token), void(error_code)>(
            [](auto handler, script* s) {
                auto const executor = asio::get_associated_executor(handler);
                asio::post(executor, asio::append(std::move(handler), s->next()));
            },
            token, &played);
    };
    auto const took = run([&]() -> asio::awaitable<void> {
        co_await start(retrying(every_100ms(), asio::use_awaitable));
        played = script::failures(1);
        co_await start(retrying(every_100ms()));
    });
    EXPECT_EQ(took, 300ms);
}

/// Throws in the initiating function.
TEST_F(retrying_token, counts_what_throws_as_an_attempt) {
    auto const start = [&](auto&& token) {
        return asio::async_initiate<decltype(token), void(error_code)>(
            [](auto handler, script* s, asio::io_context* context) {
                if (s->next())
                    throw boost::system::system_error(refused());
                asio::post(*context, asio::append(std::move(handler), error_code()));
            },
            token, &played, &io);
    };
    run([&]() -> asio::awaitable<void> { co_await start(retrying(every_100ms(), asio::use_awaitable)); });
    EXPECT_EQ(played.attempts, 3u);
}

// On real sockets: nobody listens at first.
// async_accept is overloaded, and other overloads complete with a socket, which has no default.
TEST(retrying_sockets, accepts_into_a_socket) {
    asio::io_context io;
    tcp::acceptor acceptor(io, {asio::ip::address_v4::loopback(), 0});
    tcp::socket served(io), client(io), awaited(io), second_client(io);
    std::optional<error_code> accepted;
    acceptor.async_accept(served, retrying(retry_policy(), [&](error_code ec) { accepted = ec; }));
    client.async_connect(acceptor.local_endpoint(), asio::detached);
    io.run();
    EXPECT_EQ(accepted, error_code());

    auto const session = [&]() -> asio::awaitable<void> {
        tcp::endpoint peer;
        co_await acceptor.async_accept(awaited, peer, retrying(retry_policy(), asio::use_awaitable));
        EXPECT_EQ(peer, second_client.local_endpoint());
    };
    second_client.connect(acceptor.local_endpoint());
    asio::co_spawn(io, session, [](std::exception_ptr const& thrown) { EXPECT_FALSE(thrown); });
    io.restart();
    io.run();
}

// Asio tries its overload for a buffer of another version, too.
TEST(retrying_sockets, reads_and_writes_a_streambuf) {
    asio::io_context io;
    tcp::acceptor acceptor(io, {asio::ip::address_v4::loopback(), 0});
    tcp::socket here(io), there(io);
    here.connect(acceptor.local_endpoint());
    acceptor.accept(there);
    asio::streambuf sent, received;
    std::ostream(&sent) << "a line\n";
    std::optional<std::size_t> written, size, size_of_all;
    asio::async_write(here, sent, retrying(retry_policy(), [&](error_code, std::size_t n) { written = n; }));
    asio::async_read_until(there, received, '\n',
                           retrying(retry_policy(), [&](error_code, std::size_t n) { size = n; }));
    io.run();
    EXPECT_EQ(written, 7u);
    EXPECT_EQ(size, 7u);
    here.close();
    asio::async_read(there, received,
                     retrying(retry_policy().max_attempts(1), [&](error_code ec, std::size_t n) {
                         EXPECT_EQ(ec, asio::error::eof);
                         size_of_all = n;
                     }));
    io.restart();
    io.run();
    EXPECT_EQ(size_of_all, 0u);
}

TEST(retrying_sockets, connects_when_somebody_listens_at_last) {
    asio::io_context context;
    tcp::acceptor acceptor(context, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
    std::vector<tcp::endpoint> const endpoints{acceptor.local_endpoint()};
    acceptor.close();
    retry_policy const policy =
        retry_policy().backoff(constant(1ms)).max_attempts(1000).on_retry([&](retry_event const& e) {
            if (e.attempt == 3) {
                acceptor.open(tcp::v4());
                acceptor.set_option(asio::socket_base::reuse_address(true));
                acceptor.bind(endpoints.front());
                acceptor.listen();
            }
        });
    tcp::socket socket(context);
    bool connected = false;
    asio::co_spawn(
        context,
        [&]() -> asio::awaitable<void> {
            auto const endpoint = co_await asio::async_connect(socket, endpoints, retrying(policy));
            connected = endpoint == endpoints.front();
        },
        asio::detached);
    context.run();
    EXPECT_TRUE(connected);
}

TEST(retrying_sockets, connects_to_one_of_a_range_of_iterators_with_a_callback) {
    asio::io_context context;
    tcp::acceptor acceptor(context, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
    std::vector<tcp::endpoint> const endpoints{acceptor.local_endpoint()};
    tcp::socket socket(context);
    bool connected = false;
    asio::async_connect(
        socket, endpoints.begin(), endpoints.end(),
        retrying(retry_policy(), [&](error_code ec, std::vector<tcp::endpoint>::const_iterator at) {
            connected = !ec && at == endpoints.begin();
        }));
    context.run();
    EXPECT_TRUE(connected);
}

// As Beast asks in Boost 1.81.
TEST(retrying, has_the_return_type_of_the_token_inside) {
    auto const handler = [](error_code) {};
    auto const callback = retrying(retry_policy(), handler);
    auto const awaited = retrying(retry_policy(), asio::use_awaitable);
    using callback_type = std::remove_const_t<decltype(callback)>;
    using awaited_type = std::remove_const_t<decltype(awaited)>;
    static_assert(std::is_void_v<asio::async_result<callback_type, void(error_code)>::return_type>);
    static_assert(
        std::is_same_v<asio::async_result<awaited_type, void(error_code)>::return_type, asio::awaitable<void>>);
}

} // namespace
} // namespace asio_retry::test
