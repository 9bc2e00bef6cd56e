// Three services in a row, with Beast on real sockets. Each passes on how much time is left, and works in
// slices. Their caller goes after a while.
#include <asio_retry/async_retry.hpp>
#include <asio_retry/deadline_fields.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <exception>
#include <optional>
#include <string>
#include <vector>

namespace asio_retry::test {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;
using request = http::request<http::empty_body>;
using response = http::response<http::empty_body>;
using steady = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr auto margin = 100ms;

/// What happens to one request of the caller.
struct journey {
    time_point deadline = time_point::max(); ///< when the caller goes
    time_point sent{};                       ///< the last time that a service was told
    duration on_its_way{};                   ///< how long the messages took up to now
    std::size_t services = 0;                ///< that have got the request
    std::size_t slices_of_last = 0;
    std::size_t slices_after_gone = 0; ///< of all services

    void arrive(time_point now) {
        on_its_way += now - sent;
        ++services;
    }

    /// Of a machine so busy that a message takes longer than the margin, the excess is allowed.
    void work(bool is_last) {
        duration const excess = on_its_way - margin * static_cast<int>(services);
        slices_of_last += is_last;
        slices_after_gone += steady::now() > saturating_add(deadline, std::max(duration::zero(), excess));
    }
};

struct world {
    asio::io_context io;
    std::vector<journey> journeys = std::vector<journey>(8);
    bool tells = false; ///< whether requests say how much time is left
    std::vector<tcp::acceptor*> acceptors;
    std::size_t busy = 0; ///< callers and services

    void end_one() {
        if (--busy == 0)
            for (tcp::acceptor* const each : acceptors)
                each->close();
    }
};

/// Asks a server for a journey, on a connection of its own.
asio::awaitable<response> ask(world& w, tcp::endpoint server, std::size_t index, time_point deadline) {
    request question(http::verb::get, '/' + std::to_string(index), 11);
    w.journeys[index].sent = steady::now();
    if (w.tells)
        question.set("grpc-timeout", to_grpc_timeout(deadline, w.journeys[index].sent, margin));
    if (question["grpc-timeout"] == "0m")
        throw boost::system::system_error(asio::error::timed_out);
    tcp::socket connection(co_await asio::this_coro::executor);
    co_await connection.async_connect(server, asio::use_awaitable);
    co_await http::async_write(connection, question, asio::use_awaitable);
    boost::beast::flat_buffer buffer;
    response answer;
    co_await http::async_read(connection, buffer, answer, asio::use_awaitable);
    co_return answer;
}

/// Works for each request, and then asks the next service if there is one.
class service {
public:
    service(world& w, std::size_t slices, std::optional<tcp::endpoint> next = std::nullopt)
        : world_(w)
        , slices_(slices)
        , next_(next)
        , acceptor_(w.io, tcp::endpoint(asio::ip::address_v4::loopback(), 0)) {
        w.acceptors.push_back(&acceptor_);
        asio::co_spawn(w.io, accept(), [](std::exception_ptr) {}); // until it is closed
    }

    tcp::endpoint endpoint() const { return acceptor_.local_endpoint(); }

private:
    asio::awaitable<void> accept() {
        for (;;) {
            tcp::socket connection = co_await acceptor_.async_accept(asio::use_awaitable);
            ++world_.busy;
            asio::co_spawn(world_.io, serve(std::move(connection)), [this](std::exception_ptr) {
                world_.end_one(); // also if the client is gone
            });
        }
    }

    asio::awaitable<void> serve(tcp::socket connection) {
        boost::beast::flat_buffer buffer;
        request question;
        co_await http::async_read(connection, buffer, question, asio::use_awaitable);
        response said(co_await answer(question), 11);
        said.keep_alive(false);
        said.prepare_payload();
        co_await http::async_write(connection, said, asio::use_awaitable);
    }

    asio::awaitable<http::status> answer(request const& question) {
        std::size_t const index = std::stoul(std::string(question.target().substr(1)));
        journey& at = world_.journeys[index];
        time_point const now = steady::now();
        at.arrive(now);
        auto const left = parse_grpc_timeout(question["grpc-timeout"]);
        time_point const until = left ? saturating_add(now, *left) : time_point::max();
        asio::steady_timer slice(world_.io);
        for (std::size_t i = 0; i != slices_; ++i) {
            if (steady::now() >= until)
                co_return http::status::gateway_timeout;
            at.work(!next_);
            slice.expires_after(10ms);
            co_await slice.async_wait(asio::use_awaitable);
        }
        if (!next_)
            co_return http::status::ok;
        auto const pass_on = [&](attempt a) { return ask(world_, *next_, index, a.deadline); };
        response const said = co_await async_retry(pass_on, retry_policy().max_attempts(1).deadline(until));
        co_return said.result();
    }

    world& world_;
    std::size_t slices_;
    std::optional<tcp::endpoint> next_;
    tcp::acceptor acceptor_;
};

/// Of 10 ms each.
std::size_t slices_wanted(std::chrono::seconds patience) {
    return static_cast<std::size_t>(120 * patience.count());
}

/// Callers whose attempts wait so long; the last service would need at least 1.2 times as long.
std::vector<journey> run_journeys(bool tells, std::chrono::seconds patience) {
    world w;
    w.tells = tells;
    service last(w, slices_wanted(patience)), middle(w, 4, last.endpoint()), first(w, 4, middle.endpoint());
    auto const call = [&](std::size_t index) -> asio::awaitable<void> {
        auto const ask_first = [&](attempt a) {
            w.journeys[index].deadline = a.deadline;
            return ask(w, first.endpoint(), index, a.deadline);
        };
        auto const [failure, said] =
            co_await async_retry(ask_first, retry_policy().max_attempts(1).attempt_timeout(patience),
                                 asio::as_tuple(asio::use_awaitable));
        EXPECT_TRUE(failure || said.result() == http::status::gateway_timeout);
    };
    w.busy = w.journeys.size();
    for (std::size_t i = 0; i != w.journeys.size(); ++i)
        asio::co_spawn(w.io, call(i), [&](std::exception_ptr e) {
            w.end_one();
            if (e)
                std::rethrow_exception(e);
        });
    w.io.run();
    return w.journeys;
}

/// Calls `check` with each journey, and with the number of slices that the last service wanted to work. On a
/// busy machine the requests may reach the last service too late: then all happens again, with more patience.
template <typename Check>
void with_journeys(bool tells, Check const& check) {
    for (std::chrono::seconds patience = 1s; patience < 100s; patience *= 2) {
        auto const journeys = run_journeys(tells, patience);
        for (journey const& each : journeys)
            check(each, slices_wanted(patience));
        if (std::ranges::all_of(journeys, [](journey const& each) { return each.slices_of_last > 0; }))
            return;
    }
    ADD_FAILURE() << "the requests do not reach the last service";
}

TEST(deadlines_on_sockets, decision_65_the_last_service_does_nothing_for_a_caller_that_has_gone) {
    with_journeys(true, [](journey const& each, std::size_t wanted) {
        EXPECT_LT(each.slices_of_last, wanted);
        EXPECT_EQ(each.slices_after_gone, 0u);
    });
}

TEST(deadlines_on_sockets, without_the_field_the_last_service_works_to_the_end) {
    with_journeys(false, [](journey const& each, std::size_t wanted) {
        if (each.slices_of_last == 0)
            return;
        EXPECT_EQ(each.slices_of_last, wanted);
        EXPECT_GT(each.slices_after_gone, 0u);
    });
}

} // namespace
} // namespace asio_retry::test
