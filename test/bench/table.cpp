#include "table.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <sstream>
#include <vector>

namespace asio_retry::bench {
namespace {

using line = std::vector<std::string>;

/// A table with a title, as text or as Markdown; the first column is text, the others are figures.
struct grid {
    std::string title;
    std::string about;
    line head;
    std::vector<line> lines;
    std::string picture; ///< beneath it, as it stands
};

std::string number(double value, char const* format) {
    char text[64];
    std::snprintf(text, sizeof text, format, value);
    return text;
}

/// Three digits that matter.
std::string short_number(double value) {
    double const size = std::abs(value);
    return number(value, size >= 99.95 ? "%.0f" : size >= 9.995 ? "%.1f" : size >= 0.0995 ? "%.2f" : "%.4f");
}

struct column {
    char const* figure;
    char const* head;
    std::string (*format)(double);
};

std::string whole(double value) {
    return number(std::abs(value) < 0.5 ? 0 : value, "%.0f");
}
std::string two_places(double value) {
    return number(std::abs(value) < 0.005 ? 0 : value, "%.2f");
}
std::string nanoseconds(double value) {
    return number(value, value < 99.95 ? "%.1f" : "%.0f");
}

constexpr column columns[] = {{"cpu_ns", "CPU ns", nanoseconds},
                              {"allocations", "allocations", two_places},
                              {"post_allocations", "of posts", two_places},
                              {"bytes", "bytes pending", whole},
                              {"left_bytes", "left bytes", whole},
                              {"late_p50_us", "late p50 us", whole},
                              {"late_p99_us", "p99 us", whole},
                              {"late_p999_us", "p99.9 us", whole},
                              {"late_max_us", "max us", whole},
                              {"turn_max_us", "longest turn us", whole},
                              {"turn_10th_us", "tenth turn us", whole},
                              {"begin_turn_max_us", "longest while waits begin us", whole}};

/// What the CPU time of all is divided by.
struct reference {
    char const* contender;
    char const* head;
};

constexpr reference references[] = {{reference_contender, "ratio"}, {"hand: callbacks", "of callbacks"}};

std::vector<std::string> workloads_of(rows const& results) {
    std::vector<std::string> names;
    for (row const& each : results)
        if (std::find(names.begin(), names.end(), each.workload) == names.end())
            names.push_back(each.workload);
    return names;
}

std::string histogram(row const& one) {
    std::string result;
    std::string const prefix = bucket_prefix;
    for (auto const& [name, percent] : one.values)
        if (name.starts_with(prefix)) {
            std::string const bar(static_cast<std::size_t>(std::lround(percent / 2)), '#');
            char text[128];
            std::snprintf(text, sizeof text, "  %9s %6.2f %%%s%s\n", name.substr(prefix.size()).c_str(),
                          percent, bar.empty() ? "" : " ", bar.c_str());
            result += text;
        }
    return result.empty() ? result : one.contender + ", late by ms\n" + result;
}

grid grid_of(std::string const& workload, report const& all) {
    grid result;
    result.title = workload;
    if (auto const found = all.about_workloads.find(workload); found != all.about_workloads.end())
        result.about = found->second;
    std::vector<row> lines;
    for (row const& each : all.results)
        if (each.workload == workload)
            lines.push_back(each);
    std::vector<column> shown;
    for (column const& each : columns)
        if (std::any_of(lines.begin(), lines.end(),
                        [&](row const& one) { return one.values.contains(each.figure); }))
            shown.push_back(each);
    result.head = {"contender"};
    std::vector<double> divisors;
    for (reference const& each : references)
        if (row const* const by = find(lines, workload, each.contender); by && by->values.contains("cpu_ns")) {
            result.head.push_back(each.head);
            divisors.push_back(by->values.at("cpu_ns"));
        }
    for (column const& each : shown)
        result.head.push_back(each.head);
    for (row const& one : lines) {
        line cells{one.contender};
        if (!one.unavailable.empty())
            cells[0] += ": unavailable: " + one.unavailable;
        auto const cpu = one.values.find("cpu_ns");
        for (double const divisor : divisors)
            cells.push_back(cpu == one.values.end() ? "" : short_number(cpu->second / divisor));
        for (column const& each : shown) {
            auto const found = one.values.find(each.figure);
            cells.push_back(found == one.values.end() ? "" : each.format(found->second));
        }
        result.lines.push_back(cells);
        result.picture += histogram(one);
    }
    return result;
}

grid grid_of(std::vector<judged_target> const& targets) {
    grid result{"Targets", "", {"target", "state", "value", "limit", "unit"}, {}, ""};
    for (judged_target const& each : targets)
        result.lines.push_back({each.name, each.state(), each.value ? short_number(*each.value) : "",
                                short_number(each.limit), each.unit});
    return result;
}

std::vector<grid> grids_of(report const& all) {
    std::vector<grid> result;
    for (std::string const& workload : workloads_of(all.results))
        result.push_back(grid_of(workload, all));
    result.push_back(grid_of(all.targets));
    return result;
}

std::string text_of(grid const& one) {
    // A long reason in the first column shall not widen it for all.
    std::vector<std::size_t> widths(one.head.size(), 0);
    for (std::size_t i = 0; i != widths.size(); ++i) {
        widths[i] = one.head[i].size();
        for (line const& each : one.lines)
            if (i != 0 || each[0].find(": unavailable: ") == std::string::npos)
                widths[i] = std::max(widths[i], each[i].size());
    }
    std::ostringstream out;
    auto const print = [&](line const& cells) {
        std::string text = cells[0];
        for (std::size_t i = 1; i != cells.size(); ++i) {
            std::size_t const used = i == 1 ? std::min(widths[0], cells[0].size()) : 0;
            std::size_t const space = (i == 1 ? widths[0] - used : 0) + 2 + widths[i] - cells[i].size();
            text += std::string(space, ' ') + cells[i];
        }
        out << text.substr(0, text.find_last_not_of(' ') + 1) << '\n';
    };
    out << one.title << (one.about.empty() ? "" : ": ") << one.about << "\n\n";
    print(one.head);
    for (line const& each : one.lines)
        print(each);
    if (!one.picture.empty())
        out << '\n' << one.picture;
    return out.str();
}

std::string markdown_of(grid const& one) {
    std::ostringstream out;
    auto const print = [&](line const& cells) {
        out << '|';
        for (std::string const& cell : cells)
            out << ' ' << cell << " |";
        out << '\n';
    };
    out << "### " << one.title << "\n\n";
    if (!one.about.empty())
        out << one.about << "\n\n";
    print(one.head);
    out << "|---|";
    for (std::size_t i = 1; i != one.head.size(); ++i)
        out << "---:|";
    out << '\n';
    for (line const& each : one.lines)
        print(each);
    if (!one.picture.empty())
        out << "\n```text\n" << one.picture << "```\n";
    return out.str();
}

} // namespace

std::string to_text(report const& all) {
    std::string result = toolchain() + "\nratio: to \"" + reference_contender +
                         "\", and to \"hand: callbacks\"; figures are medians\n";
    for (std::string const& note : all.notes)
        result += "note: " + note + '\n';
    for (grid const& each : grids_of(all))
        result += '\n' + text_of(each);
    return result;
}

std::string to_markdown(report const& all) {
    std::string result = toolchain() + ". The ratio is to \"" + reference_contender +
                         "\", and then to \"hand: callbacks\"; figures are medians.\n";
    for (std::string const& note : all.notes)
        result += "\n- " + note;
    result += all.notes.empty() ? "" : "\n";
    for (grid const& each : grids_of(all))
        result += '\n' + markdown_of(each);
    return result;
}

} // namespace asio_retry::bench
