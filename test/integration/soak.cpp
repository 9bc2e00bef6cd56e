// The gateway of example/gateway before three nginx, for as long as one likes. Clients ask at a constant rate,
// whether earlier requests are answered or not. Every five seconds something happens: a server is killed,
// stopped, restarted or slowed; the Redis of the gateway's budget hangs or restarts; the gateway reads good or
// faulty policies again; a crowd of connections comes at once; or the gateway itself is stopped for seconds.
//
// soak_tests GATEWAY NGINX REDIS [SECONDS [SEED]]; without SECONDS it runs for a minute, or for
// ASIO_RETRY_SOAK_SECONDS of the environment.
//
// - A request is lost if a server answered its last attempt, and the client got something else. A server that
//   was disturbed meanwhile does not count: its answer may have met a closed connection. Nor does a client that
//   got 504: its limit ended first. How many answers came after a limit is printed.
// - A POST is executed where a server logs 200. A server that is killed at that moment logs nothing.
// - The policy of GET has a rate limit. After the gateway was stopped, hundreds of requests are overdue: the
//   servers' logs say whether it kept the limit.
// - Resident memory and open descriptors are medians of many samples.
// - A turn is the CPU time of a thread for one event, and at most 5 ms. The wait for the event is in it, which
//   costs a thread some milliseconds now and then where the processors are busy. So `plain_turns` run beside,
//   in twice the CPU time: the gateway may have two long ones more than these. What it does too long it does
//   often.
#include "fleet/redis_process.hpp"
#include "integration/child_process.hpp"
#include "integration/logging_nginx.hpp"
#include "integration/own_folder.hpp"
#include "integration/plain_turns.hpp"
#include "integration/ports.hpp"
#include "integration/redis_outage.hpp"
#include "integration/run_with_programs.hpp"

#include <asio_retry/random.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <future>
#include <iostream>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <sys/resource.h>
#include <unistd.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define ASIO_RETRY_TEST_SANITIZED
#endif
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define ASIO_RETRY_TEST_SANITIZED
#endif

namespace asio_retry::test {
namespace {

namespace http = boost::beast::http;
using namespace std::chrono_literals;
using steady = std::chrono::steady_clock;
using question = http::request<http::string_body>;
using answer = http::response<http::string_body>;

std::string gateway, nginx, redis; // the programs
std::chrono::seconds length(60);
std::uint64_t seed = 1;

/// Memory and CPU time of a sanitizer are not those of the gateway.
#if defined(ASIO_RETRY_TEST_SANITIZED)
constexpr bool is_sanitized = true;
constexpr std::uint64_t rate = 50; ///< requests a second
#else
constexpr bool is_sanitized = false;
constexpr std::uint64_t rate = 200;
#endif

constexpr std::size_t connections = 64; ///< of clients; so many requests at most run at the same time
constexpr auto between_events = 5s;

/// The policy of GET: a rate that suffices for the clients, and far less than what is overdue after a stop.
constexpr double get_rate = 250;
constexpr double get_burst = 20;

/// As many as the processes may open, two for each in the gateway.
std::size_t crowd_size() {
    ::rlimit files{};
    ::getrlimit(RLIMIT_NOFILE, &files);
    std::size_t const wanted = length < 10min || is_sanitized ? 1'000 : 10'000;
    return std::min<std::size_t>(wanted, files.rlim_cur / 3);
}

/// What one request has seen.
struct record {
    steady::time_point due, sent, answered;
    unsigned status = 0; ///< 0: no answer
    bool is_post = false;
};

/// Clients on connections that last, or end with an answer. Each asks when the next request is due: so many
/// requests are due in each second, whether those before are answered or not.
class clients {
public:
    clients(unsigned short port, std::uint64_t count)
        : port_(port)
        , records_(count)
        , random_(seed) {
        for (std::size_t i = 0; i != connections; ++i)
            asio::co_spawn(io_, ask_again_and_again(), [](std::exception_ptr e) {
                if (e)
                    std::rethrow_exception(e);
            });
        end_ = std::async(std::launch::async, [this] { io_.run(); });
    }
    clients(clients const&) = delete;
    clients& operator=(clients const&) = delete;
    ~clients() { io_.stop(); } // and end_ waits

    /// Until all have an answer. Gives up if a minute brings none: the gateway has five seconds for each.
    void wait() {
        std::uint64_t before = 0;
        while (end_.wait_for(1min) != std::future_status::ready) {
            std::uint64_t const now = answers_;
            if (now == before)
                io_.stop();
            before = now;
        }
        end_.get();
    }

    // For after that.
    std::vector<record> const& records() const noexcept { return records_; }
    std::size_t surplus() const noexcept { return surplus_; } ///< answers that nobody had asked for
    std::size_t mixed_up() const noexcept { return mixed_up_; }

private:
    asio::awaitable<void> ask_again_and_again() {
        std::optional<tcp::socket> socket;
        boost::beast::flat_buffer buffer;
        asio::steady_timer timer(io_);
        while (next_ != records_.size()) {
            std::uint64_t const id = next_++;
            record& own = records_[id];
            own.due = began_ + id * 1'000'000us / rate;
            timer.expires_at(own.due);
            co_await timer.async_wait(asio::use_awaitable);
            try {
                co_await ask(socket, buffer, id);
            } catch (boost::system::system_error const&) {
                own.answered = steady::now();
                socket.reset();
            }
            if (buffer.size() != 0 || (socket && socket->available() != 0)) {
                ++surplus_;
                socket.reset();
            }
            buffer.clear();
        }
    }

    asio::awaitable<void> ask(std::optional<tcp::socket>& socket, boost::beast::flat_buffer& buffer,
                              std::uint64_t id) {
        record& own = records_[id];
        own.is_post = random_() % 4 == 0;
        question q(own.is_post ? http::verb::post : http::verb::get,
                   (own.is_post ? "/orders?" : "/page?") + std::to_string(id), 11);
        q.set(http::field::host, "localhost");
        q.set("X-Id", std::to_string(id));
        q.keep_alive(random_() % 50 != 0);
        if (own.is_post)
            q.body() = std::string(random_() % 4096, 'x');
        q.prepare_payload();
        own.sent = steady::now();
        if (!socket) {
            socket.emplace(io_);
            co_await socket->async_connect(on_loopback(port_), asio::use_awaitable);
            socket->set_option(tcp::no_delay(true));
        }
        co_await http::async_write(*socket, q, asio::use_awaitable);
        answer a;
        co_await http::async_read(*socket, buffer, a, asio::use_awaitable);
        ++answers_;
        own.answered = steady::now();
        own.status = a.result_int();
        mixed_up_ += own.status == 200 && a["X-Id"] != q["X-Id"];
        if (!a.keep_alive())
            socket.reset();
    }

    unsigned short const port_;
    asio::io_context io_{1};
    steady::time_point const began_ = steady::now();
    std::vector<record> records_;
    std::uint64_t next_ = 0;
    std::atomic<std::uint64_t> answers_ = 0;
    std::size_t surplus_ = 0, mixed_up_ = 0;
    std::mt19937_64 random_;
    std::future<void> end_;
};

/// A server, what is being done to it, and when that was so.
class disturbed_server {
public:
    disturbed_server(std::filesystem::path const& folder)
        : nginx_(nginx, folder, "\n            add_header X-Id $http_x_id always;") {}

    enum class event { kill, stop, restart, slow };

    bool is_up() const noexcept { return !down_; }
    logging_nginx const& process() const noexcept { return nginx_; }

    void disturb(event what, steady::time_point until) {
        present_ = disturbances_.size();
        disturbances_.push_back({steady::now(), steady::time_point::max()});
        down_ = what;
        until_ = until;
        switch (what) {
        case event::kill:
            nginx_.kill();
            break;
        case event::stop:
            nginx_.stop();
            break;
        case event::restart:
            nginx_.end();
            come_back();
            break;
        case event::slow:
            slows_ = true;
            slower_ = std::thread([this] {
                while (slows_) {
                    nginx_.stop();
                    std::this_thread::sleep_for(60ms);
                    nginx_.go_on();
                    std::this_thread::sleep_for(20ms);
                }
            });
            break;
        }
    }

    /// Something else kept it from answering in time.
    void was_disturbed_since(steady::time_point began) { disturbances_.push_back({began, steady::now()}); }

    void come_back_if_it_is_time(steady::time_point now) {
        if (down_ && now >= until_)
            come_back();
    }

    bool was_disturbed(record const& request) const {
        return std::ranges::any_of(disturbances_, [&](auto const& each) {
            return each.first <= request.answered && each.second >= request.sent;
        });
    }

    void end() { nginx_.end(); }

private:
    void come_back() {
        if (down_ == event::slow) {
            slows_ = false;
            slower_.join();
        } else if (down_ == event::stop) {
            nginx_.go_on();
        } else {
            nginx_.start();
        }
        down_.reset();
        disturbances_[present_].second = steady::now();
    }

    logging_nginx nginx_;
    std::optional<event> down_;
    steady::time_point until_;
    std::vector<std::pair<steady::time_point, steady::time_point>> disturbances_;
    std::size_t present_ = 0; ///< of these, while it is down
    std::atomic<bool> slows_ = false;
    std::thread slower_;
};

/// What servers have logged of a request.
struct execution {
    std::uint64_t id = 0, attempt = 0;
    std::size_t server = 0;
};

class soak : public test_in_folder {
protected:
    soak()
        : test_in_folder("soak") {
        for (char const* const name : {"a", "b", "c"})
            servers.push_back(std::make_unique<disturbed_server>(folder / name));
        collector.emplace(nginx, folder / "collector", "\n            client_max_body_size 0;");
        write_policies(true);
        std::vector<std::string> arguments{gateway,
                                           "--listen",
                                           "127.0.0.1:" + std::to_string(port),
                                           "--timeout",
                                           "5",
                                           "--policies",
                                           (folder / "policies").string(),
                                           "--budget",
                                           "redis://127.0.0.1:" + std::to_string(store.port()),
                                           "--traces",
                                           "http://127.0.0.1:" + std::to_string(collector->port())};
        for (auto const& each : servers)
            arguments.insert(arguments.end(),
                             {"--upstream", "127.0.0.1:" + std::to_string(each->process().port())});
        process.emplace(std::move(arguments), folder / "gateway.log");
        wait_until_it_answers(port);
        metric("gateway_longest_turn_seconds"); // it listens before it reads the file
    }

    void write_policies(bool are_good) {
        std::ofstream(folder / "new") << "/page = exponential(10ms, cap=200ms) max_attempts("
                                      << 3 + random() % 3
                                      << ") attempt_timeout(1s) wait_when_refused() rate_limit(" << get_rate
                                      << ", 1s, " << get_burst
                                      << ")\n/orders = exponential(10ms, cap=200ms) max_attempts(4) "
                                         "attempt_timeout(1s)\n"
                                      << (are_good ? "/ = celery\n" : "/ = celry\n");
        std::filesystem::rename(folder / "new", folder / "policies");
    }

    /// The sum over all labels, or none if there is no such name.
    std::optional<double> metric(std::string const& name) const {
        asio::io_context io;
        tcp::socket socket(io);
        socket.connect(on_loopback(port));
        question q(http::verb::get, "/metrics", 11);
        q.set(http::field::host, "localhost");
        q.keep_alive(false);
        http::write(socket, q);
        boost::beast::flat_buffer buffer;
        answer a;
        http::read(socket, buffer, a);
        std::istringstream text(a.body());
        std::optional<double> sum;
        for (std::string line; std::getline(text, line);)
            if (line.starts_with(name + ' ') || line.starts_with(name + '{'))
                sum = sum.value_or(0) + std::strtod(line.c_str() + line.rfind(' '), nullptr);
        return sum;
    }

    void run() {
        clients all(port, rate * static_cast<std::uint64_t>(length.count()));
        auto const began = steady::now();
        auto next_event = began + between_events;
        for (auto now = began; now < began + length; now = steady::now()) {
            for (auto const& each : servers)
                each->come_back_if_it_is_time(now);
            if (now >= next_event) {
                let_something_happen(now);
                next_event = std::max(next_event, steady::now()) + between_events;
            }
            resident_kib.push_back(resident());
            descriptors.push_back(open_files());
            std::this_thread::sleep_until(std::min(now + 1s, began + length));
        }
        for (auto const& each : servers)
            each->come_back_if_it_is_time(steady::time_point::max());
        all.wait();
        records = all.records();
        EXPECT_EQ(all.surplus(), 0u);
        EXPECT_EQ(all.mixed_up(), 0u) << "answers that belong to other requests";
    }

    /// In each minute or so the gateway is stopped once, and a crowd comes once.
    void let_something_happen(steady::time_point now) {
        switch (++happened % 10) {
        case 1: // before its memory is looked at
            return send_a_crowd();
        case 4:
            return stop_the_gateway();
        case 7:
            ++redis_outages;
            return hang_or_restart(store, dice, false, 200ms, 2s);
        default:
            disturb(now);
            if (random() % 3 == 0)
                reload();
        }
    }

    /// While all servers are well, so that their logs have the time of each request.
    void stop_the_gateway() {
        for (auto const& each : servers)
            each->come_back_if_it_is_time(steady::time_point::max());
        std::this_thread::sleep_for(1s);
        process->send(SIGSTOP);
        std::this_thread::sleep_for(dice.uniform(duration(3s), duration(4s)));
        stops.push_back(
            std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count());
        process->send(SIGCONT);
        std::this_thread::sleep_for(3s);
    }

    /// The gateway, its servers and their queues are full meanwhile: each connection gets some answer.
    void send_a_crowd() {
        auto const began = steady::now();
        asio::io_context io(1);
        std::size_t const size = crowd_size();
        std::size_t answered = 0;
        for (std::size_t i = 0; i != size; ++i)
            asio::co_spawn(io, ask_once(), [&](std::exception_ptr e, unsigned status) {
                answered += !e;
                ++crowd[e ? 0 : status];
            });
        io.run_for(1min);
        EXPECT_EQ(answered, size) << "connections of a crowd without an answer";
        std::this_thread::sleep_for(5s); // until the gateway has given up what nobody waits for
        for (auto const& each : servers)
            each->was_disturbed_since(began);
    }

    asio::awaitable<unsigned> ask_once() const {
        tcp::socket socket(co_await asio::this_coro::executor);
        co_await socket.async_connect(on_loopback(port), asio::use_awaitable);
        question q(http::verb::get, "/crowd", 11);
        q.set(http::field::host, "localhost");
        q.keep_alive(false);
        co_await http::async_write(socket, q, asio::use_awaitable);
        boost::beast::flat_buffer buffer;
        answer a;
        co_await http::async_read(socket, buffer, a, asio::use_awaitable);
        co_return a.result_int();
    }

    /// It may be that none is left for a while.
    void disturb(steady::time_point now) {
        std::vector<disturbed_server*> up;
        for (auto const& each : servers)
            if (each->is_up())
                up.push_back(each.get());
        auto const what = static_cast<disturbed_server::event>(random() % events.size());
        auto const until = now + std::chrono::milliseconds(1'000 + random() % 10'000);
        if (up.empty())
            return;
        ++events[static_cast<std::size_t>(what)];
        up[random() % up.size()]->disturb(what, until);
    }

    void reload() {
        bool const is_good = random() % 2 == 0;
        write_policies(is_good);
        process->send(SIGHUP);
        ++reloads[is_good];
        while (metric("gateway_policy_reloads") != static_cast<double>(reloads[0] + reloads[1]))
            std::this_thread::sleep_for(10ms);
    }

    std::size_t resident() const {
        std::ifstream file("/proc/" + std::to_string(process->id()) + "/statm");
        std::size_t total = 0, pages = 0;
        file >> total >> pages;
        return pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)) / 1024;
    }

    std::size_t open_files() const {
        std::filesystem::directory_iterator const all("/proc/" + std::to_string(process->id()) + "/fd");
        return static_cast<std::size_t>(std::distance(begin(all), end(all)));
    }

    /// A twelfth of the run each.
    static std::vector<std::size_t> medians_of(std::vector<std::size_t> const& samples) {
        std::vector<std::size_t> result;
        std::size_t const count = samples.size();
        for (std::size_t i = 0; i != 12; ++i) {
            std::vector<std::size_t> part(samples.begin() + static_cast<std::ptrdiff_t>(i * count / 12),
                                          samples.begin() + static_cast<std::ptrdiff_t>((i + 1) * count / 12));
            std::ranges::sort(part);
            result.push_back(part.at(part.size() / 2));
        }
        return result;
    }

    /// Of one method, with status 200.
    std::vector<execution> executions(std::string const& method) const {
        std::vector<execution> result;
        for (std::size_t i = 0; i != servers.size(); ++i)
            for (auto const& line : servers[i]->process().answers(method))
                if (line.status == 200 && line.id != "-") // of no crowd
                    result.push_back({std::strtoull(line.id.c_str(), nullptr, 10), line.attempt, i});
        return result;
    }

    /// What the gateway's own lines say: how many attempts each request had.
    std::vector<std::uint64_t> attempts() const {
        std::vector<std::uint64_t> result(records.size());
        std::ifstream file(folder / "gateway.log");
        for (std::string text; std::getline(file, text);) {
            std::istringstream line(text);
            std::string method, target;
            unsigned status = 0;
            std::uint64_t count = 0;
            if (line >> method >> target >> status >> count && target.find('?') != target.npos)
                result.at(std::stoull(target.substr(target.find('?') + 1))) = count;
        }
        return result;
    }

    void judge_answers();
    void judge_bursts() const;
    void judge_memory() const;
    void judge_turns() const;
    void print_times() const;

    plain_turns control;
    std::mt19937_64 random{seed};
    unsigned short const port = free_port();
    fleet::redis_process store{redis};
    std::vector<std::unique_ptr<disturbed_server>> servers;
    std::optional<logging_nginx> collector;
    std::optional<child_process> process;
    asio_retry::random dice{seed};
    unsigned happened = 0;
    std::array<std::size_t, 4> events{};
    std::array<std::size_t, 2> reloads{}; ///< faulty and good ones
    std::size_t redis_outages = 0;
    std::vector<double> stops;             ///< when the gateway went on, in seconds of the system's clock
    std::map<unsigned, std::size_t> crowd; ///< by status; 0: no answer
    std::vector<std::size_t> resident_kib, descriptors;
    std::vector<record> records;
};

void soak::judge_answers() {
    std::map<unsigned, std::size_t> statuses;
    for (record const& each : records)
        ++statuses[each.status];
    std::cout << "requests " << records.size() << ", by status:";
    for (auto const& [status, count] : statuses)
        std::cout << ' ' << status << ": " << count;

    std::vector<std::size_t> executed(records.size());
    std::vector<execution> all = executions("POST");
    for (execution const& each : all)
        ++executed.at(each.id);
    auto const posts = static_cast<std::size_t>(std::ranges::count_if(records, &record::is_post));
    auto const twice = std::ranges::count_if(executed, [](std::size_t count) { return count > 1; });
    std::cout << "\nPOST " << posts << ", executed once " << std::ranges::count(executed, 1u) << ", more often "
              << twice << '\n';

    auto const gets = executions("GET");
    all.insert(all.end(), gets.begin(), gets.end());
    std::vector<std::uint64_t> const last = attempts();
    std::size_t lost = 0, late = 0, of_last = 0;
    for (execution const& each : all) {
        record const& request = records.at(each.id);
        bool const is_last = each.attempt == last[each.id];
        of_last += is_last;
        if ((is_last && request.status == 200) || servers[each.server]->was_disturbed(request))
            continue;
        bool const is_late = !is_last || request.status == 504;
        ++(is_late ? late : lost);
        if (!is_late)
            std::cout << "lost: request " << each.id << ", attempt " << each.attempt << ", status "
                      << request.status << '\n';
    }
    std::cout << "lost " << lost << "; answers that came after a limit " << late << '\n';
    EXPECT_GE(of_last, statuses[200] - statuses[200] / 100) << "the servers' logs or the gateway's are wrong";
    EXPECT_EQ(statuses[0], 0u) << "requests without an answer";
    EXPECT_EQ(lost, 0u);
    EXPECT_EQ(twice, 0);
    EXPECT_GT(posts, 0u);
}

/// What the servers log within half a second, soon after a stop. The log says when an answer was written, which
/// may be some milliseconds later than the request.
void soak::judge_bursts() const {
    std::vector<double> asked;
    for (auto const& each : servers)
        for (auto const& line : each->process().answers("GET"))
            if (line.id != "-")
                asked.push_back(line.at);
    std::ranges::sort(asked);
    std::ptrdiff_t greatest = 0;
    for (double const began : stops)
        for (auto first = std::ranges::lower_bound(asked, began); first != asked.end() && *first < began + 2;
             ++first)
            greatest = std::max(greatest, std::ranges::lower_bound(asked, *first + 0.5) - first);
    double const allowed = get_burst + get_rate / 2 + 30;
    std::cout << "the gateway was stopped " << stops.size() << " times; afterwards at most " << greatest
              << " GET in half a second, " << allowed << " allowed\n";
    EXPECT_LE(static_cast<double>(greatest), allowed);
    EXPECT_FALSE(stops.empty() && length >= 1min);
}

void soak::judge_memory() const {
    std::vector<std::size_t> const kib = medians_of(resident_kib), files = medians_of(descriptors);
    std::size_t const level = kib[2], greatest = *std::max_element(kib.begin() + 3, kib.end());
    std::cout << "resident memory " << level << " KiB after a sixth of the time, " << kib.back()
              << " KiB at the end, at most " << greatest << " KiB\n";
    std::cout << "descriptors " << files[2] << " after a sixth of the time, " << files.back()
              << " at the end\n";
    EXPECT_LE(files.back(), files[2] + connections) << "files stay open";
    std::size_t const growth = length < 10min ? 2'048 : 1'024; // after seconds not every buffer has its size
    if (!is_sanitized) {
        EXPECT_LE(greatest, level + std::max(growth, level / 20));
    }
}

void soak::judge_turns() const {
    auto const longest = metric("gateway_longest_turn_seconds"), many = metric("gateway_long_turns");
    ASSERT_TRUE(longest && many);
    std::size_t const plain = control.long_ones();
    std::cout << "longest turn " << *longest * 1'000 << " ms of CPU time, more than 5 ms " << *many
              << " times; plain turns " << plain << '\n';
    if (!is_sanitized) {
        EXPECT_LE(*many, 2 + static_cast<double>(plain));
    }
    EXPECT_GT(*longest, 0);
}

/// Not judged: a busy machine has other times.
void soak::print_times() const {
    std::vector<double> ms;
    for (record const& each : records)
        ms.push_back(std::chrono::duration<double, std::milli>(each.answered - each.due).count());
    std::ranges::sort(ms);
    std::cout << "answered after " << ms[ms.size() / 2] << " ms (median), " << ms[ms.size() * 99 / 100]
              << " ms (99 %), " << ms.back() << " ms (all)\n";
}

TEST_F(soak, of_a_gateway_before_servers_that_come_and_go) {
    std::cout << "seed " << seed << ", " << length.count() << " s, " << rate << " requests a second"
              << std::endl;
    run();
    judge_turns();
    process->send(SIGTERM);
    EXPECT_EQ(process->wait(), 0);
    for (auto const& each : servers)
        each->end();
    std::cout << "servers killed " << events[0] << ", stopped " << events[1] << ", restarted " << events[2]
              << ", slowed " << events[3] << "; outages of Redis " << redis_outages << "; reloads: good "
              << reloads[1] << ", faulty " << reloads[0] << '\n';
    std::cout << "crowds of " << crowd_size() << ", by status:";
    for (auto const& [status, count] : crowd)
        std::cout << ' ' << status << ": " << count;
    std::cout << '\n';
    judge_answers();
    judge_bursts();
    judge_memory();
    print_times();
}

} // namespace
} // namespace asio_retry::test

int main(int argc, char** argv) {
    using namespace asio_retry::test;
    char const* const seconds = argc > 4 ? argv[4] : std::getenv("ASIO_RETRY_SOAK_SECONDS");
    if (seconds)
        length = std::chrono::seconds(std::stoi(seconds));
    seed = argc > 5 ? std::stoull(argv[5]) : std::random_device()();
    ::rlimit files{};
    ::getrlimit(RLIMIT_NOFILE, &files); // for a crowd; the gateway inherits it
    files.rlim_cur = files.rlim_max = std::max<::rlim_t>(files.rlim_max, 65'536);
    if (::setrlimit(RLIMIT_NOFILE, &files) != 0) { // only root raises the greatest one
        ::getrlimit(RLIMIT_NOFILE, &files);
        files.rlim_cur = files.rlim_max;
        ::setrlimit(RLIMIT_NOFILE, &files);
    }
    return run_with_programs(argc, argv, {&gateway, &nginx, &redis}, "nginx or Redis");
}
