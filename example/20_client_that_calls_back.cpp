// An asynchronous operation of a foreign client that calls back on a thread of its own, and that can cancel.
#include <asio_retry/async_retry.hpp>

#include <boost/asio.hpp>

#include <atomic>
#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <thread>
#include <utility>

namespace asio = boost::asio;
using boost::system::error_code;
using namespace std::chrono_literals;

// A foreign client. It refuses the first question, and leaves the second without an answer until it is
// cancelled.
class client {
public:
    using callback = std::function<void(error_code, std::string)>;

    int ask(std::string question, callback done) {
        int const number = ++asked_;
        asio::post(thread_, [=, this] {
            if (number == 1)
                done(asio::error::connection_refused, "");
            else if (number == 2)
                unanswered_ = done;
            else
                done({}, "an answer to: " + question);
        });
        return number;
    }

    void cancel(int number) {
        asio::post(thread_, [=, this] {
            if (number == 2 && unanswered_)
                std::exchange(unanswered_, nullptr)(asio::error::operation_aborted, "");
        });
    }

private:
    std::atomic<int> asked_ = 0;
    callback unanswered_;
    asio::thread_pool thread_{1};
};

// Makes an asynchronous operation of it.
template <typename Token>
auto async_ask(client& of, std::string question, Token&& token) {
    auto initiate = [&of](auto given_handler, std::string what) {
        auto slot = asio::get_associated_cancellation_slot(given_handler);
        auto work = asio::make_work_guard(given_handler);
        auto const waiting = std::make_shared<std::pair<decltype(given_handler), decltype(work)>>(
            std::move(given_handler), std::move(work));
        auto done = [waiting](error_code ec, std::string answer) {
            asio::post(asio::append(std::move(waiting->first), ec, std::move(answer)));
            waiting->second.reset();
        };
        int const number = of.ask(std::move(what), std::move(done));
        if (slot.is_connected())
            slot.assign([&of, number](asio::cancellation_type) { of.cancel(number); });
    };
    return asio::async_initiate<Token, void(error_code, std::string)>(initiate, token, std::move(question));
}

auto const policy = asio_retry::retry_policy()
                        .backoff(asio_retry::constant(1ms))
                        .attempt_timeout(50ms)
                        .on_retry([](asio_retry::retry_event const& e) {
                            std::cout << "attempt " << e.attempt << ": " << e.error.message() << '\n';
                        });

int main() {
    client foreign;
    asio::io_context io(1);
    asio_retry::async_retry(
        io, [&](auto token) { return async_ask(foreign, "what is it?", std::move(token)); }, policy,
        [here = std::this_thread::get_id()](error_code ec, std::string answer) {
            if (std::this_thread::get_id() == here)
                std::cout << (ec ? ec.message() : answer) << ", on the thread of main\n";
        });
    io.run();
}
