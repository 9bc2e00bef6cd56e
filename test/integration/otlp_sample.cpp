// Prints what retry_traces writes of operations of every kind, under virtual time: a line for each export, and
// before it a line for each traceparent that an attempt sent.
#include <asio_retry/observe/retry_traces.hpp>

#include <asio_retry/async_hedge.hpp>
#include <asio_retry/async_retry.hpp>
#include <asio_retry/fail_if.hpp>
#include <asio_retry/traffic/retry_budget.hpp>
#include <asio_retry/virtual_time.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <chrono>
#include <cstddef>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace asio_retry::test {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

constexpr std::string_view of_a_request = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
constexpr std::string_view not_sampled = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00";
constexpr std::chrono::sys_seconds begin{1'767'225'600s}; // 2026

retry_policy const every_second = retry_policy().backoff(constant(1s)).jitter(no_jitter());

/// g++ 12 takes no list in braces within a coroutine.
template <typename... Status>
std::vector<int> in_turn(Status... all) {
    return {all...};
}

/// The answers of a server: a status, or 0 for silence.
class server {
public:
    server(std::string name, std::vector<int> answers)
        : name_(std::move(name))
        , answers_(std::move(answers)) {}

    template <typename Observer>
    asio::awaitable<int> ask(Observer const& traces, attempt which) {
        std::cout << "sent " << name_ << ' ' << which.number << ' ' << traces.traceparent(which) << '\n';
        int const answer = answers_.at(asked_++);
        if (answer == 0) {
            asio::steady_timer silence(co_await asio::this_coro::executor,
                                       asio::steady_timer::time_point::max());
            co_await silence.async_wait(asio::use_awaitable);
        }
        co_return answer;
    }

private:
    std::string const name_;
    std::vector<int> const answers_;
    std::size_t asked_ = 0;
};

judgement judge(int status) {
    return judge_http(status, status == 503 ? "2" : "");
}

template <typename Observer>
asio::awaitable<void> ask(std::shared_ptr<Observer> traces, std::string name, std::vector<int> answers,
                          retry_policy policy = every_second) {
    server asked(std::move(name), std::move(answers));
    auto const operation = [&](attempt which) { return asked.ask(*traces, which); };
    co_await async_retry(fail_if(operation, judge), policy.observe(traces),
                         asio::as_tuple(asio::use_awaitable));
}

asio::awaitable<void> hedge(std::shared_ptr<retry_traces> traces) {
    server asked("hedge", in_turn(0, 200));
    auto const operation = [&](attempt which) { return asked.ask(*traces, which); };
    co_await async_hedge(operation, hedge_policy(50ms).max_attempts(2).observe(traces), asio::use_awaitable);
}

asio::awaitable<void> throw_always(std::shared_ptr<retry_traces> traces) {
    auto const operation = []() -> asio::awaitable<void> {
        throw std::runtime_error("a \"quote\", a \\, a\tb, \x01, \xff and \xe2\x82\xac");
        co_return;
    };
    co_await async_retry(operation, every_second.max_attempts(2).observe(traces),
                         asio::as_tuple(asio::use_awaitable));
}

/// The outer attempt's span is the parent of the inner operation's.
asio::awaitable<void> nest(std::shared_ptr<retry_traces> traces) {
    auto const outer = [&](attempt which) {
        return ask(traces->request(traces->traceparent(which)), "nested", in_turn(503, 200));
    };
    co_await async_retry(outer, every_second.observe(traces), asio::use_awaitable);
}

asio::awaitable<void> do_all(std::shared_ptr<retry_traces> traces) {
    retry_budget_options spent;
    spent.keep = spent.initial = 0;
    co_await ask(traces, "succeeds_after_retries", in_turn(503, 429, 200));
    co_await ask(traces, "not_retryable", in_turn(404));
    co_await ask(traces, "refused", in_turn(500), every_second.gate(std::make_shared<retry_budget>(spent)));
    co_await ask(traces, "times_out", in_turn(0), every_second.attempt_timeout(500ms).max_attempts(1));
    co_await ask(traces->request(of_a_request), "continues", in_turn(200));
    co_await ask(traces->request(not_sampled), "not_sampled", in_turn(200));
    co_await ask(traces->request("no such field"), "malformed", in_turn(200));
    co_await hedge(traces);
    co_await throw_always(traces);
    co_await ask(traces, "many", std::vector<int>(150, 500), every_second.max_attempts(150));
    co_await nest(traces);
    co_await ask(traces, "named", in_turn(503, 200), every_second.name("orders \"get\" \xe2\x82\xac"));
}

void print_all() {
    asio::io_context io;
    virtual_time time(io);
    trace_options options;
    options.service = "orders \xe2\x82\xac";
    options.seed = 42;
    options.epoch = begin - time.now().time_since_epoch();
    auto const traces = std::make_shared<retry_traces>(options);
    asio::co_spawn(io, do_all(traces), asio::detached);
    time.run();
    while (traces->ended() != 0)
        std::cout << "export " << traces->otlp_json(20) << '\n';
    std::cout << "export " << traces->otlp_json() << '\n'; // without a span
    std::cout << "dropped " << traces->dropped() << '\n';
}

} // namespace
} // namespace asio_retry::test

int main() {
    asio_retry::test::print_all();
}
