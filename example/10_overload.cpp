// How retries keep a server down, and how a budget does not, on real sockets. Two servers with the same clients
// lose most of their capacity for a while. Where clients just retry, the server stays down afterwards; where
// they have a `retry_budget` each, it comes back. Ends with 0 if both happened.
#include <asio_retry/async_retry.hpp>
#include <asio_retry/traffic/retry_budget.hpp>

#include <boost/asio.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <boost/program_options.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <exception>
#include <iomanip>
#include <iostream>
#include <list>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <unistd.h>

namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;
using clock_type = std::chrono::steady_clock;
using namespace std::chrono_literals;

// So little for any machine that what collapses here is the queue, and nothing for want of CPU time.
constexpr auto work_per_request = 33ms;    // 30 requests a second
constexpr auto work_in_trouble = 165ms;    // 6 requests a second
constexpr auto longest_queue = 2s;         // of work; beyond it the server answers 503
constexpr auto patience = 1s;              // of an attempt: less than the longest queue, as it often is
constexpr std::size_t clients_of_each = 3; // of each server
constexpr auto request_interval = 143ms;   // of each client: 21 requests a second from all of them

void rethrow(std::exception_ptr e) {
    if (e)
        std::rethrow_exception(e);
}

/// Answers one request after the other as they came, also those that nobody waits for any more.
class server {
public:
    explicit server(asio::io_context& io)
        : acceptor_(io, tcp::endpoint(asio::ip::address_v4::loopback(), 0)) {
        asio::co_spawn(io, accept(), rethrow);
    }

    tcp::endpoint endpoint() const { return acceptor_.local_endpoint(); }

    void set_work(clock_type::duration work) { work_ = work; }

    /// How much work waits.
    clock_type::duration queue() const {
        return std::max(free_at_ - clock_type::now(), clock_type::duration());
    }

private:
    asio::awaitable<void> accept() {
        for (;;) {
            tcp::socket connection = co_await acceptor_.async_accept(asio::use_awaitable);
            asio::co_spawn(acceptor_.get_executor(), serve(std::move(connection)), asio::detached);
        }
    }

    // What it throws, because the client has gone away meanwhile, ends this connection alone.
    asio::awaitable<void> serve(tcp::socket connection) {
        boost::beast::flat_buffer buffer;
        http::request<http::empty_body> request;
        co_await http::async_read(connection, buffer, request, asio::use_awaitable);
        http::response<http::empty_body> answer(http::status::service_unavailable, 11);
        if (queue() < longest_queue) {
            free_at_ = std::max(free_at_, clock_type::now()) + work_;
            asio::steady_timer works(acceptor_.get_executor(), free_at_);
            co_await works.async_wait(asio::use_awaitable);
            answer.result(http::status::ok);
        }
        answer.keep_alive(false);
        answer.prepare_payload();
        co_await http::async_write(connection, answer, asio::use_awaitable);
    }

    tcp::acceptor acceptor_;
    clock_type::duration work_ = work_per_request;
    clock_type::time_point free_at_{};
};

struct counts {
    std::size_t requests = 0, attempts = 0, answered = 0;

    counts operator-(counts const& before) const {
        return {requests - before.requests, attempts - before.attempts, answered - before.answered};
    }
};

/// Begins requests at its own pace, whatever becomes of those before: users do not wait for each other.
class client {
public:
    client(asio::io_context& io, tcp::endpoint server, asio_retry::retry_policy policy, counts& counted)
        : server_(server)
        , policy_(std::move(policy))
        , counted_(counted) {
        asio::co_spawn(io, begin_requests(), rethrow);
    }

private:
    using response = http::response<http::empty_body>;

    asio::awaitable<void> begin_requests() {
        auto const executor = co_await asio::this_coro::executor;
        asio::steady_timer next(executor, clock_type::now());
        for (;;) {
            next.expires_at(next.expiry() + request_interval);
            co_await next.async_wait(asio::use_awaitable);
            asio::co_spawn(executor, request(), asio::detached);
        }
    }

    asio::awaitable<void> request() {
        ++counted_.requests;
        auto judged = asio_retry::fail_if(
            [this] { return get(); }, [](response const& r) { return asio_retry::judge_http(r.result_int()); });
        response const answer = co_await asio_retry::async_retry(judged, policy_); // throws if there was none
        if (answer.result() == http::status::ok)
            ++counted_.answered;
    }

    asio::awaitable<response> get() {
        ++counted_.attempts;
        tcp::socket connection(co_await asio::this_coro::executor);
        co_await connection.async_connect(server_, asio::use_awaitable);
        http::request<http::empty_body> const question(http::verb::get, "/", 11);
        co_await http::async_write(connection, question, asio::use_awaitable);
        boost::beast::flat_buffer buffer;
        response answer;
        co_await http::async_read(connection, buffer, answer, asio::use_awaitable);
        co_return answer;
    }

    tcp::endpoint server_;
    asio_retry::retry_policy policy_;
    counts& counted_;
};

/// A server, its clients, and what has been counted up to the end of each second.
class side {
public:
    side(asio::io_context& io, asio_retry::retry_policy const& policy, bool with_budgets)
        : server_(io) {
        for (std::size_t i = 0; i != clients_of_each; ++i)
            clients_.emplace_back(
                io, server_.endpoint(),
                with_budgets ? policy.gate(std::make_shared<asio_retry::retry_budget>()) : policy, counted_);
    }

    void set_trouble(bool on) { server_.set_work(on ? work_in_trouble : work_per_request); }

    void end_second() { ends_.push_back(counted_); }

    /// What came after the end of second `begin`, up to that of second `end`.
    counts between(std::size_t begin, std::size_t end) const { return ends_[end] - ends_[begin]; }

    /// The columns of the present second.
    std::string row() const {
        counts const now = counted_ - ends_.back();
        std::ostringstream cells;
        cells << std::setw(7) << now.requests << std::setw(6) << now.attempts << std::setw(10) << now.answered
              << std::setw(7) << server_.queue() / 1ms << " ms";
        return cells.str();
    }

private:
    server server_;
    counts counted_;
    std::vector<counts> ends_{counts()};
    std::list<client> clients_;
};

/// Both sides: a sixth of the time without trouble, a sixth in trouble, and the rest after it.
class experiment {
public:
    experiment(asio::io_context& io, std::size_t seconds)
        : seconds_(seconds)
        , tick_(io, clock_type::now())
        , plain_(io, policy(), false)
        , budgeted_(io, policy(), true) {}

    asio::awaitable<void> run() {
        std::cout << "            clients just retry             |        clients with a budget\n"
                     "time    asked  sent  answered  queue       |  asked  sent  answered  queue\n";
        for (std::size_t second = 1; second <= seconds_; ++second) {
            bool const in_trouble = second > seconds_ / 6 && second <= trouble_ends();
            plain_.set_trouble(in_trouble);
            budgeted_.set_trouble(in_trouble);
            for (int tick = 1; tick <= ticks_per_second; ++tick) {
                tick_.expires_at(tick_.expiry() + 1000ms / ticks_per_second);
                co_await tick_.async_wait(asio::use_awaitable);
                show(second, in_trouble, tick == ticks_per_second);
            }
            plain_.end_second();
            budgeted_.end_second();
        }
    }

    /// In the last third of the time after the trouble, hardly anything is answered where clients just retry.
    bool stays_down() const {
        counts const last = plain_.between(seconds_ - (seconds_ - trouble_ends()) / 3, seconds_);
        return last.requests > 0 && last.answered * 5 < last.requests;
    }

    /// How long after the trouble there are three seconds in which clients with a budget get their answers.
    std::optional<std::size_t> recovers_after() const {
        for (std::size_t begin = trouble_ends(); begin + 3 <= seconds_; ++begin) {
            counts const three = budgeted_.between(begin, begin + 3);
            if (three.answered > 0 && three.answered * 20 >= three.requests * 19)
                return begin - trouble_ends();
        }
        return std::nullopt;
    }

private:
    static constexpr int ticks_per_second = 5;

    static asio_retry::retry_policy policy() {
        return asio_retry::retry_policy().max_attempts(5).attempt_timeout(patience);
    }

    std::size_t trouble_ends() const { return seconds_ / 3; }

    // On a terminal the present second is shown while it goes on, in red if there is trouble.
    void show(std::size_t second, bool in_trouble, bool is_complete) const {
        if (!is_complete && !is_live_)
            return;
        std::cout << (is_live_ ? "\r\033[K" : "") << (is_live_ && in_trouble ? "\033[31m" : "") << std::setw(3)
                  << second << (in_trouble ? " !" : "  ") << plain_.row() << "    |" << budgeted_.row()
                  << (is_live_ ? "\033[0m" : "") << (is_complete ? "\n" : "") << std::flush;
    }

    bool const is_live_ = ::isatty(STDOUT_FILENO) != 0;
    std::size_t const seconds_;
    asio::steady_timer tick_;
    side plain_, budgeted_;
};

constexpr char const* help =
    "usage: example_10_overload [--seconds N]\n\n"
    "Two servers with the same clients lose most of their capacity for a while, marked with a '!'. Shows for\n"
    "each second how many requests were asked for, sent with their retries, and answered, and how much work\n"
    "waits. Ends with 0 if the server whose clients just retry stays down and the other one comes back.\n\n";

bool shows_both(std::size_t seconds) {
    asio::io_context io;
    experiment both(io, seconds);
    asio::co_spawn(io, both.run(), [&](std::exception_ptr e) {
        io.stop();
        rethrow(e);
    });
    io.run();

    std::optional<std::size_t> const recovered = both.recovers_after();
    std::cout << "without a budget the server " << (both.stays_down() ? "stays down" : "comes back")
              << ", with one it "
              << (recovered ? "is back after " + std::to_string(*recovered) + " s" : "does not come back")
              << '\n';
    return both.stays_down() && recovered;
}

} // namespace

int main(int argc, char** argv) {
    namespace po = boost::program_options;
    std::size_t seconds = 0;
    po::options_description all("Options");
    all.add_options()("seconds", po::value(&seconds)->default_value(60)->value_name("N"), "from 15 to 3600");
    all.add_options()("help", "show this text");
    try {
        po::variables_map values;
        po::store(po::command_line_parser(argc, argv).options(all).positional({}).run(), values);
        po::notify(values);
        if (values.count("help")) {
            std::cout << help << all;
            return 0;
        }
        if (seconds < 15 || seconds > 3600)
            throw po::error("--seconds must be a number from 15 to 3600");
        return shows_both(seconds) ? 0 : 1;
    } catch (po::error const& e) {
        std::cerr << "example_10_overload: " << e.what() << "; see --help\n";
        return 2;
    }
}
