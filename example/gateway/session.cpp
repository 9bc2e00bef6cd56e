#include "session.hpp"

#include "own_pages.hpp"

#include <asio_retry/async_retry.hpp>
#include <asio_retry/fail_if.hpp>
#include <asio_retry/failure_class.hpp>
#include <asio_retry/traffic/attempt_histogram.hpp>
#include <asio_retry/with_report.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/write.hpp>

#include <algorithm>
#include <charconv>
#include <iostream>
#include <string>
#include <syncstream>

namespace gateway {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio_retry::failure_kind;
using boost::system::error_code;
using steady = std::chrono::steady_clock;

namespace {

constexpr std::uint64_t greatest_request = 1 << 20;

asio_retry::judgement judge(response const& r) {
    return asio_retry::judge_http(static_cast<int>(r.result_int()), r[http::field::retry_after]);
}

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
    auto const field = question["X-Request-Timeout-Ms"];
    std::int64_t said = 0;
    auto const [end, failure] = std::from_chars(field.data(), field.data() + field.size(), said);
    if (failure != std::errc() || end != field.data() + field.size() || said <= 0)
        return greatest;
    return std::min(greatest, std::chrono::milliseconds(said));
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

/// Why the request has failed. Where two causes meet, the one that kept the gateway from asking a server.
std::string cause_of(asio_retry::retry_report const& report, unsigned status) {
    if (report.last_error == asio_retry::condition::refused)
        return "every breaker is open";
    switch (report.reason) {
    case asio_retry::stop_reason::budget:
        return "the retry budget is spent";
    case asio_retry::stop_reason::elapsed:
    case asio_retry::stop_reason::deadline:
        return "no time is left to try again";
    case asio_retry::stop_reason::pushback:
        return "a server asked for a longer pause than is allowed";
    case asio_retry::stop_reason::cancelled:
        return "the gateway shuts down";
    default:
        break;
    }
    if (report.last_error == asio::error::timed_out)
        return "a server took too long";
    if (!report.last_error || report.last_error == asio_retry::error::result_rejected)
        return "a server answered " + std::to_string(status);
    return report.last_error.message();
}

} // namespace

services::services(settings const& s, asio::any_io_executor const& executor, demo* trial_)
    : configured(s)
    , pool(s.upstreams)
    , budget(s.budget ? budget_of_a_fleet(*s.budget, executor, *metrics) : budget_of_its_own(*metrics))
    , trial(trial_)
    , for_idempotent(s.policy.gate(budget.gate).observe(metrics))
    , for_others(for_idempotent.retry_sent(false))
    , requests(executor)
    , reads(executor) {
    for (std::size_t i = 0; i != pool.size(); ++i)
        metrics->add_gauge("gateway_breaker_" + std::to_string(i) + "_state",
                           "The breaker of a server: 0 closed, 1 open, 2 half-open, 3 isolated.",
                           [this, i] { return static_cast<double>(pool.state(i, steady::now())); });
}

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
    has_failed_.assign(shared_.pool.size(), false);
    asked_ = 0;

    auto const policy =
        (is_idempotent(question.method()) ? shared_.for_idempotent : shared_.for_others).total_timeout(time);
    auto ask = [this, &question](asio_retry::attempt which) { return attempt_one(question, which); };
    asio_retry::retry_report report;
    response said;
    try {
        auto const operation = asio_retry::with_report(asio_retry::fail_if(ask, judge), report);
        said = co_await asio_retry::async_retry(shared_.requests, operation, policy);
        remove_fields_of_the_hop(said);
    } catch (boost::system::system_error const& failure) {
        said = reply_to(failure.code());
    }
    auto const took = std::chrono::duration_cast<std::chrono::milliseconds>(steady::now() - began);
    if (said.result_int() >= 500)
        shared_.failures.add({std::string(question.method_string()), std::string(question.target()),
                              said.result_int(), asked_, took, cause_of(report, said.result_int()),
                              report.last_error.message()});
    if (!shared_.configured.is_quiet)
        std::osyncstream(std::cout) << question.method_string() << ' ' << question.target() << ' '
                                    << said.result_int() << ' ' << asked_ << " attempts " << took.count()
                                    << " ms " << to_string(report.reason) << std::endl;
    co_return said;
}

asio::awaitable<response> session::attempt_one(request const& question, asio_retry::attempt which) {
    auto const now = steady::now();
    std::optional<std::size_t> const index = shared_.pool.choose(has_failed_, now);
    if (!index)
        throw boost::system::system_error(make_error_code(asio_retry::error::circuit_open));
    ++asked_;
    ++shared_.asked;
    upstream_pool::place place(shared_.pool, *index, now);
    has_failed_[*index] = true; // unless it turns out otherwise
    try {
        request copy = question;
        if (which.number > 1)
            copy.set(asio_retry::previous_attempts_field, asio_retry::previous_attempts(which));
        response said = co_await connections_.ask(*index, shared_.pool.endpoint(*index), copy, which);
        asio_retry::judgement const judged = judge(said);
        place.end(judged.failed && judged.what.kind != failure_kind::permanent ? judged.what.kind
                                                                               : failure_kind::none);
        has_failed_[*index] = judged.failed;
        co_return said;
    } catch (boost::system::system_error const& failure) {
        if (failure.code() != asio::error::operation_aborted)
            place.end(asio_retry::classify(failure.code()).kind);
        else if (!shared_.requests.cancelled()) // but by a time limit
            place.end(failure_kind::timeout);
        throw;
    }
}

} // namespace gateway
