#include "traffic_page.hpp"

#include "support/places.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <vector>

namespace asio_retry::lab {
namespace {

/// The pages with figures, each as one line without the marks of its words.
std::string words_of_the_pages() {
    std::string words;
    for (char const* page : {"doc/traffic/studies.md", "doc/traffic/fleet.md"}) {
        std::ifstream file(test::file_of_project(page));
        for (auto in = std::istreambuf_iterator<char>(file); in != std::istreambuf_iterator<char>(); ++in)
            if (*in == '\n')
                words += ' ';
            else if (*in != '*' && *in != '`')
                words += *in;
    }
    return words;
}

std::string with_digits(double figure, int digits) {
    char text[64];
    std::snprintf(text, sizeof text, "%.*f", digits, figure);
    return text;
}

/// What a study has found: for a setting and a column.
class findings {
public:
    explicit findings(figure_table const& found)
        : found_(found) {}

    double figure(std::string const& setting, std::string const& column) const {
        for (figure_table::row const& row : found_.rows)
            for (std::size_t i = 0; row.setting == setting && i != row.figures.size(); ++i)
                if (found_.columns[i] == column)
                    return row.figures[i];
        throw std::runtime_error("nothing was found for " + setting + ", " + column);
    }

    std::string of(std::string const& setting, std::string const& column, int digits) const {
        return with_digits(figure(setting, column), digits);
    }

    std::string percent(std::string const& setting, std::string const& column, int digits = 0) const {
        return with_digits(100 * figure(setting, column), digits);
    }

    /// That which begins so, where a setting has several.
    std::vector<double> row_of(std::string const& setting, double first) const {
        for (figure_table::row const& row : found_.rows)
            if (row.setting == setting && row.figures.front() == first)
                return row.figures;
        throw std::runtime_error("nothing was found for " + setting);
    }

    figure_table const& all() const { return found_; }

private:
    figure_table const& found_;
};

using phrases = std::vector<std::string>;

phrases of_amplification(findings const& found) {
    auto const line = [&](std::string const& name, std::string const& setting, int digits) {
        return "| " + name + " | " + found.of("4 attempts, " + setting, "hits_per_request", digits) + " | " +
               found.of("3 attempts, " + setting, "hits_per_request", digits) + " |";
    };
    return {line("none", "no budget", 0), line("one that earns by request", "earn_by_request", 2),
            line("retry_budget", "retry_budget", 3)};
}

phrases of_load(findings const& found) {
    auto const percent = [&](std::string const& setting, double failing) {
        return with_digits(100 * found.row_of(setting, failing)[2], 1) + " %";
    };
    return {with_digits(found.row_of("retry_budget", 1)[1], 2) + " attempts per request",
            with_digits(found.row_of("no budget", 1)[1], 0) + " are sent without",
            percent("retry_budget", 0.1) + " of the requests",
            percent("retry_budget", 0.05) + " when a twentieth", percent("gRPC 10/0.1", 0.1) + " at a tenth"};
}

phrases of_metastable(findings const& found) {
    auto const is_never = [&](std::string const& setting) {
        return std::isnan(found.figure(setting, "back_after_s"));
    };
    auto const cell = [&](std::string const& setting) {
        return is_never(setting)
                   ? "never, " + found.of(setting, "attempts_per_request", 1)
                   : found.of(setting, "back_after_s", 0) + ", " + found.of(setting, "attempts_per_request", 2);
    };
    phrases said;
    for (std::string const clients : {"1 x 700/s", "7 x 100/s", "70 x 10/s", "700 x 1/s"}) {
        std::string const number = clients.substr(0, clients.find(' '));
        std::string line = "| " + clients;
        for (char const* budget : {"retry_budget", "10 tokens", "AWS until 2025", "AWS since 2026",
                                   "100 tokens", "20 % of requests and 10/s"})
            line += " | " + cell(number + (number == "1" ? " client, " : " clients, ") + budget);
        said.push_back(line + " |");
    }
    said.push_back("| 7000 x 0.1/s | " + cell("7000 clients, retry_budget") + " | " +
                   cell("7000 clients, 10 tokens") + " |");
    auto const line = [&](std::string const& clients, std::string const& policy, std::string const& figures) {
        said.push_back("| " + clients + " | " + policy + " | " + figures + " |");
    };
    line("700", "a budget that earns by request", cell("700 clients, earn_by_request"));
    line("700", "gRPC's budget with 10/0.1", cell("700 clients, gRPC 10/0.1"));
    line("700", "without a budget, with jitter or not", cell("700 clients, no budget"));
    line("700", "without retries", found.of("700 clients, no retries", "back_after_s", 0));
    line("7000", "retry_budget with keep 3", cell("7000 clients, retry_budget, keep 3"));
    EXPECT_EQ(cell("700 clients, no budget, no jitter"), cell("700 clients, no budget"));
    return said;
}

phrases of_stampede(findings const& found) {
    auto const line = [&](std::string const& name, std::string const& setting) {
        return "| " + name + " | " + found.percent(setting, "peak_share_per_10_ms", 1) + " % |";
    };
    return {line("full jitter", "full_jitter"), line("equal jitter", "equal_jitter"),
            line("20 % more or less", "20 % more or less"), "| none | all |"};
}

phrases of_pushback(findings const& found) {
    std::string const both = "and both: the default";
    return {found.of("to the letter", "attempts_per_client", 1) + " attempts for each client",
            found.of(both, "attempts_per_client", 1) + " attempts and " +
                found.of(both, "all_served_after_s", 0) + " s",
            found.percent(both, "peak_share_per_10_ms", 1) + " % of the clients"};
}

phrases of_deadlines(findings const& found) {
    phrases said;
    for (figure_table::row const& row : found.all().rows)
        said.push_back("| " + row.setting + " | " + with_digits(row.figures[0], 1) + " s | " +
                       with_digits(100 * row.figures[2], 0) + " % | " + with_digits(100 * row.figures[3], 0) +
                       " % | " + with_digits(row.figures[4], 0) + " s |");
    return said;
}

phrases of_throttle(findings const& found) {
    phrases said{found.of("30 s, 0.9", "sent_per_accepted_at_300_per_s", 1) +
                 " attempts for each accepted one"};
    for (figure_table::row const& row : found.all().rows)
        said.push_back("| " + row.setting + " | " +
                       (std::isnan(row.figures[0]) ? "not in 300 s" : with_digits(row.figures[0], 0) + " s") +
                       " |");
    return said;
}

phrases of_fleet(findings const& found) {
    auto const loads = [&](std::string const& setting) {
        return found.of(setting, "load_first_10_s", 2) + " | " + found.of(setting, "load_last_30_s", 2) +
               " | " + found.percent(setting, "granted_in_health") + " % |";
    };
    auto const questions = [&](std::string const& setting) {
        return " " + found.of(setting, "questions_in_health", 3) + " | " +
               found.of(setting, "questions_in_outage", 2) + " |";
    };
    std::string const quiet = "7000 x 0.1/s, ", busy = "1000 x 1/s, ";
    std::string const one = quiet + "fleet_budget, batch 1", twenty = quiet + "fleet_budget, batch 20";
    auto const batch = [&](std::string const& size, std::string const& setting) {
        return "| " + size + " | " + found.of(setting, "load_first_10_s", 2) + " | " +
               found.percent(setting, "granted_in_health") + " % |";
    };
    return {"| 7000 x 0.1/s | fleet_budget | " + loads(quiet + "fleet_budget") +
                questions(quiet + "fleet_budget"),
            "| the same, its store goes down too | " + loads(quiet + "fleet_budget, store down") +
                questions(quiet + "fleet_budget, store down"),
            "| retry_budget each | " + loads(quiet + "retry_budget each"),
            "| 10 tokens each | " + loads(quiet + "10 tokens each"),
            "| 1000 x 1/s | fleet_budget | " + loads(busy + "fleet_budget") + questions(busy + "fleet_budget"),
            "| retry_budget each | " + loads(busy + "retry_budget each"),
            "| 10 tokens each | " + loads(busy + "10 tokens each"),
            batch("1", one),
            batch("20", twenty)};
}

phrases of_hedging(findings const& found) {
    auto const times = [&](std::string const& setting, int digits) {
        return " | " + found.of(setting, "p50_ms", digits) + " ms | " + found.of(setting, "p999_ms", 0) +
               " ms | ";
    };
    auto const load = [&](std::string const& setting, int digits) {
        return found.of(setting, "attempts_per_operation", digits) + " |";
    };
    auto const line = [&](std::string const& name, std::string const& setting, int digits, int digits_of_load) {
        return "| " + name + times(setting, digits) + load(setting, digits_of_load);
    };
    return {line("0.5 % slow, no hedges", "0.5 % slow: no hedges", 1, 0),
            line("a hedge after 10 ms", "0.5 % slow: after 10 ms", 1, 3),
            line("after the quantile 0.95 of a latency_quantile", "0.5 % slow: q = 0.95", 1, 3),
            line("all slow, a hedge after 10 ms", "all slow: after 10 ms", 0, 2),
            line("the same with a retry_budget as its gate", "all slow: after 10 ms, retry_budget", 0, 2),
            line("5 % slow, after the quantile 0.95", "5 % slow: q = 0.95", 1, 2),
            line("the same, but what lost is not recorded", "5 % slow: q = 0.95 of winners alone", 1, 2)};
}

phrases of_endpoints(findings const& found) {
    phrases said;
    for (figure_table::row const& row : found.all().rows)
        said.push_back("| " + row.setting + " | " + with_digits(row.figures[0], 1) + " ms | " +
                       with_digits(row.figures[1], 0) + " ms | " + with_digits(row.figures[2], 0) + " | " +
                       with_digits(row.figures[3], 2) + " | " + with_digits(100 * row.figures[4], 1) + " % |");
    return said;
}

phrases of_ethernet(findings const& found) {
    double least = 1e9, greatest = 0, more = 0;
    for (figure_table::row const& row : found.all().rows) {
        least = std::min(least, row.figures[2]);
        greatest = std::max(greatest, row.figures[2]);
        more = row.figures[4];
    }
    return {with_digits(least, 1) + " to " + with_digits(greatest, 1) + " times n log2 n slots",
            "log2 n + " + with_digits(more, 2) + " attempts"};
}

struct page_of_a_study {
    char const* study;
    phrases (*said)(findings const&);
};

constexpr page_of_a_study pages[] = {
    {"amplification", of_amplification}, {"load", of_load},         {"metastable", of_metastable},
    {"stampede", of_stampede},           {"pushback", of_pushback}, {"deadlines", of_deadlines},
    {"throttle", of_throttle},           {"fleet", of_fleet},       {"hedging", of_hedging},
    {"endpoints", of_endpoints},         {"ethernet", of_ethernet},
};

} // namespace

void expect_found_on_the_traffic_page(std::string const& study, figure_table const& found) {
    std::string const pages_said = words_of_the_pages();
    auto const at =
        std::find_if(std::begin(pages), std::end(pages), [&](auto const& each) { return each.study == study; });
    ASSERT_NE(at, std::end(pages)) << "what does the page say of " << study << "?";
    for (std::string const& said : at->said(findings(found)))
        EXPECT_NE(pages_said.find(said), std::string::npos) << "doc/traffic does not say: " << said;
}

} // namespace asio_retry::lab
