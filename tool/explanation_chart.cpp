#include "explanation_formats.hpp"
#include "human.hpp"
#include "text_layout.hpp"

#include <asio_retry/policy_text.hpp>

#include <algorithm>
#include <cmath>

namespace asio_retry::tool {
namespace {

constexpr std::size_t chart_width = 80;
constexpr std::size_t longest_chart_line = 120;
constexpr std::size_t least_bar = 8;

/// The characters of a bar chart.
struct letters {
    char const* sure;
    char const* drawn;
    char const* mean;
    char const* line;
    char const* tick;
    char const* parts[8]; ///< of `sure`, in eighths
};

constexpr letters ascii{"#", ".", "|", "-", "+", {"", "", "", "", "#", "#", "#", "#"}};
constexpr letters blocks{"█", "░", "┃", "─", "┴", {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"}};

constexpr char const blue[] = "34";
constexpr char const yellow[] = "1;33";
constexpr char const faint[] = "2";

struct delay_range {
    duration least, mean, greatest;
};

class bar_chart {
public:
    bar_chart(duration longest, std::size_t width, view const& on)
        : longest_(static_cast<double>(std::max<duration::rep>(longest.count(), 1)))
        , width_(width)
        , on_(on)
        , made_of_(on.unicode ? blocks : ascii) {}

    /// A bar filled up to the least, shaded up to the greatest, with a mark at the mean if these differ.
    std::string bar(delay_range const& r) const {
        double const sure = place(r.least);
        auto const whole =
            static_cast<std::size_t>(r.least == r.greatest ? std::floor(sure) : std::round(sure));
        if (r.least == r.greatest)
            return coloured(on_, blue,
                            repeated(made_of_.sure, whole) +
                                made_of_.parts[static_cast<std::size_t>((sure - std::floor(sure)) * 8)]);
        auto const end = std::max(whole + 1, static_cast<std::size_t>(std::round(place(r.greatest))));
        auto const mean = std::clamp(static_cast<std::size_t>(place(r.mean)), std::min(whole, width_ - 1),
                                     std::min(end, width_) - 1);
        return coloured(on_, blue,
                        repeated(made_of_.sure, std::min(whole, mean)) +
                            repeated(made_of_.drawn, mean - std::min(whole, mean))) +
               coloured(on_, yellow, made_of_.mean) +
               coloured(on_, blue, repeated(made_of_.drawn, std::min(end, width_) - mean - 1));
    }

    /// The axis: a line with the ends and the middle of the scale, and their values.
    std::string axis(std::size_t indent) const {
        std::string const margin(indent, ' ');
        std::size_t const half = width_ / 2;
        std::string const line = std::string(made_of_.tick) + repeated(made_of_.line, half - 1) +
                                 made_of_.tick + repeated(made_of_.line, width_ - half - 2) + made_of_.tick;
        std::string numbers = "0";
        std::string const last = human(duration(std::llround(longest_)));
        std::string const middle = human(duration(std::llround(longest_ / 2)));
        std::size_t const before_middle = half - std::min(half, middle.size() / 2);
        if (before_middle > 1 && before_middle + middle.size() + last.size() + 1 < width_) {
            numbers.resize(before_middle, ' ');
            numbers += middle;
        }
        numbers.resize(std::max(numbers.size() + 1, width_ - std::min(width_, last.size())), ' ');
        return coloured(on_, faint, margin + line) + '\n' + coloured(on_, faint, margin + numbers + last) +
               '\n';
    }

private:
    double place(duration d) const {
        return std::min(1.0, static_cast<double>(d.count()) / longest_) * static_cast<double>(width_);
    }

    static std::string repeated(char const* letter, std::size_t times) {
        std::string result;
        for (std::size_t i = 0; i != times; ++i)
            result += letter;
        return result;
    }

    double longest_;
    std::size_t width_;
    view const& on_;
    letters const& made_of_;
};

std::string padded(std::string const& text, std::size_t width) {
    return std::string(width - std::min(width, text.size()), ' ') + text;
}

/// The bars of one of the two times, below its title.
template <typename RangeOf>
void print_bars(std::ostream& out, explanation const& what, std::string const& title, duration longest,
                std::optional<double> failure_probability, view const& on, RangeOf range_of) {
    constexpr std::size_t number_width = 7; // width of "failure"
    constexpr std::size_t share_width = 8;  // width of "reach it"
    std::size_t mean_width = title.size();
    for (explained_failure const& f : what.failures)
        mean_width = std::max(mean_width, human(range_of(f).mean).size());
    std::size_t const before = number_width + 2 + mean_width + 2 + (failure_probability ? share_width + 2 : 0);
    bar_chart const drawn(longest, on.width > before + least_bar ? on.width - before : least_bar, on);

    out << coloured(on, "1",
                    "failure  " + padded(title, mean_width) + (failure_probability ? "  reach it" : ""))
        << '\n';
    for (explained_failure const& f : what.failures) {
        delay_range const r = range_of(f);
        out << padded(std::to_string(f.failure), number_width) << "  " << padded(human(r.mean), mean_width)
            << "  ";
        if (failure_probability) {
            double const share = std::pow(*failure_probability, static_cast<double>(f.failure));
            out << padded(human(share * 100) + " %", share_width) << "  ";
        }
        out << drawn.bar(r) << '\n';
    }
    out << drawn.axis(before);
}

duration longest_of(explanation const& what, duration explained_failure::* member) {
    duration longest{};
    for (explained_failure const& f : what.failures)
        longest = std::max(longest, f.*member);
    return longest;
}

} // namespace

void print_chart(std::ostream& out, explanation const& what, std::optional<double> failure_probability,
                 view const& seen, duration longest, duration longest_in_all) {
    view on = seen;
    on.width = seen.width == no_limit ? chart_width : std::min(seen.width, longest_chart_line);
    out << wrapped(to_string(what.policy), on.width, 2) << "\n\n";
    if (what.failures.empty())
        out << "(no waits)\n";
    else {
        longest = std::max(longest, longest_of(what, &explained_failure::usual));
        longest_in_all = std::max(longest_in_all, longest_of(what, &explained_failure::cumulative_usual));
        print_bars(out, what, "mean delay", longest, failure_probability, on,
                   [](explained_failure const& f) { return delay_range{f.least, f.mean, f.usual}; });
        out << '\n';
        print_bars(out, what, "in all", longest_in_all, {}, on, [](explained_failure const& f) {
            return delay_range{f.cumulative_least, f.cumulative_mean, f.cumulative_usual};
        });
        letters const& made_of = on.unicode ? blocks : ascii;
        out << coloured(on, faint,
                        wrapped(std::string(made_of.sure) + " in any case, " + made_of.drawn + " drawn from, " +
                                    made_of.mean + " mean",
                                on.width))
            << '\n';
    }
    out << '\n';
    print_facts(out, what, failure_probability, on);
}

} // namespace asio_retry::tool
