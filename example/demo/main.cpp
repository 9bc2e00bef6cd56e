#include "client.hpp"
#include "flaky_server.hpp"
#include "journal.hpp"
#include "options.hpp"
#include "rethrow.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/error_code.hpp>

#include <chrono>
#include <csignal>
#include <cstddef>
#include <exception>
#include <iostream>

namespace {

namespace asio = boost::asio;

constexpr std::size_t workers = 3;

asio::awaitable<void> run(demo::client& client, demo::flaky_server& server, asio::steady_timer& end,
                          demo::journal const& log) {
    server.start();
    client.start(workers);
    boost::system::error_code cut_short;
    co_await end.async_wait(asio::redirect_error(asio::use_awaitable, cut_short));
    log.line(cut_short ? "interrupted" : "the time is up", ", everything is cancelled");
    client.stop();
    server.stop();
    co_await client.join();
    std::cout << client.so_far() << std::flush;
}

void run_demo(std::chrono::milliseconds run_time) {
    asio::io_context io;
    demo::journal const log;
    demo::flaky_server server(io.get_executor(), log);
    demo::client client(io.get_executor(), server.endpoint(), log);

    asio::steady_timer end(io, run_time);
    asio::signal_set signals(io, SIGINT, SIGTERM);
    // Not cancel(), which would be lost if the wait had not begun.
    signals.async_wait(
        [&](boost::system::error_code, int) { end.expires_at(asio::steady_timer::time_point::min()); });

    auto const on_end = [&](std::exception_ptr e) {
        signals.cancel();
        demo::rethrow(e);
    };
    asio::co_spawn(io, run(client, server, end, log), on_end);
    io.run();
}

} // namespace

int main(int argc, char** argv) {
    try {
        demo::options const options = demo::parse_options(argc, argv);
        if (options.help)
            demo::print_help();
        else
            run_demo(options.run_time);
        return 0;
    } catch (demo::usage_error const& e) {
        std::cerr << "asio_retry_demo: " << e.what() << "\nTry asio_retry_demo --help\n";
        return 2;
    } catch (std::exception const& e) {
        std::cerr << "asio_retry_demo: " << e.what() << '\n';
        return 1;
    }
}
