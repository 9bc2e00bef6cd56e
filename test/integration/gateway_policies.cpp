// A gateway under load reads its file of policies again: good files, and files with all kinds of faults. No
// request is lost, and the old policies stay.
#include "gateway_process.hpp"
#include "own_folder.hpp"
#include "run_with_programs.hpp"

#include <asio_retry/retry.hpp>

#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <sys/stat.h>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

/// A policy allows an attempt so many hours, and the gateway tells the server. So a server knows the policy of
/// each attempt, however slow the machine is.
std::string policy_of(int hours) {
    return "constant(1ms) no_jitter() max_attempts(2) attempt_timeout(" + std::to_string(hours) + "h)";
}

int hours_of(std::string const& milliseconds) {
    return static_cast<int>(std::atoll(milliseconds.c_str()) / 3'600'000) + 1;
}

/// Answers every request with the hours that it got, but for two targets: a first attempt that ends in /held
/// waits until it is released, and then has no answer. Nor has any that ends in /lost.
struct hours_server {
    std::atomic<std::size_t> held = 0, lost = 0;
    test_server server{[this](question const& q) { return reply(q); }};
    asio::steady_timer held_back{server.context(), asio::steady_timer::time_point::max()};

    void release() {
        asio::post(server.context(), [this] { held_back.cancel(); });
    }

    asio::awaitable<std::optional<answer>> reply(question const& q) {
        if (q.target().ends_with("/held") && held++ == 0) {
            boost::system::error_code ignored;
            co_await held_back.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
            co_return std::nullopt;
        }
        if (q.target().ends_with("/lost")) {
            ++lost;
            co_return std::nullopt;
        }
        answer a(http::status::ok, 11);
        a.body() = std::to_string(hours_of(std::string(q["X-Request-Timeout-Ms"])));
        co_return a;
    }
};

/// Four clients on connections that last. They ask until this is stopped.
class endless_load {
public:
    explicit endless_load(unsigned short port) {
        for (int i = 0; i != 4; ++i)
            clients_.emplace_back([this, port](std::stop_token const& token) { ask(port, token); });
    }

    void stop() { clients_.clear(); }

    /// Until eight are answered, of which at most four had begun before.
    void wait_for_requests() const {
        std::size_t const before = answered;
        while (answered < before + 8 && broken == 0)
            std::this_thread::yield();
    }

    std::atomic<std::size_t> answered = 0;
    std::atomic<std::size_t> refused = 0; ///< answers other than 200
    std::atomic<std::size_t> broken = 0;  ///< connections, each with a request
    std::atomic<std::size_t> older = 0;   ///< policies that came back

private:
    void ask(unsigned short port, std::stop_token const& token) {
        asio::io_context io;
        tcp::socket socket(io);
        boost::beast::flat_buffer buffer;
        try {
            socket.connect(on_loopback(port));
            socket.set_option(tcp::no_delay(true));
            for (int latest = 0; !token.stop_requested(); ++answered) {
                http::write(socket, question_for("/orders/7"));
                answer a;
                http::read(socket, buffer, a);
                int const hours = std::atoi(a.body().c_str());
                refused += a.result() != http::status::ok;
                older += hours < latest;
                latest = hours;
            }
        } catch (boost::system::system_error const&) {
            ++broken;
        }
    }

    std::vector<std::jthread> clients_;
};

class gateway_policies : public test_in_folder {
protected:
    gateway_policies()
        : test_in_folder("policies") {}

    std::vector<std::string> options() const {
        return {"--upstream", "127.0.0.1:" + std::to_string(behind.server.port()),
                "--policies", file.string(),
                "--policy",   policy_of(9),
                "--timeout",  "86399",
                "--quiet"};
    }

    void start() { gateway.emplace(options(), folder / "log"); }

    /// What the gateway says before it ends with 2.
    std::string fault_at_start() {
        child_process refused(gateway_process::command(port, options()), folder / "log");
        EXPECT_EQ(refused.wait(), 2);
        return log();
    }

    std::string log() const {
        std::ifstream in(folder / "log");
        return {std::istreambuf_iterator<char>(in), {}};
    }

    /// As an operator should: the file is there all at once.
    void rename_to_file(std::string const& text) const {
        write(folder / "new", text);
        std::filesystem::rename(folder / "new", file);
    }

    /// As an operator should not.
    void write(std::filesystem::path const& where, std::string const& text) const {
        std::ofstream(where, std::ios::binary) << text;
    }

    answer ask(std::string const& target, http::verb method = http::verb::get) const {
        return test::ask(gateway->port(), question_for(target, method));
    }

    int hours(std::string const& target) const { return std::atoi(ask(target).body().c_str()); }

    double reloads(std::string const& result) const {
        return gateway->metric("gateway_policy_reloads{result=\"" + result + "\"}");
    }

    /// Sends the signal, and waits until the gateway has counted it.
    void reload(std::string const& result) {
        double const before = reloads(result);
        gateway->process().send(SIGHUP);
        wait_until([&] { return reloads(result) == before + 1; });
    }

    static void wait_until(std::function<bool()> const& condition) {
        auto const look = [&] {
            if (!condition())
                throw std::runtime_error("not yet");
        };
        retry(look, retry_policy().backoff(constant(1ms)).unlimited_attempts().max_elapsed(60s));
    }

    void expect_no_loss(endless_load const& clients) {
        EXPECT_EQ(clients.refused, 0u);
        EXPECT_EQ(clients.broken, 0u);
        EXPECT_EQ(clients.older, 0u) << "a policy came back after a later one";
    }

    std::filesystem::path const file = folder / "policies.conf";
    hours_server behind;
    unsigned short const port = free_port(); ///< of a gateway that does not start
    std::optional<gateway_process> gateway;
};

TEST_F(gateway_policies, decision_70_files_with_faults_change_nothing_under_load) {
    rename_to_file("/orders = " + policy_of(1) + "\n/search = celery\n");
    start();
    endless_load clients(gateway->port());
    auto const expect = [&](std::string const& result, int version) {
        clients.wait_for_requests();
        reload(result);
        EXPECT_EQ(hours("/orders/1"), version);
        clients.wait_for_requests();
    };
    rename_to_file("# better\n/search = celery\n/orders = " + policy_of(2) + '\n');
    expect("good", 2);
    std::string const orders = "/orders = " + policy_of(3) + '\n';
    std::string const faults[] = {orders + "/search = celry\n",           // broken
                                  orders + "/search celery\n",            //
                                  orders + orders + "/search = celery\n", //
                                  orders + "search = celery\n/search = celery\n",
                                  orders,                       // without a policy
                                  orders + "/search = celery",  // without an end
                                  "",                           // empty
                                  " \n\n",                      //
                                  "# /orders = celery\n",       //
                                  std::string(4096, '\0'),      // as after a crash
                                  orders + "/search = \xff\n"}; // not UTF-8
    for (std::string const& text : faults) {
        rename_to_file(text);
        expect("bad", 2);
    }
    std::filesystem::remove(file);
    expect("bad", 2);
    std::filesystem::create_directory(file);
    expect("bad", 2);
    std::filesystem::remove(file);
    rename_to_file(orders + "/search = celery\n/new = " + policy_of(5) + '\n');
    expect("good", 3);
    EXPECT_EQ(hours("/new"), 5);
    clients.stop();
    expect_no_loss(clients);
    EXPECT_EQ(reloads("good"), 2);
    EXPECT_EQ(reloads("bad"), std::size(faults) + 2.0);

    std::string const begin = "gateway: policies: " + file.string() + ": ", end = "; the old policies stay\n";
    EXPECT_THAT(log(), HasSubstr(begin + "asio_retry: at line 2, column 11: "));
    EXPECT_THAT(log(), HasSubstr(begin +
                                 "asio_retry: at line 2, column 1: expected 'name = policy', found "
                                 "'/search celery'" +
                                 end));
    EXPECT_THAT(log(), HasSubstr("expected a policy '/search', because a reload removes none" + end));
    EXPECT_THAT(log(), HasSubstr(begin + "the last line has no end, so the file may be half written" + end));
    EXPECT_THAT(log(), HasSubstr(begin + "cannot be read" + end));
}

TEST_F(gateway_policies, decision_70_half_written_files_change_nothing_under_load) {
    std::string const before = "/orders = " + policy_of(1) + "\n/a = celery\n";
    write(file, before);
    start();
    endless_load clients(gateway->port());
    std::string const text = "/orders = " + policy_of(2) + "\n/a = constant(1s) max_attempts(2)\n";
    for (std::size_t length = 0; length != text.size(); ++length) {
        write(file, text.substr(0, length)); // in place
        reload("bad");
        ASSERT_EQ(hours("/orders"), 1) << length;
    }
    clients.wait_for_requests();
    write(file, text);
    reload("good");
    EXPECT_EQ(hours("/orders"), 2);
    clients.wait_for_requests();
    clients.stop();
    expect_no_loss(clients);
    EXPECT_EQ(reloads("bad"), static_cast<double>(text.size()));
    EXPECT_EQ(gateway->end(), 0) << "signals to come keep it from no end";
}

TEST_F(gateway_policies, decision_70_a_request_that_runs_keeps_its_policy) {
    rename_to_file("/orders = " + policy_of(1) + '\n');
    start();
    std::optional<answer> held;
    std::jthread client([&] { held = ask("/orders/held"); });
    while (behind.held == 0)
        std::this_thread::yield();
    rename_to_file("/orders = " + policy_of(2) + '\n');
    reload("good");
    EXPECT_EQ(hours("/orders"), 2);
    behind.release(); // its first attempt fails
    client.join();
    ASSERT_TRUE(held);
    EXPECT_EQ(held->body(), "1");
    EXPECT_EQ(behind.held, 2u);
}

TEST_F(gateway_policies, are_chosen_by_the_first_part_of_the_path) {
    rename_to_file("/orders = " + policy_of(1) + "\n/ = " + policy_of(2) + '\n');
    start();
    for (char const* const target : {"/orders", "/orders/", "/orders/7/items", "/orders?all"})
        EXPECT_EQ(hours(target), 1) << target;
    for (char const* const target : {"/no", "/ordersx", "/order", "/x/orders", "/?orders"})
        EXPECT_EQ(hours(target), 2) << target;
    auto const successes = [&](std::string const& name) {
        return gateway->metric("asio_retry_attempts_total{policy=\"" + name + "\",outcome=\"success\"}");
    };
    EXPECT_EQ(successes("/orders"), 4) << "the metrics have the names of the policies";
    EXPECT_EQ(successes("/"), 5);
    rename_to_file("/orders = " + policy_of(1) + '\n');
    start();
    EXPECT_EQ(hours("/orders"), 1);
    EXPECT_EQ(hours("/search"), 9) << "the policy of the command line";
}

TEST_F(gateway_policies, send_no_request_twice_that_is_not_idempotent) {
    rename_to_file("/orders = " + policy_of(1) + '\n');
    start();
    EXPECT_EQ(ask("/orders/lost", http::verb::post).result(), http::status::bad_gateway);
    EXPECT_EQ(behind.lost, 1u);
    EXPECT_EQ(ask("/orders/lost").result(), http::status::bad_gateway);
    EXPECT_EQ(behind.lost, 3u);
}

TEST_F(gateway_policies, with_a_fault_at_the_start_are_refused) {
    std::string const begin = "gateway: policies: " + file.string() + ": ";
    EXPECT_EQ(fault_at_start(), begin + "cannot be read\n");
    rename_to_file("/orders = celery\norders = celery\n");
    EXPECT_THAT(fault_at_start(), HasSubstr(begin + "the name orders must be the first part of a path, such as "
                                                    "/orders, or /\n"));
    rename_to_file("/orders/new = celery\n");
    EXPECT_THAT(fault_at_start(), HasSubstr(begin + "the name /orders/new must be"));
    rename_to_file("/orders = celery\n/orders = grpc\n");
    EXPECT_THAT(fault_at_start(), HasSubstr(begin + "asio_retry: at line 2, column 1: a second policy"));
}

// Who connects would be cut off if the file has a fault.
TEST_F(gateway_policies, are_read_before_a_client_can_connect) {
    ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);
    auto result = std::async(std::launch::async, [this] { return fault_at_start(); });
    std::ofstream writes(file); // waits until the gateway reads
    asio::io_context io;
    tcp::socket client(io);
    boost::system::error_code ec;
    client.connect(on_loopback(port), ec);
    EXPECT_EQ(ec, asio::error::connection_refused);
    writes << "/orders = celeryy\n";
    writes.close();
    EXPECT_THAT(result.get(), HasSubstr("celeryy"));
}

} // namespace
} // namespace asio_retry::test

int main(int argc, char** argv) {
    using namespace asio_retry::test;
    return run_with_programs(argc, argv, {&gateway_program}, "gateway");
}
