#include "support/failing_allocation.hpp"
#include "support/policies.hpp"

#include <asio_retry/async_retry.hpp>
#include <asio_retry/fresh_connection.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <new>
#include <string>
#include <vector>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;
using asio::ip::tcp;

/// Two addresses that refuse, and one that accepts.
struct three_addresses {
    explicit three_addresses(asio::io_context& io) {
        for (int i = 0; i < 3; ++i)
            acceptors.emplace_back(io, tcp::v4()).bind({asio::ip::address_v4::loopback(), 0});
        acceptors.back().listen();
    }

    std::vector<tcp::endpoint> endpoints() const {
        std::vector<tcp::endpoint> result;
        for (tcp::acceptor const& each : acceptors)
            result.push_back(each.local_endpoint());
        return result;
    }

    std::vector<tcp::acceptor> acceptors;
};

using starter = std::function<void(asio::io_context&, tcp::socket&, three_addresses const&, int&)>;

/// Fails each allocation in turn, and looks what becomes of the handler.
void expect_one_call(starter const& begin, shortage how) {
    for (std::uint64_t nth = 1;; ++nth) {
        asio::io_context io;
        three_addresses const addresses(io);
        tcp::socket socket(io);
        int calls = 0;
        bool refused = false, happened = false;
        {
            failing_allocation const failing(memory::global, how, nth);
            try {
                begin(io, socket, addresses, calls);
            } catch (std::bad_alloc const&) {
                refused = true;
            }
            for (bool ends = false; !ends;) {
                try {
                    io.run_for(how == shortage::once ? 10s : 20ms);
                    ends = true;
                } catch (std::bad_alloc const&) {
                }
            }
            happened = failing.happened();
        }
        io.restart();
        io.run_for(10s);
        EXPECT_EQ(calls, refused ? 0 : 1) << "allocation " << nth;
        ASSERT_LT(nth, 1000u);
        if (!happened)
            return;
    }
}

retry_policy twice() {
    return retry_policy().max_attempts(2).backoff(constant(0ms)).total_timeout(5s);
}

void connect(asio::io_context& io, tcp::socket& socket, three_addresses const& addresses, int& calls) {
    async_retry(io, fresh_connection(socket, addresses.endpoints()), twice(),
                [&calls](error_code, tcp::endpoint) { ++calls; });
}

void look_up(asio::io_context& io, tcp::socket& socket, three_addresses const& addresses, int& calls) {
    std::string const port = std::to_string(addresses.acceptors.back().local_endpoint().port());
    async_retry(io, fresh_connection(socket, "127.0.0.1", port), twice(),
                [&calls](error_code, tcp::endpoint) { ++calls; });
}

TEST(fresh_connections_without_memory, complete_once) {
    expect_one_call(connect, shortage::once);
    expect_one_call(connect, shortage::lasting);
}

TEST(fresh_connections_without_memory, complete_once_after_a_lookup) {
    expect_one_call(look_up, shortage::once);
}

} // namespace
} // namespace asio_retry::test
