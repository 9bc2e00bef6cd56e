// Prints the messages of a feed, each once and in order, until SIGINT or SIGTERM, however often its Redis is
// gone:
//
//     subscribe PORT NAME
#include "feed.hpp"

#include <asio_retry/retry_event.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>

#include <csignal>
#include <exception>
#include <iostream>
#include <string>

int main(int argc, char** argv) {
    namespace asio = boost::asio;
    if (argc != 3) {
        std::cerr << "usage: subscribe PORT NAME\n";
        return 2;
    }
    try {
        asio::io_context io(1);
        asio::signal_set signals(io, SIGINT, SIGTERM);
        asio::ip::tcp::endpoint const server(asio::ip::address_v4::loopback(),
                                             static_cast<unsigned short>(std::stoul(argv[1])));
        auto const print = [](long long number, std::string const& text) {
            std::cout << number << ": " << text << std::endl;
        };
        auto const log = [](asio_retry::retry_event const& e) {
            std::clog << "connection " << e.attempt << " was lost: " << e.error.message() << std::endl;
        };
        feed::subscriber subscriber(server, argv[2], print, feed::lasting().on_retry(log));
        asio::cancellation_signal stop;
        bool is_asked_to_end = false;
        signals.async_wait([&](boost::system::error_code ec, int) {
            is_asked_to_end = !ec;
            if (is_asked_to_end)
                stop.emit(asio::cancellation_type::terminal);
        });
        std::exception_ptr failure;
        asio::co_spawn(io, subscriber.run(),
                       asio::bind_cancellation_slot(stop.slot(), [&](std::exception_ptr e) {
                           failure = e;
                           signals.cancel();
                       }));
        io.run();
        if (failure && !is_asked_to_end)
            std::rethrow_exception(failure);
        return 0;
    } catch (std::exception const& e) {
        std::cerr << "subscribe: " << e.what() << '\n';
        return 1;
    }
}
