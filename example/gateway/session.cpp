#include "session.hpp"

#include <asio_retry/async_retry.hpp>
#include <asio_retry/deadline_fields.hpp>
#include <asio_retry/fail_if.hpp>
#include <asio_retry/observe/gauges.hpp>
#include <asio_retry/on_endpoint.hpp>
#include <asio_retry/permanent.hpp>
#include <asio_retry/traffic/attempt_histogram.hpp>
#include <asio_retry/with_report.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/write.hpp>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <syncstream>
#include <tuple>
#include <utility>

namespace gateway {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;
using boost::system::error_code;
using steady = std::chrono::steady_clock;

namespace {

constexpr std::uint64_t greatest_request = 1 << 20;
constexpr char timeout_field[] = "X-Request-Timeout-Ms"; // of clients, and to servers
constexpr std::chrono::milliseconds way_back(1);         // of a server's answer

bool is_idempotent(http::verb method) {
    switch (method) {
    case http::verb::get:
    case http::verb::head:
    case http::verb::put:
    case http::verb::delete_:
    case http::verb::options:
    case http::verb::trace:
        return true;
    default:
        return false;
    }
}

/// What is between two neighbours only (RFC 9110, section 7.6.1).
template <typename Message>
void remove_fields_of_the_hop(Message& message) {
    for (http::field const name :
         {http::field::connection, http::field::keep_alive, http::field::te, http::field::trailer,
          http::field::transfer_encoding, http::field::upgrade, http::field::proxy_connection})
        message.erase(name);
}

std::chrono::milliseconds time_for(request const& question, std::chrono::milliseconds greatest) {
    auto const field = question[timeout_field];
    auto const said = asio_retry::parse_timeout_ms({field.data(), field.size()}).value_or(greatest);
    return std::min(greatest, std::chrono::floor<std::chrono::milliseconds>(said));
}

response reply(http::status status, std::string body) {
    response result(status, 11);
    result.set(http::field::content_type, "text/plain; charset=utf-8");
    result.body() = std::move(body);
    return result;
}

response reply_to(error_code const& failure) {
    if (failure == asio::error::timed_out)
        return reply(http::status::gateway_timeout, "the server took too long\n");
    if (failure == asio_retry::condition::refused || failure == asio::error::no_buffer_space) {
        response result = reply(http::status::service_unavailable, failure.message() + '\n');
        result.set(http::field::retry_after, "1");
        return result;
    }
    return reply(http::status::bad_gateway, failure.message() + '\n');
}

constexpr char trace_field[] = "traceparent"; // W3C Trace Context

/// Empty if there is none, or more than one.
std::string_view trace_of(request const& question) {
    if (question.count(trace_field) != 1)
        return {};
    auto const field = question[trace_field];
    return {field.data(), field.size()};
}

/// `tracestate` belongs to the trace that has come with the request, and stays with that.
void set_trace(request& question, std::string const& field) {
    auto const id = [](std::string_view text) {
        return text.substr(std::min<std::size_t>(3, text.size()), 32);
    };
    if (id(trace_of(question)) != id(field))
        question.erase("tracestate");
    question.set(trace_field, field);
}

/// Open after three failures in a row: requests that have to be retried are what the budget pays for.
asio_retry::endpoint_options upstream_options() {
    asio_retry::endpoint_options result;
    result.breaker.consecutive = 3;
    result.breaker.open_for = std::chrono::milliseconds(500); // which is how late its return may be noticed
    result.breaker.growth = 1;
    result.breaker.probes = 1; // with more, clients who come together are refused by servers that are all back
    return result;
}

class session {
public:
    session(tcp::socket client, services& shared)
        : client_(std::move(client))
        , shared_(shared) {}

    asio::awaitable<void> run();

private:
    asio::awaitable<bool> read(request& question);
    asio::awaitable<response> answer(request& question);
    asio::awaitable<response> pass_on(request& question);
    asio::awaitable<response> ask(request const& question, asio_retry::attempt which,
                                  tcp::endpoint const& where);

    tcp::socket client_;
    services& shared_;
    std::shared_ptr<asio_retry::request_trace> trace_; // of the request that is passed on
    upstream_connections connections_;
    boost::beast::flat_buffer buffer_;
};

asio::awaitable<void> session::run() {
    request question;
    while (co_await read(question)) {
        unsigned const version = question.version();
        bool keeps = question.keep_alive();
        response said = co_await answer(question);
        keeps = keeps && !shared_.reads.cancelled();
        said.version(version);
        said.keep_alive(keeps);
        said.prepare_payload();
        co_await http::async_write(client_, said, asio::use_awaitable);
        if (!keeps)
            break;
    }
    error_code ignored;
    client_.shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
}

/// False when there is none any more. A request of which some has come is read to its end all the same.
asio::awaitable<bool> session::read(request& question) {
    http::request_parser<http::string_body> parser;
    parser.body_limit(greatest_request);
    error_code failure;
    if (buffer_.size() == 0) {
        auto const wait = [this](auto token) {
            return client_.async_wait(asio::socket_base::wait_read, std::move(token));
        };
        static auto const once = asio_retry::retry_policy().max_attempts(1);
        std::tie(failure) =
            co_await asio_retry::async_retry(shared_.reads, wait, once, asio::as_tuple(asio::use_awaitable));
        if (failure)
            co_return false;
    }
    std::tie(failure, std::ignore) =
        co_await http::async_read(client_, buffer_, parser, asio::as_tuple(asio::use_awaitable));
    question = parser.release();
    co_return !failure;
}

asio::awaitable<response> session::answer(request& question) {
    if (std::optional<response> own = answer_itself(question, shared_))
        co_return std::move(*own);
    co_return co_await pass_on(question);
}

asio::awaitable<response> session::pass_on(request& question) {
    auto const began = steady::now();
    auto const time = time_for(question, shared_.configured.timeout);
    remove_fields_of_the_hop(question);
    question.version(11);
    question.prepare_payload();

    trace_ = shared_.exporter ? shared_.exporter->traces().request(trace_of(question)) : nullptr;
    auto const words = std::make_shared<failure_words>();
    auto const usual = shared_.policies.of({question.target().data(), question.target().size()});
    auto const policy = (is_idempotent(question.method()) ? usual : usual.retry_sent(false))
                            .total_timeout(time)
                            .observe(asio_retry::all_observers({shared_.metrics, trace_, words}));
    auto const ask_one =
        asio_retry::on_endpoint([this, &question](asio_retry::attempt which,
                                                  tcp::endpoint const& at) { return ask(question, which, at); },
                                shared_.upstreams);
    asio_retry::retry_report report;
    response said;
    try {
        auto const operation = asio_retry::with_report(asio_retry::fail_if(ask_one, judge), report);
        said = co_await asio_retry::async_retry(shared_.requests, operation, policy);
        remove_fields_of_the_hop(said);
    } catch (boost::system::system_error const& failure) {
        said = reply_to(failure.code());
    }
    auto const took = std::chrono::duration_cast<std::chrono::milliseconds>(steady::now() - began);
    if (said.result_int() >= 500)
        shared_.failures.add({std::string(question.method_string()), std::string(question.target()),
                              said.result_int(), report.attempts, took, words->cause(), words->end()});
    if (!shared_.configured.is_quiet)
        std::osyncstream(std::cout) << question.method_string() << ' ' << question.target() << ' '
                                    << said.result_int() << ' ' << report.attempts << " attempts "
                                    << took.count() << " ms " << to_string(report.reason) << std::endl;
    co_return said;
}

asio::awaitable<response> session::ask(request const& question, asio_retry::attempt which,
                                       tcp::endpoint const& where) {
    auto const now = steady::now();
    if (which.deadline - now <= way_back) // no answer would be in time, whatever the server does
        throw asio_retry::permanent(boost::system::system_error(asio::error::timed_out));
    request copy = question;
    if (which.number > 1)
        copy.set(asio_retry::previous_attempts_field, asio_retry::previous_attempts(which));
    if (trace_)
        set_trace(copy, trace_->traceparent(which));
    copy.set(timeout_field, asio_retry::to_timeout_ms(which.deadline, now, way_back));
    co_return co_await connections_.ask(where, copy, which);
}

} // namespace

services::services(settings const& s, asio::any_io_executor const& executor, demo* trial_)
    : configured(s)
    , upstreams(std::make_shared<upstream_set>(s.upstreams, upstream_options()))
    , budget(make_budget(s, executor, *metrics))
    , trial(trial_)
    , policies(s, budget.gate, *metrics)
    , requests(executor)
    , reads(executor) {
    if (s.traces)
        exporter.emplace(*s.traces, executor, *metrics);
    asio_retry::add_gauges(*metrics, "gateway_server", upstreams);
}

asio::awaitable<void> serve(tcp::socket client, services& shared) {
    session one(std::move(client), shared);
    co_await one.run();
}

} // namespace gateway
