// An HTTP gateway that could be deployed: it passes requests on to one of several servers, tries again at
// another one where that is safe, and keeps retries from becoming a load of their own.
#include "demo.hpp"
#include "session.hpp"
#include "settings.hpp"
#include "turns.hpp"

#include <asio_retry/retry_scope.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

/// Goes on after failures: there may be no file left for a client now, and one later.
asio::awaitable<void> accept(asio::io_context& io, tcp::acceptor& acceptor, gateway::services& shared) {
    asio::steady_timer pause(acceptor.get_executor());
    while (acceptor.is_open()) {
        auto accepted =
            co_await acceptor.async_accept(asio::make_strand(io), asio::as_tuple(asio::use_awaitable));
        auto& [failure, client] = accepted;
        if (failure) {
            pause.expires_after(std::chrono::milliseconds(100));
            co_await pause.async_wait(asio::use_awaitable);
            continue;
        }
        auto const strand = client.get_executor();
        asio::co_spawn(strand, gateway::serve(std::move(client), shared), asio::detached);
    }
}

/// Reads the file of policies again at each signal. Without a file there is none.
asio::awaitable<void> reload(asio::signal_set& hangups, gateway::services& shared) {
    for (;;) {
        auto const [ec, number] = co_await hangups.async_wait(asio::as_tuple(asio::use_awaitable));
        if (ec)
            break;
        shared.policies.reload();
    }
}

/// Lets everything end that has begun; a second signal waits for nothing.
asio::awaitable<void> shut_down(tcp::acceptor& acceptor, asio::signal_set& hangups, gateway::services& shared) {
    asio::signal_set signals(co_await asio::this_coro::executor, SIGINT, SIGTERM);
    co_await signals.async_wait(asio::use_awaitable);
    acceptor.close();
    shared.reads.cancel();
    signals.async_wait([&](boost::system::error_code ec, int) {
        if (ec)
            return;
        shared.requests.cancel();
        if (shared.exporter)
            shared.exporter->cancel();
    });
    auto const cancelled =
        co_await shared.requests.async_drain(shared.configured.drain_limit, asio::use_awaitable);
    asio::post(hangups.get_executor(), [&hangups] { hangups.cancel(); });
    shared.budget.stop();
    std::cout << "drained, " << cancelled << " requests had to be cancelled" << std::endl;
    std::uint64_t const lost = shared.exporter ? co_await shared.exporter->finish() : 0;
    if (lost != 0)
        std::cout << lost << " spans did not reach the collector" << std::endl;
}

/// Throws std::exception, which names the port and the option that changes it.
tcp::acceptor listen(asio::io_context& io, tcp::endpoint const& where) {
    tcp::acceptor acceptor(asio::make_strand(io), where.protocol());
    acceptor.set_option(tcp::acceptor::reuse_address(true));
    boost::system::error_code failure;
    acceptor.bind(where, failure);
    if (!failure)
        acceptor.listen(asio::socket_base::max_listen_connections, failure);
    if (failure) {
        std::ostringstream text;
        text << "cannot listen on " << where << ": " << failure.message()
             << "; choose another port with --listen ADDRESS:PORT, where 0 is any free one";
        throw std::runtime_error(text.str());
    }
    return acceptor;
}

void run(gateway::settings settings) {
    asio::io_context io;
    asio::signal_set hangups(asio::make_strand(io));
#if defined(SIGHUP) // not on Windows
    if (!settings.policies.empty())
        hangups.add(SIGHUP); // before anybody sees that the gateway runs: the signal would end it
#endif
    std::optional<gateway::demo> trial;
    if (settings.is_demo)
        settings.upstreams = trial.emplace(3).endpoints();
    gateway::turns turns;
    gateway::services shared(settings, io.get_executor(), trial ? &*trial : nullptr);
    turns.add_to(*shared.metrics);
    tcp::acceptor acceptor = listen(io, settings.listen); // once all settings are good
    asio::co_spawn(acceptor.get_executor(), shut_down(acceptor, hangups, shared), asio::detached);
    asio::co_spawn(hangups.get_executor(), reload(hangups, shared), asio::detached);
    asio::co_spawn(acceptor.get_executor(), accept(io, acceptor, shared), asio::detached);
    std::cout << "listening on " << acceptor.local_endpoint() << std::endl;
    if (trial)
        trial->ask(acceptor.local_endpoint());
    if (settings.has_page)
        std::cout << "what happens is shown at http://" << acceptor.local_endpoint() << '/' << std::endl;

    std::vector<std::jthread> others;
    for (std::size_t i = 1; i < settings.threads; ++i)
        others.emplace_back([&] { turns.run(io); });
    turns.run(io); // until every session has written its answer
}

} // namespace

int main(int argc, char** argv) {
    try {
        if (auto settings = gateway::read_settings(argc, argv))
            run(std::move(*settings));
        return EXIT_SUCCESS;
    } catch (std::exception const& e) {
        std::cerr << "gateway: " << e.what() << '\n';
        return 2;
    }
}
