#include "plot.hpp"
#include "study_formats.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

namespace asio_retry::tool {
namespace {

namespace json = boost::json;

std::uint64_t rounds_until_the_end(rounds_result const& result) {
    return result.rounds.empty() ? 0 : result.rounds.rbegin()->first + 1;
}

void print_table(std::ostream& out, rounds_result const& result, rounds_options const& asked) {
    out << asked.clients << " clients, " << asked.capacity << " served in a round: " << asked.policy << "\n\n"
        << "rounds:    " << rounds_until_the_end(result) << '\n'
        << "attempts:  " << result.attempts << '\n'
        << "gave up:   " << result.gave_up << " clients\n";
}

void print_csv(std::ostream& out, rounds_result const& result) {
    out << "round,attempts,served\n";
    for (auto const& [number, round] : result.rounds)
        out << number + 1 << ',' << round.attempts << ',' << round.served << '\n';
}

void print_json(std::ostream& out, rounds_result const& result) {
    json::array rounds;
    for (auto const& [number, round] : result.rounds)
        rounds.push_back({{"round", number + 1}, {"attempts", round.attempts}, {"served", round.served}});
    out << json::serialize(json::object{{"rounds", rounds_until_the_end(result)},
                                        {"attempts", result.attempts},
                                        {"gave_up", result.gave_up},
                                        {"each", std::move(rounds)}})
        << '\n';
}

void print_svg(std::ostream& out, rounds_result const& result, rounds_options const& asked) {
    std::vector<point> attempts, served, served_in_all;
    double last = 0, in_all = 0;
    auto const add = [&](double round, double tried, double succeeded) {
        attempts.push_back({round, tried});
        served.push_back({round, succeeded});
        in_all += succeeded;
        served_in_all.push_back({round, in_all});
        last = round;
    };
    for (auto const& [number, round] : result.rounds) {
        auto const here = static_cast<double>(number + 1);
        if (here > last + 1) // nobody came in between
            add(last + 1, 0, 0);
        if (here > last + 1)
            add(here - 1, 0, 0);
        add(here, static_cast<double>(round.attempts), static_cast<double>(round.served));
    }
    plot rounds("attempts in each round", "round", "attempts");
    rounds.add_line(std::move(attempts), "attempts");
    rounds.add_line(std::move(served), "served in the round");
    plot clients("served in all", "round", "clients");
    clients.add_line(std::move(served_in_all), "served so far");
    out << svg_of(asked.policy, {rounds, clients});
}

} // namespace

void print_rounds(std::ostream& out, rounds_result const& result, rounds_options const& asked) {
    switch (asked.as) {
    case format::table:
        return print_table(out, result, asked);
    case format::csv:
        return print_csv(out, result);
    case format::json:
        return print_json(out, result);
    case format::svg:
        return print_svg(out, result, asked);
    }
}

} // namespace asio_retry::tool
