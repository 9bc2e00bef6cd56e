#include "options.hpp"

#include <boost/program_options.hpp>

#include <iostream>
#include <string>

namespace demo {
namespace {

namespace po = boost::program_options;

constexpr double least_seconds = 0.001;
constexpr double most_seconds = 1'000'000;

po::options_description descriptions() {
    po::options_description all("Options");
    auto add = all.add_options();
    add("seconds", po::value<double>()->default_value(15)->value_name("N"), "end after N seconds");
    add("help", "show this text");
    return all;
}

po::variables_map parse(int argc, char const* const* argv) {
    try {
        po::variables_map values;
        po::options_description const known = descriptions();
        po::positional_options_description const none;
        po::store(po::command_line_parser(argc, argv).options(known).positional(none).run(), values);
        po::notify(values);
        return values;
    } catch (po::error const& e) {
        throw usage_error(e.what());
    }
}

} // namespace

options parse_options(int argc, char const* const* argv) {
    po::variables_map const values = parse(argc, argv);
    double const seconds = values["seconds"].as<double>();
    bool const in_range = seconds >= least_seconds && seconds <= most_seconds; // false for a NaN too
    if (!in_range)
        throw usage_error("--seconds must be a positive number from 0.001 to 1000000");
    options result;
    result.run_time = std::chrono::round<std::chrono::milliseconds>(std::chrono::duration<double>(seconds));
    result.help = values.count("help") != 0;
    return result;
}

void print_help() {
    std::cout
        << "usage: asio_retry_demo [--seconds N]\n\n"
           "An HTTP client retries its requests to a flaky server, both in this process, over loopback\n"
           "sockets. Prints each attempt, its error and the delay before the next one. Ctrl-C ends it.\n\n"
        << descriptions();
}

} // namespace demo
