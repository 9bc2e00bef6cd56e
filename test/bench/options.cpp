#include "options.hpp"

#include <boost/program_options.hpp>

#include <iostream>

namespace asio_retry::bench {
namespace {

namespace po = boost::program_options;

po::options_description descriptions(options& into) {
    po::options_description all("Options");
    auto add = all.add_options();
    add("quick", po::bool_switch(&into.quick), "only the small workloads, with small counts: a minute");
    add("all", po::bool_switch(&into.everything), "also what takes very long");
    add("only", po::value(&into.only)->value_name("REGEX"), "only workloads with such a name");
    add("contenders", po::value(&into.contenders)->value_name("REGEX"), "only contenders with such a name");
    add("output", po::value(&into.output)->value_name("FOLDER"),
        "for table.txt, table.md, results.json, chart.svg and growth.svg");
    add("peers", po::value(&into.peers)->value_name("FOLDER"), "the figures of other languages, to compare");
    add("no-peers", "for cmake/bootstrap.sh, which measures them otherwise");
    add("chart-from", po::value(&into.chart_from)->value_name("FILE"), "only draw the chart of results.json");
    add("list", po::bool_switch(&into.list), "show the workloads and their contenders");
    add("help", po::bool_switch(&into.help), "show this text");
    return all;
}

} // namespace

options parse_options(int argc, char const* const* argv) {
    options result;
    try {
        po::variables_map values;
        po::options_description const known = descriptions(result);
        po::positional_options_description const none;
        po::store(po::command_line_parser(argc, argv).options(known).positional(none).run(), values);
        po::notify(values);
    } catch (po::error const& e) {
        throw usage_error(e.what());
    }
    return result;
}

void print_help() {
    options unused;
    std::cout
        << "usage: asio_retry_bench [OPTIONS]\n\n"
           "Compares the retries of this library with the loops that people write by hand, in CPU time,\n"
           "allocations, memory, punctuality and the longest turns of a context. All workloads take three\n"
           "quarters of an hour; longest_turn takes fourteen minutes of it, though it runs each shape once.\n\n"
        << descriptions(unused);
}

} // namespace asio_retry::bench
