#include "trace_exporter.hpp"

#include "upstream_connections.hpp"

#include <asio_retry/async_retry.hpp>
#include <asio_retry/fail_if.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/write.hpp>

#include <algorithm>
#include <chrono>
#include <exception>
#include <sstream>
#include <utility>

namespace gateway {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t greatest_batch = 512; // spans: some hundred kilobytes

/// Retries what OTLP calls retryable, as no answer, 429 and 503, and not before Retry-After.
asio_retry::retry_policy policy_of_collectors() {
    return asio_retry::retry_policy()
        .backoff(asio_retry::exponential(100ms).cap(500ms))
        .max_attempts(4)
        .attempt_timeout(1s)
        .total_timeout(3s);
}

asio::awaitable<response> post(tcp::endpoint where, http::request<http::string_body> const& question) {
    tcp::socket socket(co_await asio::this_coro::executor);
    co_await socket.async_connect(where, asio::use_awaitable);
    co_await http::async_write(socket, question, asio::use_awaitable);
    boost::beast::flat_buffer buffer;
    response answer;
    co_await http::async_read(socket, buffer, answer, asio::use_awaitable);
    co_return answer;
}

std::shared_ptr<asio_retry::retry_traces> traces_for(trace_collector const& where) {
    asio_retry::trace_options options;
    options.service = "gateway";
    options.sampled = where.share;
    return std::make_shared<asio_retry::retry_traces>(options);
}

} // namespace

trace_exporter::trace_exporter(trace_collector const& where, asio::any_io_executor const& executor,
                               asio_retry::retry_metrics& metrics)
    : where_(where)
    , strand_(asio::make_strand(executor))
    , traces_(traces_for(where))
    , scope_(strand_)
    , pause_(strand_)
    , end_(strand_) {
    metrics.add_gauges("gateway_spans",
                       "Spans since the start: sent; lost, because the collector did not take them; dropped, "
                       "because too many waited.",
                       [this](asio_retry::gauge_sink const& add) {
                           add({{"state", "sent"}}, static_cast<double>(sent_));
                           add({{"state", "lost"}}, static_cast<double>(lost_));
                           add({{"state", "dropped"}}, static_cast<double>(traces_->dropped()));
                       });
}

void trace_exporter::start() {
    asio::co_spawn(strand_, run(), asio::detached);
}

asio::awaitable<std::uint64_t> trace_exporter::finish() {
    auto const self = shared_from_this();
    auto const wait = [this]() -> asio::awaitable<void> {
        is_stopped_ = true;
        pause_.cancel();
        end_.expires_after(2s);
        if (!has_ended_)
            co_await end_.async_wait(asio::as_tuple(asio::use_awaitable)); // which run() cancels
        scope_.cancel();
    };
    co_await asio::co_spawn(strand_, wait, asio::use_awaitable);
    co_return not_arrived();
}

asio::awaitable<void> trace_exporter::run() {
    auto const self = shared_from_this();
    for (;;) {
        bool const was_stopped = is_stopped_;
        try {
            co_await send_all();
        } catch (std::exception const&) { // no memory, perhaps later
        }
        if (was_stopped)
            break;
        pause_.expires_after(1s);
        if (!is_stopped_)
            co_await pause_.async_wait(asio::as_tuple(asio::use_awaitable));
    }
    has_ended_ = true;
    end_.cancel();
}

/// Stops at the first request that fails: what still waits has time until the next second. So do the spans of
/// requests that end meanwhile, unless they fill a request.
asio::awaitable<void> trace_exporter::send_all() {
    for (std::size_t count = greatest_batch; count == greatest_batch;) {
        count = std::min(traces_->ended(), greatest_batch);
        if (count == 0)
            break;
        bool const has_arrived = co_await send(traces_->otlp_json(count));
        (has_arrived ? sent_ : lost_) += count;
        if (!has_arrived)
            break;
    }
}

/// A collector may get spans twice, and knows them by their ids.
asio::awaitable<bool> trace_exporter::send(std::string json) {
    static auto const policy = policy_of_collectors();
    std::ostringstream host;
    host << where_.server;
    http::request<http::string_body> question(http::verb::post, where_.path, 11);
    question.set(http::field::host, host.str());
    question.set(http::field::content_type, "application/json");
    question.keep_alive(false);
    question.body() = std::move(json);
    question.prepare_payload();
    auto const ask = [&] { return post(where_.server, question); };
    try {
        response const answer =
            co_await asio_retry::async_retry(scope_, asio_retry::fail_if(ask, judge), policy);
        co_return http::to_status_class(answer.result()) == http::status_class::successful;
    } catch (boost::system::system_error const&) {
        co_return false;
    }
}

} // namespace gateway
