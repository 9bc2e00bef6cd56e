// Polls a mailbox: the interval grows while nothing is new, and is short again after a message and on use.
#include <asio_retry/backoff_ticker.hpp>
#include <asio_retry/virtual_time.hpp>

#include <boost/asio.hpp>

#include <iostream>

namespace asio = boost::asio;
using namespace std::chrono_literals;

asio::io_context io;
asio_retry::virtual_time virtual_clock(io); // so that this takes no time; leave it out to wait for real
auto const begin = virtual_clock.now();

long long seconds() {
    return (virtual_clock.now() - begin) / 1s;
}

// One message, which arrives after five seconds.
class mailbox {
public:
    bool has_news() {
        bool const is_new = !seen_ && seconds() >= 5;
        seen_ = seen_ || is_new;
        return is_new;
    }

private:
    bool seen_ = false;
};

asio::awaitable<void> poll(asio_retry::backoff_ticker& ticker, mailbox& box) {
    for (;;) {
        auto const [ec] = co_await ticker.async_wait(asio::as_tuple(asio::use_awaitable));
        if (ec)
            co_return;
        bool const is_new = box.has_news();
        std::cout << seconds() << " s: " << (is_new ? "a message" : "nothing new") << '\n';
        if (is_new)
            ticker.reset();
    }
}

int main() {
    auto const interval = asio_retry::retry_policy()
                              .backoff(asio_retry::exponential(1s).cap(1min))
                              .jitter(asio_retry::no_jitter())
                              .unlimited_attempts();
    asio_retry::backoff_ticker ticker(io, interval);
    mailbox box;
    asio::co_spawn(io, poll(ticker, box), asio::detached);
    virtual_clock.advance(40s);

    std::cout << seconds() << " s: the user looks into it\n";
    ticker.reset();
    virtual_clock.advance(4s);
    ticker.stop();
    virtual_clock.run();
}
