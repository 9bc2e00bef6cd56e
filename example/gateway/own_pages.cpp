#include "session.hpp"

#include <boost/beast/http/status.hpp>
#include <boost/beast/http/verb.hpp>

#include <charconv>
#include <chrono>
#include <cstdio>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

namespace gateway {

extern char const* const page; // page.html, see CMakeLists.txt

namespace {

namespace http = boost::beast::http;

response own(http::status status, std::string_view type, std::string body) {
    response result(status, 11);
    result.set(http::field::content_type, type);
    result.set(http::field::cache_control, "no-store");
    result.body() = std::move(body);
    return result;
}

/// As JSON has it. What is no ASCII comes from a client and need not be UTF-8.
std::string as_json_string(std::string_view text) {
    std::string result = "\"";
    for (char const c : text) {
        auto const code = static_cast<unsigned char>(c);
        if (code >= 0x20 && code < 0x7f && c != '"' && c != '\\') {
            result += c;
            continue;
        }
        char escape[8];
        std::snprintf(escape, sizeof escape, "\\u%04x", code);
        result += escape;
    }
    return result += '"';
}

/// Its breaker's state, or that it is ejected because it is slow.
char const* state_of(asio_retry::endpoint_status const& known) {
    constexpr char const* states[] = {"closed", "open", "half-open", "isolated"};
    bool const is_slow = known.state == asio_retry::breaker_state::closed &&
                         known.ejected_until != (asio_retry::time_point::min)();
    return is_slow ? "slow" : states[static_cast<std::size_t>(known.state)];
}

/// What /metrics has no place for: names, and single requests.
std::string status(services& shared) {
    using namespace std::chrono;
    std::ostringstream out;
    out << "{\"demo\":" << (shared.trial ? "true" : "false") << ",\"upstreams\":[";
    std::size_t index = 0;
    shared.upstreams->for_each(
        [&](boost::asio::ip::tcp::endpoint const& where, asio_retry::endpoint_status const& known) {
            std::ostringstream address;
            address << where;
            out << (index ? "," : "") << "{\"address\":" << as_json_string(address.str()) << ",\"breaker\":\""
                << state_of(known)
                << "\",\"runs\":" << (!shared.trial || shared.trial->server(index).runs() ? "true" : "false")
                << '}';
            ++index;
        });
    out << "],\"failures\":[";
    char const* separator = "";
    for (auto const& each : shared.failures.newest_first()) {
        out << separator << "{\"at\":" << duration_cast<milliseconds>(each.at.time_since_epoch()).count()
            << ",\"method\":" << as_json_string(each.method) << ",\"target\":" << as_json_string(each.target)
            << ",\"status\":" << each.status << ",\"attempts\":" << each.attempts
            << ",\"ms\":" << each.took.count() << ",\"cause\":" << as_json_string(each.cause)
            << ",\"end\":" << as_json_string(each.end) << '}';
        separator = ",";
    }
    out << "]}";
    return out.str();
}

/// `/gateway/stop/0` and `/gateway/start/0`.
response stop_or_start(request const& question, std::string_view what, demo& trial, std::size_t servers) {
    if (question.method() != http::verb::post)
        return own(http::status::method_not_allowed, "text/plain", "only with POST\n");
    bool const stops = what.starts_with("stop/");
    if (!stops && !what.starts_with("start/"))
        return own(http::status::not_found, "text/plain", "no such page\n");
    what.remove_prefix(what.find('/') + 1);
    std::size_t index = 0;
    auto const [end, failure] = std::from_chars(what.data(), what.data() + what.size(), index);
    if (failure != std::errc() || end != what.data() + what.size() || index >= servers)
        return own(http::status::not_found, "text/plain", "no such server\n");
    stops ? trial.server(index).stop() : trial.server(index).start();
    return own(http::status::ok, "text/plain", stops ? "stopped\n" : "started\n");
}

} // namespace

std::optional<response> answer_itself(request const& question, services& shared) {
    std::string_view const target(question.target().data(), question.target().size());
    if (target == "/metrics")
        return own(http::status::ok, "text/plain; version=0.0.4", shared.metrics->prometheus());
    if (!shared.configured.has_page)
        return std::nullopt;
    if (target == "/") {
        response result = own(http::status::ok, "text/html; charset=utf-8", page);
        result.set("Content-Security-Policy",
                   "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src "
                   "'self'; img-src data:");
        return result;
    }
    if (target == "/gateway/status")
        return own(http::status::ok, "application/json", status(shared));
    constexpr std::string_view prefix = "/gateway/";
    if (shared.trial && target.starts_with(prefix))
        return stop_or_start(question, target.substr(prefix.size()), *shared.trial,
                             shared.configured.upstreams.size());
    return std::nullopt;
}

} // namespace gateway
