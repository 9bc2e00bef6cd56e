#include "study_formats.hpp"
#include "tool/csv_cell.hpp"
#include "tool/plot.hpp"
#include "tool/text_layout.hpp"

#include "policy/shown_text.hpp"

namespace asio_retry::lab {

using namespace tool;

namespace {

std::uint64_t rounds_until_the_end(rounds_result const& result) {
    return result.rounds.empty() ? 0 : result.rounds.rbegin()->first + 1;
}

void print_table(std::ostream& out, std::vector<named_rounds> const& all, rounds_options const& asked,
                 view const& on) {
    std::string const title =
        std::to_string(asked.clients) + " clients, " + std::to_string(asked.capacity) + " served in a round";
    if (all.size() == 1) {
        auto const& [name, result] = all.front();
        out << wrapped(title + ": " + detail::shown(name, 1000), on.width, 2) << "\n\n"
            << "rounds:    " << rounds_until_the_end(result) << '\n'
            << "attempts:  " << result.attempts << '\n'
            << "gave up:   " << result.gave_up << " clients\n";
        return;
    }
    out << wrapped(title, on.width) << "\n\n";
    constexpr auto numbers = text_table::side::right;
    text_table table;
    table.add_column("policy", text_table::side::left, 7);
    table.add_column("rounds", numbers, 10, 2);
    table.add_column("attempts", numbers, 10, 1);
    table.add_column("gave up", numbers, 10, 0);
    for (auto const& [name, result] : all)
        table.add_row({detail::shown(name), std::to_string(rounds_until_the_end(result)),
                       std::to_string(result.attempts), std::to_string(result.gave_up)});
    table.print(out, on);
}

void print_csv(std::ostream& out, std::vector<named_rounds> const& all) {
    bool const with_names = all.size() > 1;
    out << (with_names ? "policy," : "") << "round,attempts,served\n";
    for (auto const& [name, result] : all)
        for (auto const& [number, round] : result.rounds)
            out << (with_names ? csv_cell(name) + ',' : "") << number + 1 << ',' << round.attempts << ','
                << round.served << '\n';
}

struct curves {
    std::vector<point> attempts, served, served_in_all;
};

curves curves_of(rounds_result const& result) {
    curves all;
    double last = 0, in_all = 0;
    auto const add = [&](double round, double tried, double succeeded) {
        all.attempts.push_back({round, tried});
        all.served.push_back({round, succeeded});
        in_all += succeeded;
        all.served_in_all.push_back({round, in_all});
        last = round;
    };
    for (auto const& [number, round] : result.rounds) {
        auto const here = static_cast<double>(number + 1);
        if (here > last + 1) // no client came in between
            add(last + 1, 0, 0);
        if (here > last + 1)
            add(here - 1, 0, 0);
        add(here, static_cast<double>(round.attempts), static_cast<double>(round.served));
    }
    return all;
}

void print_svg(std::ostream& out, std::vector<named_rounds> const& all) {
    plot rounds("attempts in each round", "round", "attempts");
    plot clients("served in all", "round", "clients");
    bool const is_one = all.size() == 1;
    for (auto const& [name, result] : all) {
        curves found = curves_of(result);
        rounds.add_line(std::move(found.attempts), is_one ? "attempts" : name);
        if (is_one)
            rounds.add_line(std::move(found.served), "served in the round");
        clients.add_line(std::move(found.served_in_all), is_one ? "served so far" : name);
    }
    out << svg_of(is_one ? all.front().name : "Clients that a server turns away", {rounds, clients});
}

} // namespace

void print_rounds(std::ostream& out, std::vector<named_rounds> const& all, rounds_options const& asked,
                  view const& on) {
    if (asked.as == format::csv)
        print_csv(out, all);
    else if (asked.as == format::svg)
        print_svg(out, all);
    else
        print_table(out, all, asked, on);
}

} // namespace asio_retry::lab
