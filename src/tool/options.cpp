#include "options.hpp"

#include "../text/shown_text.hpp"

#include <boost/program_options.hpp>

#include <algorithm>
#include <iomanip>
#include <limits>
#include <sstream>

namespace asio_retry::tool {
namespace {

namespace po = boost::program_options;

/// The options of a command, and what it is about.
class command {
public:
    command(std::string usage, std::string summary)
        : usage_(std::move(usage))
        , summary_(std::move(summary))
        , shown_("Options") {}

    po::options_description_easy_init add() { return shown_.add_options(); }

    void add_positional(std::string name, std::string* into) {
        hidden_.add_options()(name.c_str(), po::value(into));
        positional_.add(name.c_str(), 1);
    }

    void parse(std::vector<std::string> const& arguments) {
        try {
            po::options_description all;
            all.add(shown_).add(hidden_);
            po::variables_map values;
            po::store(
                po::command_line_parser(arguments)
                    .options(all)
                    .positional(positional_)
                    .style(po::command_line_style::default_style & ~po::command_line_style::allow_guessing)
                    .run(),
                values);
            po::notify(values);
        } catch (po::error const& e) {
            constexpr std::size_t most = 200;
            throw usage_error(detail::shown(e.what(), most)); // which has the words that were given
        }
    }

    std::string help() const {
        std::ostringstream text;
        text << "usage: asio-retry " << usage_ << "\n\n" << summary_ << "\n\n" << shown_;
        return text.str();
    }

private:
    std::string usage_, summary_;
    po::options_description shown_, hidden_;
    po::positional_options_description positional_;
};

void set_format(format& into, std::string const& name, bool has_svg = true) {
    if (name == "table")
        into = format::table;
    else if (name == "csv")
        into = format::csv;
    else if (name == "json")
        into = format::json;
    else if (name == "svg" && has_svg)
        into = format::svg;
    else
        throw usage_error("--format " + detail::shown(name) + ": must be table, csv" +
                          (has_svg ? ", json or svg" : " or json"));
}

void add_format(command& to, format& into, bool has_svg = true) {
    to.add()("format",
             po::value<std::string>()->value_name("FORMAT")->notifier(
                 [&into, has_svg](std::string const& name) { set_format(into, name, has_svg); }),
             has_svg ? "table (the default), csv, json or svg" : "table (the default), csv or json");
}

/// Refuses what is no whole number in that range; the stream would take -1 for a large one.
template <typename Number>
Number whole(std::string const& option, std::string const& text, Number least, Number greatest) {
    bool const digits_only =
        !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
    std::istringstream in(text);
    Number number{};
    if (!digits_only || !(in >> number) || number < least || number > greatest)
        throw usage_error("--" + option + " " + detail::shown(text) + ": must be a whole number of at least " +
                          std::to_string(least) + " and at most " + std::to_string(greatest));
    return number;
}

template <typename Into, typename Number>
void add_whole(command& to, char const* name, Into& into, Number least, Number greatest, char const* what) {
    to.add()(name,
             po::value<std::string>()->value_name("N")->notifier(
                 [&into, name, least, greatest](std::string const& text) {
                     into = whole<Number>(name, text, least, greatest);
                 }),
             what);
}

constexpr auto any_seed = std::numeric_limits<std::uint64_t>::max();

command explain_command(explain_options& into) {
    command result(
        "explain POLICY [OPTIONS]",
        "Shows what a policy does after one failure after the other. POLICY is a text such as\n"
        "  'exponential(base=100ms, factor=2, cap=10s) full_jitter() max_attempts(5)'\n"
        "or the name of a profile, with or without changes: 'go_backoff', 'celery() max_attempts(5)'.\n"
        "CSV and JSON give nanoseconds.");
    result.add_positional("policy", &into.policy);
    add_whole<std::optional<std::uint64_t>, std::uint64_t>(
        result, "failures", into.failures, 1, 10'000,
        "so many rows; otherwise until the policy stops, and 20 at most");
    add_whole<std::size_t, std::size_t>(result, "draws", into.draws, 1, 100'000,
                                        "draw so many delays for each failure, and show their distribution");
    add_whole<std::uint64_t, std::uint64_t>(result, "seed", into.seed, 0, any_seed, "of what is drawn (1)");
    result.add()("failure-probability", po::value<double>()->value_name("P")->notifier([&into](double p) {
        if (!(p >= 0 && p <= 1))
            throw usage_error("--failure-probability: must lie in [0, 1]");
        into.failure_probability = p;
    }),
                 "of each attempt: shows the load and the success that follow");
    add_format(result, into.as);
    return result;
}

command profiles_command(profiles_options& into) {
    command result("profiles [OPTIONS]", "Lists the published schemes that the library knows by name.");
    add_format(result, into.as, false);
    return result;
}

command occ_command(occ_options& into) {
    command result(
        "simulate occ [OPTIONS]",
        "Clients read a row, write it if nobody else has, and otherwise try again: the contention study\n"
        "of M. Brooker, \"Exponential Backoff And Jitter\", 2015, with this library's policies. Times are\n"
        "in milliseconds.");
    result.add()("clients",
                 po::value<std::vector<std::string>>()->multitoken()->value_name("N...")->notifier(
                     [&into](std::vector<std::string> const& all) {
                         into.clients.clear();
                         for (std::string const& text : all)
                             into.clients.push_back(whole<unsigned>("clients", text, 1, 100'000));
                     }),
                 "numbers of clients, each studied (1 2 5 10 20 40 60 80 100 120 140 160)");
    add_whole<unsigned, unsigned>(result, "trials", into.trials, 2, 1'000'000,
                                  "trials for each number of clients (100)");
    add_whole<std::uint64_t, std::uint64_t>(result, "seed", into.seed, 0, any_seed, "of all randomness (1)");
    add_format(result, into.as);
    return result;
}

command rounds_command(rounds_options& into) {
    command result(
        "simulate rounds [POLICY] [OPTIONS]",
        "Clients begin together at a server that serves a few in each round, and turns the others away.\n"
        "POLICY says how they come back, a second being a round; at once by default.");
    result.add_positional("policy", &into.policy);
    add_whole<unsigned, unsigned>(result, "clients", into.clients, 1, 1'000'000, "how many clients (100)");
    add_whole<unsigned, unsigned>(result, "capacity", into.capacity, 1, 1'000'000,
                                  "how many a round serves (1)");
    add_whole<std::uint64_t, std::uint64_t>(result, "seed", into.seed, 0, any_seed, "of all randomness (1)");
    add_format(result, into.as);
    return result;
}

command study_command(study const& which, study_options& into) {
    command result("simulate " + std::string(which.name) + " [OPTIONS]", which.about);
    add_whole<std::uint64_t, std::uint64_t>(result, "seed", into.seed, 0, any_seed, "of all randomness (1)");
    add_format(result, into.as);
    return result;
}

std::string overview() {
    std::ostringstream text;
    auto const line = [&](std::string const& words, char const* what) {
        text << "  " << std::left << std::setw(25) << words << what << '\n';
    };
    text << "usage: asio-retry COMMAND [OPTIONS]\n\n";
    line("explain POLICY", "what a policy does after one failure after the other");
    line("profiles", "the published schemes that are known by name");
    line("simulate occ", "clients that contend for one row");
    line("simulate rounds", "clients that a server turns away");
    for (study const& each : studies())
        line("simulate " + std::string(each.name), each.summary);
    line("help [COMMAND]", "more about a command");
    line("--version", "the version of the library");
    return text.str();
}

} // namespace

explain_options parse_explain(std::vector<std::string> const& arguments) {
    explain_options result;
    explain_command(result).parse(arguments);
    if (result.policy.empty())
        throw usage_error("explain: which policy?");
    return result;
}

profiles_options parse_profiles(std::vector<std::string> const& arguments) {
    profiles_options result;
    profiles_command(result).parse(arguments);
    return result;
}

occ_options parse_occ(std::vector<std::string> const& arguments) {
    occ_options result;
    result.clients = {1, 2, 5, 10, 20, 40, 60, 80, 100, 120, 140, 160};
    occ_command(result).parse(arguments);
    return result;
}

rounds_options parse_rounds(std::vector<std::string> const& arguments) {
    rounds_options result;
    result.policy = "constant(1s) no_jitter() unlimited_attempts()";
    rounds_command(result).parse(arguments);
    return result;
}

study_options parse_study(study const& which, std::vector<std::string> const& arguments) {
    study_options result;
    study_command(which, result).parse(arguments);
    return result;
}

std::string help_on(std::string const& name) {
    explain_options explain;
    profiles_options profiles;
    occ_options occ;
    rounds_options rounds;
    if (name.empty())
        return overview();
    if (name == "explain")
        return explain_command(explain).help();
    if (name == "profiles")
        return profiles_command(profiles).help();
    if (name == "simulate occ")
        return occ_command(occ).help();
    if (name == "simulate rounds")
        return rounds_command(rounds).help();
    std::string const simulate = "simulate";
    std::string all = occ_command(occ).help() + "\n" + rounds_command(rounds).help();
    for (study const& each : studies()) {
        study_options of_study;
        std::string const help = study_command(each, of_study).help();
        if (name == simulate + " " + each.name)
            return help;
        all += "\n" + help;
    }
    return name == simulate ? all : "";
}

} // namespace asio_retry::tool
