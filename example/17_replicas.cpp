// Three replicas of a server, of which one goes away and comes back. Each attempt chooses a replica: no request
// fails, and the replica that is away gets three attempts, and then one probe from time to time.
#include <asio_retry/async_retry.hpp>
#include <asio_retry/on_endpoint.hpp>

#include <boost/asio.hpp>

#include <cstdlib>
#include <exception>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace asio = boost::asio;
using asio::ip::tcp;
using namespace std::chrono_literals;
using replicas = asio_retry::endpoint_set<tcp::endpoint>;

/// Answers each connection with a line.
class replica {
public:
    replica(asio::io_context& io, std::string answer)
        : io_(io)
        , answer_(std::move(answer))
        , at_(asio::ip::address_v4::loopback(), 0) {
        start();
        at_ = acceptor_->local_endpoint(); // the port stays the same
    }

    tcp::endpoint at() const { return at_; }

    void start() {
        acceptor_.emplace(io_, at_);
        asio::co_spawn(io_, answer_all(), asio::detached);
    }
    void stop() { acceptor_->close(); }

private:
    asio::awaitable<void> answer_all() {
        for (;;) {
            auto [failure, client] = co_await acceptor_->async_accept(asio::as_tuple(asio::use_awaitable));
            if (failure)
                co_return;
            co_await asio::async_write(client, asio::buffer(answer_), asio::as_tuple(asio::use_awaitable));
        }
    }

    asio::io_context& io_;
    std::string answer_;
    tcp::endpoint at_;
    std::optional<tcp::acceptor> acceptor_;
};

asio::awaitable<std::string> ask(tcp::endpoint const& at) {
    tcp::socket socket(co_await asio::this_coro::executor);
    co_await socket.async_connect(at, asio::use_awaitable);
    std::string line;
    co_await asio::async_read_until(socket, asio::dynamic_buffer(line), '\n', asio::use_awaitable);
    co_return line;
}

/// How many of 60 requests each replica answered. A request that fails ends the program.
asio::awaitable<std::map<std::string, int>> ask_sixty_times(std::shared_ptr<replicas> servers) {
    auto const policy = asio_retry::retry_policy().backoff(asio_retry::constant(1ms)).attempt_timeout(1s);
    std::map<std::string, int> answers;
    for (int i = 0; i < 60; ++i)
        ++answers[co_await asio_retry::async_retry(asio_retry::on_endpoint(ask, servers), policy)];
    co_return answers;
}

asio::awaitable<void> run(asio::io_context& io) {
    replica a(io, "a\n"), b(io, "b\n"), c(io, "c\n");
    asio_retry::endpoint_options options;
    options.breaker.consecutive = 3;
    options.breaker.open_for = 200ms;
    options.breaker.growth = 1;
    options.breaker.probes = 1;
    auto const servers = std::make_shared<replicas>(std::vector{a.at(), b.at(), c.at()}, options);

    std::cout << (co_await ask_sixty_times(servers)).size() << " replicas answer\n";
    b.stop();
    std::cout << (co_await ask_sixty_times(servers)).size() << " replicas answer, and no request fails\n";
    servers->for_each([&](tcp::endpoint const& at, asio_retry::endpoint_status const& status) {
        if (at == b.at())
            std::cout << "its breaker is "
                      << (status.state == asio_retry::breaker_state::closed ? "closed\n" : "not closed\n");
    });

    b.start();
    asio::steady_timer wait(io, 250ms);
    co_await wait.async_wait(asio::use_awaitable);
    std::cout << (co_await ask_sixty_times(servers)).size() << " replicas answer again\n";
    a.stop();
    b.stop();
    c.stop();
}

int main() {
    asio::io_context io;
    asio::co_spawn(io, run(io), [](std::exception_ptr e) {
        if (e)
            std::rethrow_exception(e);
    });
    io.run();
    return EXIT_SUCCESS;
}
