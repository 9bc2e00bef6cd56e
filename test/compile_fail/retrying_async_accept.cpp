// expected alone: retrying: result types must be default-constructible: use a std::optional of the type; an
// acceptor takes the socket: async_accept(socket, retrying(policy))
#include <asio_retry/retrying.hpp>

#include <boost/asio/ip/tcp.hpp>

void start(boost::asio::ip::tcp::acceptor& acceptor, [[maybe_unused]] boost::asio::ip::tcp::socket& socket) {
#ifdef FAULT_REMOVED
    auto const accepted = acceptor.async_accept(socket, asio_retry::retrying(asio_retry::retry_policy()));
#else
    auto const accepted = acceptor.async_accept(asio_retry::retrying(asio_retry::retry_policy()));
#endif
    static_cast<void>(accepted);
}
