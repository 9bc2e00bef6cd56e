// One budget of retries for two processes, in a Redis. One of them is busy and rarely fails, the other is quiet
// and fails half of the time: it may retry with what the busy one earns. Then the Redis is killed, and each
// process lives on what it earns itself; and then it is back. Ends with 0 if all that happened.
#include "fleet/redis_driver.hpp"
#include "fleet/redis_process.hpp"

#include <boost/asio.hpp>
#include <boost/program_options.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <iomanip>
#include <iostream>
#include <memory>
#include <new>
#include <string>
#include <thread>

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using namespace std::chrono_literals;

struct counts {
    std::uint64_t requests = 0, failures = 0, retries = 0, questions = 0;

    counts operator-(counts const& before) const {
        return {requests - before.requests, failures - before.failures, retries - before.retries,
                questions - before.questions};
    }
    double retries_per_failure() const {
        return failures == 0 ? 0 : static_cast<double>(retries) / static_cast<double>(failures);
    }
};

/// In memory that a process shares with its parent.
struct shared_counts {
    std::atomic<std::uint64_t> requests = 0, failures = 0, retries = 0, questions = 0;

    counts now() const { return {requests, failures, retries, questions}; }
};

struct client {
    char const* name;
    std::chrono::milliseconds pace; // from a request to the next
    double failing;                 // the share of its attempts
};

constexpr std::array<client, 2> clients{{{"busy", 5ms, 0.02}, {"quiet", 50ms, 0.5}}};

/// A process that makes requests until its parent ends it.
class client_process {
public:
    client_process(client const& what, unsigned short redis, shared_counts& counted)
        : what_(what)
        , counted_(counted)
        , driver_(std::make_shared<fleet::redis_driver>(
              io_.get_executor(), asio::ip::tcp::endpoint(asio::ip::address_v4::loopback(), redis),
              "budget:orders",
              asio_retry::fleet_budget_options{
                  .interval = 200ms, .greatest_interval = 2s, .lease = 1s, .capacity = 20}))
        , policy_(asio_retry::retry_policy()
                      .backoff(asio_retry::exponential(200ms))
                      .gate(asio_retry::all_gates({driver_->budget(), driver_}))) {}

    void run() {
        asio::co_spawn(io_, driver_->run(), asio::detached);
        asio::co_spawn(io_, begin_requests(), asio::detached);
        io_.run();
    }

private:
    asio::awaitable<void> begin_requests() {
        asio::steady_timer next(io_, std::chrono::steady_clock::now());
        for (;;) {
            next.expires_at(next.expiry() + what_.pace);
            co_await next.async_wait(asio::use_awaitable);
            ++counted_.requests;
            counted_.questions = driver_->questions();
            asio_retry::async_retry(
                io_, [this](asio_retry::attempt a) { return request(a); }, policy_, asio::detached);
        }
    }

    error_code request(asio_retry::attempt a) {
        counted_.retries += a.number > 1;
        if (dice_.uniform(0, 999) >= static_cast<std::uint64_t>(1000 * what_.failing))
            return {};
        ++counted_.failures;
        return asio::error::connection_reset;
    }

    client const what_;
    shared_counts& counted_;
    asio::io_context io_{1};
    std::shared_ptr<fleet::redis_driver> driver_;
    asio_retry::retry_policy policy_;
    asio_retry::random dice_{static_cast<std::uint64_t>(::getpid())};
};

/// The processes, each with its counts.
class client_fleet {
public:
    explicit client_fleet(unsigned short redis) {
        void* const memory = ::mmap(nullptr, sizeof(shared_counts) * 2, PROT_READ | PROT_WRITE,
                                    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED)
            throw std::bad_alloc();
        counted_ = static_cast<shared_counts*>(memory);
        for (std::size_t i = 0; i != clients.size(); ++i)
            processes_[i] = start(clients[i], redis, *new (counted_ + i) shared_counts);
    }
    client_fleet(client_fleet const&) = delete;
    client_fleet& operator=(client_fleet const&) = delete;

    ~client_fleet() {
        for (pid_t const process : processes_) {
            ::kill(process, SIGKILL);
            ::waitpid(process, nullptr, 0);
        }
    }

    counts now(std::size_t which) const { return counted_[which].now(); }

private:
    static pid_t start(client const& what, unsigned short redis, shared_counts& counted) {
        pid_t const parent = ::getpid();
        pid_t const process = ::fork();
        if (process < 0)
            throw std::bad_alloc();
        if (process > 0)
            return process;
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (::getppid() == parent)
            client_process(what, redis, counted).run();
        std::_Exit(1);
    }

    shared_counts* counted_ = nullptr;
    std::array<pid_t, 2> processes_{};
};

/// Shows so many seconds, and returns what the quiet client did in them.
counts show(client_fleet const& all, std::size_t seconds, char const* redis) {
    std::array<counts, 2> before{all.now(0), all.now(1)};
    counts const begin = before[1];
    for (std::size_t second = 0; second != seconds; ++second) {
        std::this_thread::sleep_for(1s);
        std::cout << std::setw(8) << redis;
        for (std::size_t i = 0; i != 2; ++i) {
            counts const end = all.now(i), here = end - before[i];
            before[i] = end;
            std::cout << "  |" << std::setw(9) << here.requests << std::setw(9) << here.failures << std::setw(9)
                      << here.retries << std::setw(7) << here.questions;
        }
        std::cout << std::endl;
    }
    return before[1] - begin;
}

bool is_shared_until_and_after_a_crash(std::string const& program, std::size_t seconds) {
    fleet::redis_process redis(program);
    client_fleet const all(redis.port());
    std::cout << "           |  busy client                       |  quiet client\n"
                 "   Redis   | requests failures  retries  asked  | requests failures  retries  asked\n";
    counts const before = show(all, seconds / 3, "up");
    redis.kill();
    counts const without = show(all, seconds / 3, "killed");
    redis.restart();
    counts const after = show(all, seconds / 3, "up");
    std::cout << std::setprecision(2)
              << "retries of the quiet client for each failure: " << before.retries_per_failure()
              << " with the budget of both, " << without.retries_per_failure() << " with its own, "
              << after.retries_per_failure() << " with that of both again\n";
    return before.retries_per_failure() > 2 * without.retries_per_failure() &&
           after.retries_per_failure() > 2 * without.retries_per_failure() && without.retries > 0;
}

std::string find_program() {
    std::string folders = std::getenv("PATH") ? std::getenv("PATH") : "";
    for (std::string::size_type begin = 0; begin < folders.size();) {
        auto const end = std::min(folders.find(':', begin), folders.size());
        std::string const file = folders.substr(begin, end - begin) + "/redis-server";
        if (::access(file.c_str(), X_OK) == 0)
            return file;
        begin = end + 1;
    }
    return {};
}

} // namespace

int main(int argc, char** argv) {
    namespace po = boost::program_options;
    std::size_t seconds = 0;
    std::string server;
    po::options_description all("usage: example_12_fleet [OPTIONS]");
    all.add_options()("seconds", po::value(&seconds)->default_value(30)->value_name("N"), "from 12 to 3600");
    all.add_options()("server", po::value(&server)->default_value(find_program())->value_name("FILE"),
                      "the redis-server to start; otherwise that of the PATH");
    all.add_options()("help", "show this text");
    try {
        po::variables_map values;
        po::store(po::command_line_parser(argc, argv).options(all).positional({}).run(), values);
        po::notify(values);
        if (values.count("help")) {
            std::cout << all;
            return 0;
        }
        if (seconds < 12 || seconds > 3600)
            throw po::error("--seconds must be a number from 12 to 3600");
        if (::access(server.c_str(), X_OK) != 0) {
            std::cout
                << "skipped: there is no redis-server here; ./cmake/bootstrap.sh install-services gets it\n";
            return 77;
        }
        return is_shared_until_and_after_a_crash(server, seconds) ? 0 : 1;
    } catch (po::error const& e) {
        std::cerr << "example_12_fleet: " << e.what() << "; see --help\n";
        return 2;
    } catch (std::exception const& e) {
        std::cerr << "example_12_fleet: " << e.what() << '\n';
        return 1;
    }
}
