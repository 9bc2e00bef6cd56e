#include "chart.hpp"
#include "json.hpp"
#include "options.hpp"
#include "peers.hpp"
#include "report.hpp"
#include "runner.hpp"
#include "table.hpp"
#include "workload.hpp"

#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <regex>
#include <set>
#include <string>
#include <thread>
#include <vector>

using namespace asio_retry::bench;

namespace {

std::vector<workload> chosen_workloads(options const& how) {
    static std::regex const quick(
        "first_try|gateway|zero_delay_1|zero_delay_64|storm_1k|storm_10k|one_wait|gates|longest_turn|pending");
    std::regex const only(how.only);
    std::regex const contenders(how.contenders);
    std::vector<workload> result;
    for (workload& each : all_workloads({how.quick, how.everything})) {
        std::erase_if(each.contenders,
                      [&](contender const& one) { return !std::regex_search(one.name, contenders); });
        bool const wanted =
            std::regex_search(each.name, only) && (!how.quick || std::regex_match(each.name, quick));
        if (wanted && !each.contenders.empty())
            result.push_back(std::move(each));
    }
    if (result.empty())
        throw usage_error("nothing has such a name");
    return result;
}

void write(std::filesystem::path const& file, std::string const& text) {
    std::ofstream output(file);
    output << text;
    output.close();
    if (!output)
        throw std::runtime_error("cannot write " + file.string());
}

void write_charts(options const& how, rows const& results) {
    std::filesystem::path const folder = how.output;
    if (std::string const drawn = chart(results); !drawn.empty())
        write(folder / "chart.svg", drawn);
    if (std::string const drawn = growth_chart(results); !drawn.empty())
        write(folder / "growth.svg", drawn);
}

void draw_only(options const& how) {
    std::ifstream input(how.chart_from);
    if (!input)
        throw std::runtime_error("cannot read " + how.chart_from);
    std::string const text{std::istreambuf_iterator<char>(input), {}};
    std::filesystem::create_directories(how.output);
    write_charts(how, rows_from_json(text));
}

void list(options const& how) {
    for (workload const& each : chosen_workloads(how)) {
        std::cout << each.name << ": " << each.about << '\n';
        for (contender const& one : each.contenders)
            std::cout << "    " << one.name << '\n';
    }
}

void measure(options const& how) {
    std::vector<workload> const chosen = chosen_workloads(how);
    std::filesystem::path const folder = how.output;
    std::filesystem::create_directories(folder);

    // Once a process has had a second thread its shared pointers count atomically for ever, as they do in most
    // programs; so what is measured after two_threads would cost more than what is measured before.
    std::thread([] {}).join();

    report all;
    std::set<std::string> names;
    progress shown(chosen);
    for (workload const& each : chosen) {
        names.insert(each.name);
        all.about_workloads[each.name] = each.about;
        for (row& one : run(each, shown))
            all.results.push_back(std::move(one));
        write(folder / "results.json", to_json(all)); // a long run may be ended
    }
    add_peers(all, how.peers, names);
    all.targets = judge_targets(all.results);
    write(folder / "results.json", to_json(all));
    write(folder / "table.md", to_markdown(all));
    std::string const table = to_text(all);
    write(folder / "table.txt", table);
    write_charts(how, all.results);
    std::cout << table;
}

} // namespace

int main(int argc, char** argv) {
    try {
        options const how = parse_options(argc, argv);
        if (how.help)
            print_help();
        else if (how.list)
            list(how);
        else if (!how.chart_from.empty())
            draw_only(how);
        else
            measure(how);
    } catch (usage_error const& e) {
        std::cerr << "asio_retry_bench: " << e.what() << "; see --help\n";
        return 2;
    } catch (std::regex_error const&) {
        std::cerr << "asio_retry_bench: --only or --contenders is not a regular expression\n";
        return 2;
    } catch (std::exception const& e) {
        std::cerr << "asio_retry_bench: " << e.what() << '\n';
        return 1;
    }
}
