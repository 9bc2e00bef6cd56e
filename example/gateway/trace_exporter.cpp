#include "trace_exporter.hpp"

#include <asio_retry/async_retry.hpp>
#include <asio_retry/fail_if.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <exception>
#include <sstream>
#include <utility>

namespace gateway {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using namespace std::chrono_literals;

trace_exporter::trace_exporter(trace_collector const& where, asio::any_io_executor const& executor,
                               asio_retry::retry_metrics& metrics)
    : where_(where)
    , strand_(asio::make_strand(executor))
    , traces_({.service = "gateway", .sampled = where.share})
    , scope_(strand_)
    , pause_(strand_) {
    metrics.add_gauges("gateway_spans",
                       "Spans since the start: sent; lost, because the collector did not take them; dropped, "
                       "because too many waited.",
                       [this](asio_retry::gauge_sink const& add) {
                           add({{"state", "sent"}}, static_cast<double>(sent_));
                           add({{"state", "lost"}}, static_cast<double>(lost_));
                           add({{"state", "dropped"}}, static_cast<double>(traces_.dropped()));
                       });
    auto const once = asio_retry::retry_policy().max_attempts(1);
    asio::co_spawn(
        strand_,
        asio_retry::async_retry(scope_, [this] { return run(); }, once, asio::use_awaitable), asio::detached);
}

asio::awaitable<std::uint64_t> trace_exporter::finish() {
    asio::post(strand_, [this] {
        is_stopped_ = true;
        pause_.cancel();
    });
    co_await scope_.async_drain(2s, asio::use_awaitable);
    co_return lost_ + traces_.dropped() + traces_.ended();
}

asio::awaitable<void> trace_exporter::run() {
    for (bool is_last = false; !is_last;) {
        pause_.expires_after(1s);
        if (!is_stopped_)
            co_await pause_.async_wait(asio::as_tuple(asio::use_awaitable));
        is_last = is_stopped_;
        try {
            co_await send_all();
        } catch (std::exception const&) { // no memory, perhaps later
        }
    }
}

/// Stops at the first request that fails: what still waits has time until the next second. So do the spans of
/// requests that end meanwhile, unless they fill a request.
asio::awaitable<void> trace_exporter::send_all() {
    constexpr std::size_t greatest = 512; // spans: some hundred kilobytes
    for (std::size_t count = greatest; count == greatest;) {
        count = std::min(traces_.ended(), greatest);
        if (count == 0)
            break;
        bool const has_arrived = co_await send(traces_.otlp_json(count));
        (has_arrived ? sent_ : lost_) += count;
        if (!has_arrived)
            break;
    }
}

/// Retries what OTLP calls retryable, as no answer, 429 and 503, and not before Retry-After. A collector may
/// get spans twice, and knows them by their ids.
asio::awaitable<bool> trace_exporter::send(std::string json) {
    static auto const policy = asio_retry::retry_policy()
                                   .backoff(asio_retry::exponential(100ms).cap(500ms))
                                   .max_attempts(4)
                                   .attempt_timeout(1s)
                                   .total_timeout(3s);
    std::ostringstream host;
    host << where_.server;
    request question(http::verb::post, where_.path, 11);
    question.set(http::field::host, host.str());
    question.set(http::field::content_type, "application/json");
    question.body() = std::move(json);
    question.prepare_payload();
    auto const ask = [&](asio_retry::attempt which) { return connection_.ask(where_.server, question, which); };
    try {
        response const answer =
            co_await asio_retry::async_retry(asio_retry::fail_if(ask, judge), policy, asio::use_awaitable);
        co_return http::to_status_class(answer.result()) == http::status_class::successful;
    } catch (boost::system::system_error const&) {
        co_return false;
    }
}

} // namespace gateway
