#include "upstream_connections.hpp"

#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/write.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace gateway {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;

namespace {

constexpr std::size_t greatest_body = 16 << 20;

/// Whether the server has closed a connection on which nothing is expected. A request on it would be lost, and
/// nobody could say whether it was read.
bool is_usable(tcp::socket& socket) {
    boost::system::error_code ec;
    char byte = 0;
    socket.non_blocking(true, ec);
    socket.receive(asio::buffer(&byte, 1), tcp::socket::message_peek, ec);
    return ec == asio::error::would_block;
}

/// A server with two limits writes two lines.
std::string joined_lines(response const& r, std::string_view name) {
    std::string all;
    auto const [first, last] = r.equal_range(name);
    for (auto line = first; line != last; ++line)
        all.append(line == first ? "" : ", ").append(line->value());
    return all;
}

} // namespace

asio_retry::judgement judge(response const& r) {
    std::string const rate_limit = joined_lines(r, "RateLimit");
    return asio_retry::judge_http(static_cast<int>(r.result_int()),
                                  {.retry_after = r[http::field::retry_after],
                                   .rate_limit = rate_limit,
                                   .rate_limit_reset = r["X-RateLimit-Reset"]});
}

asio::awaitable<response> upstream_connections::ask(tcp::endpoint const& where, request const& question,
                                                    asio_retry::attempt which) {
    std::optional<connection> used;
    if (auto kept = connections_.extract(where))
        used.emplace(std::move(kept.mapped()));
    if (!used || !is_usable(used->socket)) {
        auto const executor = co_await asio::this_coro::executor;
        used.emplace(connection{tcp::socket(executor), {}});
        co_await used->socket.async_connect(where, asio::use_awaitable);
        used->socket.set_option(tcp::no_delay(true));
    }
    which.mark_sent();
    co_await http::async_write(used->socket, question, asio::use_awaitable);
    http::response_parser<http::string_body> parser;
    parser.body_limit(greatest_body);
    parser.skip(question.method() == http::verb::head);
    co_await http::async_read(used->socket, used->buffer, parser, asio::use_awaitable);
    if (parser.get().keep_alive())
        connections_.insert_or_assign(where, std::move(*used));
    co_return parser.release();
}

} // namespace gateway
