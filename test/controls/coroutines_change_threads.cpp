/// What Asio's coroutines do on the threads of a pool by themselves, without the library. What clang 16 makes
/// of it, optimised, corrupts the memory in most runs, unless BOOST_ASIO_DISABLE_AWAITABLE_FRAME_RECYCLING is
/// defined: see doc/internals/toolchains.md.

#include "support/naps.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <chrono>
#include <cstdio>
#include <stdexcept>

namespace {

namespace asio = boost::asio;
using namespace asio::experimental::awaitable_operators;
using asio_retry::test::dice;
using asio_retry::test::nap;

asio::awaitable<void> attempt(unsigned seed, bool on_strand, int depth = 0) {
    dice roll(seed);
    if (roll(4) == 0)
        throw std::runtime_error("at once");
    switch (depth > 2 ? 3 : roll(4)) {
    case 0:
        if (on_strand)
            co_await (nap(roll(400)) || nap(roll(400)));
        break;
    case 1:
        co_await attempt(seed * 3 + 1, on_strand, depth + 1);
        break;
    case 2:
        if (on_strand)
            co_await (attempt(seed * 5 + 1, on_strand, depth + 1) || nap(roll(600)));
        break;
    default:
        for (int naps = roll(6); naps != 0; --naps)
            co_await nap(roll(200));
    }
    if (roll(3) == 0)
        throw std::runtime_error("later");
}

asio::awaitable<void> session(unsigned seed, bool on_strand) {
    for (unsigned i = 0; i != 24; ++i) {
        bool failed = false;
        try {
            co_await attempt(seed * 100 + i, on_strand);
        } catch (std::exception const&) {
            failed = true;
        }
        if (failed)
            co_await nap(100);
    }
}

} // namespace

int main() {
    for (unsigned round = 0; round != 40; ++round) {
        asio::thread_pool pool(4);
        for (unsigned i = 0; i != 40; ++i) {
            bool const on_strand = i % 2 == 0;
            asio::any_io_executor const where = on_strand ? asio::any_io_executor(asio::make_strand(pool))
                                                          : asio::any_io_executor(pool.get_executor());
            asio::co_spawn(where, session(round * 1000 + i, on_strand), asio::detached);
        }
        pool.join();
    }
    std::puts("the memory was found as it was left");
}
