#include "plot.hpp"

#include "human.hpp"
#include "svg_text.hpp"
#include "text_layout.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

namespace asio_retry::tool {
namespace {

constexpr int left = 64;
constexpr int right = 16;
constexpr int top = 34;
constexpr int bottom = 68;
constexpr int most_colours = 6;
constexpr int letter_width = 8; // more than the average letter of a label, in any font
constexpr int legend_height = 16;
constexpr int least_base = 200;

template <typename... Numbers>
std::string formatted(char const* format, Numbers... numbers) {
    char text[256];
    std::snprintf(text, sizeof text, format, numbers...);
    return text;
}

/// The position of the x axis.
int base_above(std::vector<point> const& legend, int tall) {
    return legend.empty() ? tall - bottom : static_cast<int>(legend.front().y) + 18 - bottom;
}

/// An axis between two values, with ticks that are easy to read.
class axis {
public:
    axis(double least, double greatest, int pixels, double least_step = 0)
        : least_(least)
        , greatest_(greatest > least ? greatest : least + 1)
        , pixels_(pixels) {
        if (least > 0) {
            for (double tick = std::pow(10, std::floor(std::log10(least_))); tick <= greatest_; tick *= 10)
                if (tick >= least_)
                    ticks_.push_back(tick);
            return;
        }
        double const rough = greatest_ / 5;
        double const power = std::pow(10, std::floor(std::log10(rough)));
        double const parts = rough / power;
        double const step = std::max(least_step, power * (parts > 5 ? 10 : parts > 2 ? 5 : parts > 1 ? 2 : 1));
        for (int i = 0; i * step <= greatest_ * 1.0001; ++i)
            ticks_.push_back(i * step);
    }

    double at(double value) const {
        double const held = std::clamp(value, least_, greatest_);
        double const part = least_ > 0 ? std::log(held / least_) / std::log(greatest_ / least_)
                                       : (held - least_) / (greatest_ - least_);
        return part * pixels_;
    }

    std::vector<double> const& ticks() const { return ticks_; }

private:
    double least_, greatest_;
    int pixels_;
    std::vector<double> ticks_;
};

/// The parts of a line that lie at or below `greatest`.
std::vector<std::vector<point>> parts_below(std::vector<point> const& line, double greatest) {
    std::vector<std::vector<point>> parts(1);
    for (std::size_t i = 0; i != line.size(); ++i) {
        point const to = line[i];
        bool const rises = to.y > greatest;
        if (i != 0 && rises != (line[i - 1].y > greatest)) {
            point const from = line[i - 1];
            double const share = (greatest - from.y) / (to.y - from.y);
            parts.back().push_back({from.x + share * (to.x - from.x), greatest});
            if (rises)
                parts.emplace_back();
        }
        if (!rises)
            parts.back().push_back(to);
    }
    return parts;
}

} // namespace

plot::plot(std::string title, std::string x_title, std::string y_title, double least_y)
    : title_(std::move(title))
    , x_title_(std::move(x_title))
    , y_title_(std::move(y_title))
    , least_y_(least_y) {}

void plot::add(kind what, std::vector<point> points, std::string label) {
    curves_.push_back({what, std::move(points), std::move(label)});
}

void plot::add_band(std::vector<point> low, std::vector<point> const& high, std::string label) {
    low.insert(low.end(), high.rbegin(), high.rend());
    add(kind::band, std::move(low), std::move(label));
}

void plot::add_line(std::vector<point> points, std::string label) {
    add(kind::line, std::move(points), std::move(label));
}

void plot::add_guide(std::vector<point> points, std::string label) {
    add(kind::guide, std::move(points), std::move(label));
}

void plot::add_dots(std::vector<point> points, std::string label) {
    add(kind::dots, std::move(points), std::move(label));
}

void plot::add_marks(std::vector<point> points, std::string label) {
    add(kind::marks, std::move(points), std::move(label));
}

/// The positions of the legend's entries; the last line is at the bottom.
std::vector<point> plot::legend(int tall) const {
    std::vector<point> places;
    double x = left, y = 0;
    for (curve const& c : curves_) {
        double const length = 24 + letter_width * static_cast<double>(c.label.size());
        if (x != left && x + length > width) {
            x = left;
            y += legend_height;
        }
        places.push_back({x, y});
        x += length;
    }
    for (point& p : places)
        p.y += tall - 18 - y;
    return places;
}

int plot::needed_height() const {
    return height + std::max(0, least_base - base_above(legend(height), height));
}

std::string plot::group(int tall) const {
    double greatest_x = 0, greatest_y = least_y_;
    for (curve const& c : curves_)
        for (point const& p : c.points) {
            greatest_x = std::max(greatest_x, p.x);
            if (c.what != kind::guide)
                greatest_y = std::max(greatest_y, p.y);
        }
    std::vector<point> const entries = legend(tall);
    int const base = base_above(entries, tall);
    axis const x(0, greatest_x, width - left - right, 1); // it counts in whole steps
    axis const y(least_y_, greatest_y, base - top);
    auto const place = [&](point p) { return point{left + x.at(p.x), base - y.at(p.y)}; };
    auto const placed = [&](char const* format, std::vector<point> const& points) {
        std::string result;
        for (point const& p : points)
            result += formatted(format, place(p).x, place(p).y);
        return result;
    };

    std::string svg = svg_text(left, 18, "font-weight=\"bold\"", title_);
    for (double const tick : y.ticks()) {
        double const at = base - y.at(tick);
        svg += formatted("<line class=\"grid\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>\n", left,
                         width - right, at, at);
        svg += svg_text(left - 6, at + 4, "class=\"soft\" text-anchor=\"end\"", human(tick));
    }
    for (double const tick : x.ticks())
        svg += svg_text(left + x.at(tick), base + 16, "class=\"soft\" text-anchor=\"middle\"", human(tick));
    svg += svg_text((left + width - right) / 2.0, base + 32, "class=\"soft\" text-anchor=\"middle\"", x_title_);
    svg += svg_text(left - 56, top - 12, "class=\"soft\"", y_title_);

    for (std::size_t i = 0; i != curves_.size(); ++i) {
        curve const& c = curves_[i];
        int const colour = static_cast<int>(i % most_colours);
        char const* const circle = "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"1.5\"/>";
        switch (c.what) {
        case kind::dots:
            svg +=
                formatted("<g class=\"fill%d\" opacity=\".45\">", colour) + placed(circle, c.points) + "</g>\n";
            break;
        case kind::marks:
            svg += formatted("<g class=\"fill%d\">", colour) +
                   placed("<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\"/>", c.points) + "</g>\n";
            break;
        case kind::band:
            svg += formatted("<polygon class=\"fill%d\" opacity=\".18\" points=\"", colour) +
                   placed("%.1f,%.1f ", c.points) + "\"/>\n";
            break;
        case kind::line:
        case kind::guide:
            for (std::vector<point> const& part : parts_below(c.points, greatest_y))
                if (part.size() == 1)
                    svg += formatted("<g class=\"fill%d\">", colour) + placed(circle, part) + "</g>\n";
                else if (!part.empty())
                    svg += formatted("<polyline class=\"line%d\"%s points=\"", colour,
                                     c.what == kind::guide ? " stroke-dasharray=\"5 3\"" : "") +
                           placed("%.1f,%.1f ", part) + "\"/>\n";
        }
        svg += formatted("<rect class=\"fill%d\" x=\"%.0f\" y=\"%.0f\" width=\"10\" height=\"10\"/>\n", colour,
                         entries[i].x, entries[i].y);
        svg += svg_text(entries[i].x + 14, entries[i].y + 9, "", c.label);
    }
    return svg;
}

std::string svg_of(std::string const& title, std::vector<plot> const& plots) {
    int const all = plot::width * static_cast<int>(plots.size());
    int tall = plot::height;
    for (plot const& each : plots)
        tall = std::max(tall, each.needed_height());
    std::string svg =
        formatted("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" "
                  "font-family=\"sans-serif\" font-size=\"12\">\n",
                  all, tall + 28, all, tall + 28);
    svg += "<title>" + xml_escaped(title) + "</title>\n";
    constexpr char const* light[most_colours] = {"#1f883d", "#0969da", "#bf8700",
                                                 "#cf222e", "#8250df", "#57606a"};
    constexpr char const* dark[most_colours] = {"#3fb950", "#4493f8", "#d29922",
                                                "#f85149", "#ab7df8", "#9198a1"};
    auto const classes = [](char const* const(&colours)[most_colours]) {
        std::string all_classes;
        for (int i = 0; i != most_colours; ++i)
            all_classes +=
                formatted(".fill%d { fill: %s } .line%d { stroke: %s }\n", i, colours[i], i, colours[i]);
        return all_classes;
    };
    svg += svg_page("polyline { fill: none; stroke-width: 1.8 }\n" + classes(light), classes(dark));
    auto const room = static_cast<std::size_t>(all - 16);
    bool const is_long = title.size() * 9 > room;
    std::size_t const most_letters = room / 6;
    svg += svg_text(8, 18, is_long ? "font-size=\"10\"" : "font-size=\"14\"",
                    title.size() > most_letters ? std::string(first_letters(title, most_letters - 3)) + "..."
                                                : title);
    int x = 0;
    for (plot const& each : plots) {
        svg += formatted("<g transform=\"translate(%d 28)\">\n", x) + each.group(tall) + "</g>\n";
        x += plot::width;
    }
    return svg + "</svg>\n";
}

} // namespace asio_retry::tool
