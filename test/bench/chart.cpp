#include "chart.hpp"

#include "plot.hpp"
#include "svg_text.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

namespace asio_retry::bench {
namespace {

using tool::svg_text;

struct bar {
    std::string label;
    double ratio;
    char const* kind;
};

constexpr int label_width = 330;
constexpr int bar_width = 360;
constexpr int value_width = 70;
constexpr int line_height = 26;
constexpr int top = 62;
constexpr int bottom = 34;

std::string ratio_text(double ratio) {
    char text[32];
    std::snprintf(text, sizeof text, ratio >= 9.95 ? "%.0f" : ratio >= 0.0995 ? "%.2f" : "%.3f", ratio);
    return text;
}

char const* kind_of(std::string const& contender) {
    if (contender.starts_with("async_retry"))
        return "ours";
    return contender.starts_with("hand") ? "hand" : "peer";
}

std::vector<bar> bars_of(rows const& results, std::string const& workload, double reference) {
    std::vector<bar> bars;
    for (row const& each : results)
        if (auto const cpu = each.values.find("cpu_ns"); each.workload == workload && cpu != each.values.end())
            bars.push_back({each.contender, cpu->second / reference, kind_of(each.contender)});
    std::sort(bars.begin(), bars.end(), [](bar const& a, bar const& b) { return a.ratio < b.ratio; });
    return bars;
}

/// From 0, or, where the bars differ too much for that, logarithmic between powers of ten.
class axis {
public:
    explicit axis(std::vector<bar> const& sorted) {
        logarithmic_ = sorted.back().ratio > 20 * sorted.front().ratio;
        if (logarithmic_) {
            least_ = std::pow(10, std::floor(std::log10(sorted.front().ratio) - 0.1));
            most_ = std::pow(10, std::ceil(std::log10(sorted.back().ratio)));
            for (double tick = least_; tick <= most_ * 1.01; tick *= 10)
                ticks_.push_back(tick);
        } else {
            most_ = std::max(sorted.back().ratio, 1.0);
            double const step = most_ > 8 ? 4 : most_ > 4 ? 2 : most_ > 2 ? 1 : 0.5;
            for (double tick = 0; tick <= most_ * 1.01; tick += step)
                ticks_.push_back(tick);
        }
    }

    double length(double ratio) const {
        if (logarithmic_)
            return bar_width * std::log10(ratio / least_) / std::log10(most_ / least_);
        return bar_width * ratio / most_;
    }

    bool logarithmic() const { return logarithmic_; }
    std::vector<double> const& ticks() const { return ticks_; }

private:
    bool logarithmic_;
    double least_ = 0;
    double most_;
    std::vector<double> ticks_;
};

std::string tick_text(double tick) {
    char text[32];
    std::snprintf(text, sizeof text, "%g", tick);
    return text;
}

std::string draw(std::string const& workload, std::vector<bar> const& bars) {
    axis const along(bars);
    int const width = label_width + bar_width + value_width;
    int const base = top + line_height * static_cast<int>(bars.size());
    char line[256];
    std::snprintf(line, sizeof line,
                  "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" "
                  "font-family=\"sans-serif\" font-size=\"13\">\n",
                  width, base + bottom, width, base + bottom);
    std::string svg = line;
    svg += tool::svg_page(".ours { fill: #1f883d } .hand { fill: #8c959f } .peer { fill: #bf8700 }\n",
                          ".ours { fill: #3fb950 } .hand { fill: #848d97 } .peer { fill: #d29922 }\n");
    svg += svg_text(8, 22, "font-size=\"16\" font-weight=\"bold\"", "CPU time per wait, " + workload);
    svg += svg_text(8, 42, "class=\"soft\"",
                    std::string("relative to the usual hand-written loop (1)") +
                        (along.logarithmic() ? "; logarithmic" : "") + "; shorter is better");
    for (double const tick : along.ticks()) {
        double const x = label_width + along.length(tick);
        std::snprintf(line, sizeof line, "<line class=\"grid\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\"/>\n",
                      x, x, top - 6, base);
        svg += line;
        svg += svg_text(x, base + 18, "class=\"soft\" text-anchor=\"middle\"", tick_text(tick));
    }
    int y = top;
    for (bar const& each : bars) {
        double const length = std::max(along.length(each.ratio), 1.0);
        svg += svg_text(label_width - 8, y + 14, "text-anchor=\"end\"", each.label);
        std::snprintf(line, sizeof line,
                      "<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%d\" rx=\"2\"/>\n",
                      each.kind, label_width, y, length, line_height - 8);
        svg += line;
        svg += svg_text(label_width + length + 6, y + 14, "", ratio_text(each.ratio));
        y += line_height;
    }
    return svg + "</svg>\n";
}

} // namespace

std::string chart(rows const& results) {
    for (char const* const workload : {"storm_100k", "storm_10k", "storm_1k"}) {
        row const* const reference = find(results, workload, reference_contender);
        if (!reference)
            continue;
        return draw(workload, bars_of(results, workload, reference->values.at("cpu_ns")));
    }
    return "";
}

std::string growth_chart(rows const& results) {
    std::map<std::string, std::vector<tool::point>> times, sizes;
    for (row const& each : results) {
        if (each.workload != "pending" ||
            each.contender.starts_with("async_retry, two time limits")) // as without
            continue;
        std::size_t const comma = each.contender.rfind(", ");
        std::string const name = each.contender.substr(0, comma);
        double const thousands = std::stod(each.contender.substr(comma + 2)) / 1'000;
        times[name].push_back({std::log10(thousands), each.values.at("cpu_ns") / 1'000});
        sizes[name].push_back({std::log10(thousands), each.values.at("bytes")});
    }
    if (times.empty())
        return "";
    std::string const x_title = "log10 of thousands of operations";
    tool::plot time("CPU time of an operation", x_title, "us", 1);
    tool::plot size("memory of an operation that is pending", x_title, "bytes");
    auto const add = [](tool::plot& to, std::map<std::string, std::vector<tool::point>> const& curves) {
        for (auto const& [name, points] : curves)
            name.starts_with("hand") ? to.add_marks(points, name) : to.add_line(points, name);
    };
    add(time, times);
    add(size, sizes);
    return tool::svg_of("Growth with the number of operations", {time, size});
}

} // namespace asio_retry::bench
