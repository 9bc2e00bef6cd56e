#include "settings.hpp"

#include <asio_retry/policy_text.hpp>

#include <boost/asio/ip/address.hpp>
#include <boost/program_options.hpp>

#include <charconv>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <regex>
#include <stdexcept>

namespace gateway {
namespace {

namespace po = boost::program_options;
using boost::asio::ip::tcp;

tcp::endpoint to_endpoint(std::string const& name, std::string const& text) {
    std::size_t const colon = text.rfind(':');
    std::string const host = text.substr(0, colon);
    unsigned short port = 0;
    boost::system::error_code ec;
    auto const address = boost::asio::ip::make_address(host, ec);
    if (!ec && colon != std::string::npos) {
        char const* const end = text.data() + text.size();
        auto const [rest, failure] = std::from_chars(text.data() + colon + 1, end, port);
        if (failure == std::errc() && rest == end)
            return {address, port};
    }
    throw std::invalid_argument(name + ": \"" + text +
                                "\" must be an address and a port, such as 127.0.0.1:8080");
}

/// Messages leave out the text, which may have a password.
shared_store to_store(std::string const& text) {
    std::regex const form("redis://(?:([^:]*):(.*)@)?([^/@]+)(?:/([0-9]+))?");
    std::smatch part;
    if (!std::regex_match(text, part, form))
        throw std::invalid_argument(
            "budget: must be redis://[[USER]:PASSWORD@]ADDRESS:PORT[/DATABASE], such as "
            "redis://127.0.0.1:6379/0");
    return {to_endpoint("budget", part[3]), part[1], part[2], part[4].matched ? part[4].str() : "0"};
}

/// The same.
trace_collector to_collector(std::string const& text, double share) {
    std::regex const form("http://([^/@]+)(/[!\"$-~]+)?/?"); // a path without spaces and #
    std::smatch part;
    if (!std::regex_match(text, part, form))
        throw std::invalid_argument(
            "traces: must be http://ADDRESS:PORT[/PATH], such as http://127.0.0.1:4318");
    if (!(share >= 0 && share <= 1))
        throw std::invalid_argument("trace-share: must be from 0 to 1");
    return {to_endpoint("traces", part[1]), part[2].matched ? part[2].str() : "/v1/traces", share};
}

std::chrono::milliseconds to_milliseconds(std::string const& name, double seconds) {
    if (!(seconds > 0 && seconds < 86'400))
        throw std::invalid_argument(name + ": must be between 0 and 86400 seconds");
    return std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000));
}

po::options_description in_file() {
    po::options_description options("Also in the file, as name = value");
    options.add_options()                                                                           //
        ("listen", po::value<std::string>()->default_value("127.0.0.1:8080"), "where clients come") //
        ("upstream", po::value<std::vector<std::string>>(), "a server behind it; once for each")    //
        ("policy",
         po::value<std::string>()->default_value(
             "exponential(20ms, cap=500ms) max_attempts(4) attempt_timeout(2s) "
             "pushback_limit(2s)"),
         "how a request is tried again, as text") //
        ("policies", po::value<std::string>(),
         "a file with policies of its own for parts of the path, as lines /orders = POLICY; SIGHUP reads it "
         "again") //
        ("budget", po::value<std::string>(),
         "redis://ADDRESS:PORT, where gateways that name it share one budget of retries") //
        ("traces", po::value<std::string>(),
         "http://ADDRESS:PORT[/PATH] of a collector, which gets the spans of requests") //
        ("trace-share", po::value<double>()->default_value(1),
         "share of the requests with spans, unless their field traceparent decides") //
        ("timeout", po::value<double>()->default_value(10),
         "seconds for a request; its field X-Request-Timeout-Ms may say less") //
        ("drain", po::value<double>()->default_value(5),
         "seconds for what runs when a signal ends the gateway")           //
        ("threads", po::value<unsigned>()->default_value(2), "that serve") //
        ("quiet", po::bool_switch(), "no line for each request")           //
        ("no-page", po::bool_switch(), "the servers get / and /gateway/, where a page shows what happens");
    return options;
}

} // namespace

std::optional<settings> read_settings(int argc, char const* const* argv) {
    po::options_description alone("Options");
    alone.add_options()("help", "show this text")("config", po::value<std::string>(), "a file with settings")(
        "demo", po::bool_switch(),
        "with three servers of its own, which the page stops and starts, and clients");
    po::options_description const common = in_file();
    po::options_description all;
    all.add(alone).add(common);

    po::variables_map values;
    po::store(po::parse_command_line(argc, argv, all), values);
    if (values.count("help")) {
        std::cout << "usage: asio_retry_gateway --upstream ADDRESS:PORT [OPTIONS]\n\n"
                     "Passes HTTP requests on to one of several servers, and tries again where one fails.\n"
                  << all;
        return std::nullopt;
    }
    if (values.count("config")) {
        std::string const name = values["config"].as<std::string>();
        std::ifstream file(name);
        if (!file)
            throw std::invalid_argument("config: cannot read \"" + name + "\"");
        po::store(po::parse_config_file(file, common), values); // the command line comes first
    }
    po::notify(values);

    auto const text = [&](char const* name) { return values[name].as<std::string>(); };
    settings result;
    result.listen = to_endpoint("listen", text("listen"));
    result.is_demo = values["demo"].as<bool>();
    if (values.count("upstream") == result.is_demo)
        throw std::invalid_argument(result.is_demo ? "demo: has servers of its own, so there can be no upstream"
                                                   : "upstream: there must be at least one");
    if (!result.is_demo)
        for (std::string const& each : values["upstream"].as<std::vector<std::string>>())
            result.upstreams.push_back(to_endpoint("upstream", each));
    result.policy = asio_retry::parse_policy(text("policy"));
    if (values.count("policies"))
        result.policies = text("policies");
    if (values.count("budget"))
        result.budget = to_store(text("budget"));
    if (values.count("traces"))
        result.traces = to_collector(text("traces"), values["trace-share"].as<double>());
    result.timeout = to_milliseconds("timeout", values["timeout"].as<double>());
    result.drain_limit = to_milliseconds("drain", values["drain"].as<double>());
    result.threads = values["threads"].as<unsigned>();
    if (result.threads < 1 || result.threads > 256)
        throw std::invalid_argument("threads: must be between 1 and 256");
    result.has_page = !values["no-page"].as<bool>();
    result.is_quiet = values["quiet"].as<bool>();
    return result;
}

} // namespace gateway
