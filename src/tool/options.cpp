#include "options.hpp"

#include "given_options.hpp"

#include <sstream>

namespace asio_retry::tool {
namespace {

format format_of(std::string const& name) {
    return name == "chart"  ? format::chart
           : name == "csv"  ? format::csv
           : name == "json" ? format::json
           : name == "svg"  ? format::svg
                            : format::table;
}

void read_output(given_options const& given, output_options& into) {
    std::string name = given.has("json") ? "json" : "table";
    given.read("format", name);
    if (given.has("json") && name != "json")
        throw usage_error("--json and --format " + name + ": give only one");
    into.as = format_of(name);
    std::string colour;
    given.read("color", colour);
    into.colour = colour == "always" ? colours::on : colour == "never" ? colours::off : colours::automatic;
}

void read_policies(given_options const& given, policy_options& into) {
    into.operands = given.operands();
    given.read("file", into.file);
}

double probability(std::string const& option, std::string const& text) {
    std::istringstream in(text);
    in.imbue(std::locale::classic());
    double p = -1;
    char rest = 0;
    if (!(in >> p) || in >> rest || !(p >= 0 && p <= 1))
        throw usage_error("--" + option + " " + detail::shown(text) + ": must be a number in [0, 1]");
    return p;
}

} // namespace

explain_options parse_explain(std::vector<std::string> const& arguments) {
    given_options const given("explain", arguments);
    explain_options result;
    read_output(given, result);
    read_policies(given, result.policies);
    if (result.policies.operands.empty() && result.policies.file.empty())
        throw usage_error("explain: which policy?");
    given.read<std::uint64_t>("failures", result.failures, 1, 10'000);
    given.read<std::size_t>("draws", result.draws, 1, 100'000);
    given.read<std::uint64_t>("seed", result.seed, 0);
    if (given.has("failure-probability"))
        result.failure_probability =
            probability("failure-probability", given.all("failure-probability").front());
    return result;
}

profiles_options parse_profiles(std::vector<std::string> const& arguments) {
    profiles_options result;
    read_output(given_options("profiles", arguments), result);
    return result;
}

occ_options parse_occ(std::vector<std::string> const& arguments) {
    given_options const given("simulate occ", arguments);
    occ_options result;
    read_output(given, result);
    read_policies(given, result.policies);
    for (std::string const& text : given.all("clients"))
        result.clients.push_back(given_options::whole<unsigned>("clients", text, 1, 100'000));
    if (result.clients.empty())
        result.clients = {1, 2, 5, 10, 20, 40, 60, 80, 100, 120, 140, 160};
    given.read<unsigned>("trials", result.trials, 2, 1'000'000);
    given.read<std::uint64_t>("seed", result.seed, 0);
    return result;
}

rounds_options parse_rounds(std::vector<std::string> const& arguments) {
    given_options const given("simulate rounds", arguments);
    rounds_options result;
    read_output(given, result);
    read_policies(given, result.policies);
    if (result.policies.operands.empty() && result.policies.file.empty())
        result.policies.operands = {"constant(1s) no_jitter() unlimited_attempts()"};
    given.read<unsigned>("clients", result.clients, 1, 1'000'000);
    given.read<unsigned>("capacity", result.capacity, 1, 1'000'000);
    given.read<std::uint64_t>("seed", result.seed, 0);
    return result;
}

study_options parse_study(std::string const& command, std::vector<std::string> const& arguments) {
    given_options const given(command, arguments);
    study_options result;
    read_output(given, result);
    given.read<std::uint64_t>("seed", result.seed, 0);
    return result;
}

std::string parse_completion(std::vector<std::string> const& arguments) {
    given_options const given("completion", arguments);
    if (given.operands().empty())
        throw usage_error("completion: of which shell? bash or zsh");
    std::string const shell = given.operands().front();
    if (shell != "bash" && shell != "zsh")
        throw usage_error("completion: no shell '" + detail::shown(shell) + "' is known, but bash and zsh are");
    return shell;
}

void parse_manual(std::vector<std::string> const& arguments) {
    given_options const given("manual", arguments);
}

} // namespace asio_retry::tool
