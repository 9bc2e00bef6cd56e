// Polls a mailbox: the interval grows while nothing is new, and is short again after a message and on use.
#include <asio_retry/backoff_ticker.hpp>
#include <asio_retry/virtual_time.hpp>

#include <boost/asio.hpp>

#include <iostream>

namespace asio = boost::asio;
using namespace std::chrono_literals;

// One message, which arrives after five seconds.
class mailbox {
public:
    explicit mailbox(asio_retry::virtual_time& time)
        : time_(time)
        , begin_(time.now()) {}

    long long seconds() const { return (time_.now() - begin_) / 1s; }

    bool has_news() {
        bool const is_new = !seen_ && seconds() >= 5;
        seen_ = seen_ || is_new;
        return is_new;
    }

private:
    asio_retry::virtual_time& time_;
    asio_retry::time_point begin_;
    bool seen_ = false;
};

asio::awaitable<void> poll(asio_retry::backoff_ticker& ticker, mailbox& box) {
    for (;;) {
        auto const [ec] = co_await ticker.async_wait(asio::as_tuple(asio::use_awaitable));
        if (ec)
            co_return;
        bool const is_new = box.has_news();
        std::cout << box.seconds() << " s: " << (is_new ? "a message" : "nothing new") << '\n';
        if (is_new)
            ticker.reset();
    }
}

int main() {
    asio::io_context io;
    asio_retry::virtual_time time(io); // so that this takes no time; leave it out to wait for real

    auto const interval = asio_retry::retry_policy()
                              .backoff(asio_retry::exponential(1s).cap(1min))
                              .jitter(asio_retry::no_jitter())
                              .unlimited_attempts();
    asio_retry::backoff_ticker ticker(io, interval);
    mailbox box(time);
    asio::co_spawn(io, poll(ticker, box), asio::detached);
    time.advance(40s);

    std::cout << box.seconds() << " s: the user looks into it\n";
    ticker.reset();
    time.advance(4s);
    ticker.stop();
    time.run();
}
