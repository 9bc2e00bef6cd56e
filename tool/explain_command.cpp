#include "explain_command.hpp"

#include "explanation.hpp"
#include "explanation_formats.hpp"
#include "policy_list.hpp"

#include "policy/shown_text.hpp"

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <algorithm>

namespace asio_retry::tool {
namespace {

using explanations = std::vector<named_explanation>;

/// The greatest of all policies, so that their charts have one scale.
duration greatest(explanations const& all, duration explained_failure::* member) {
    duration result{};
    for (named_explanation const& each : all)
        for (explained_failure const& f : each.what.failures)
            result = std::max(result, f.*member);
    return result;
}

/// Prints one explanation after the other, each below its name, unless there is only one.
template <typename Print>
void print_each(std::ostream& out, explanations const& all, bool with_names, view const& on, Print print) {
    for (named_explanation const& each : all) {
        if (&each != &all.front())
            out << '\n';
        if (with_names)
            out << coloured(on, "1;36", detail::shown(each.name, 200)) << '\n';
        print(each.what);
    }
}

void print_json(std::ostream& out, explanations const& all, bool with_names,
                std::optional<double> failure_probability) {
    boost::json::value result = json_of(all.front().what, failure_probability);
    if (with_names) {
        result = boost::json::object();
        for (named_explanation const& each : all)
            result.get_object()[each.name] = json_of(each.what, failure_probability);
    }
    out << boost::json::serialize(result) << '\n';
}

/// Draws are kept in memory all at once.
void refuse_too_many_draws(explain_options const& asked, std::size_t policies) {
    constexpr std::uint64_t most_delays = 10'000'000;
    std::uint64_t const failures = policies * asked.failures.value_or(most_failures_unasked);
    std::uint64_t const most = most_delays / std::max<std::uint64_t>(failures, 1);
    if (asked.draws > most)
        throw usage_error("--draws " + std::to_string(asked.draws) + ": must be at most " +
                          std::to_string(most) + " for " + std::to_string(failures) +
                          " failures, those of all policies together");
}

} // namespace

void print_explanations(std::ostream& out, explain_options const& asked, view const& on) {
    std::vector<named_policy> const policies = policies_of(asked.policies);
    refuse_too_many_draws(asked, policies.size());
    explanations all;
    for (named_policy const& each : policies)
        all.push_back({each.name, explain(each.policy, {asked.failures, asked.seed, asked.draws})});
    bool const is_file = !asked.policies.file.empty() && asked.policies.operands.empty();
    bool const with_names = is_file || all.size() > 1;
    std::optional<double> const p = asked.failure_probability;
    switch (asked.as) {
    case format::table:
        return print_each(out, all, with_names, on,
                          [&](explanation const& what) { print_table(out, what, p, on); });
    case format::chart:
        return print_each(out, all, with_names, on, [&](explanation const& what) {
            print_chart(out, what, p, on, greatest(all, &explained_failure::usual),
                        greatest(all, &explained_failure::cumulative_usual));
        });
    case format::csv:
        return print_csv(out, all, with_names);
    case format::json:
        return print_json(out, all, with_names, p);
    case format::svg:
        return all.size() > 1 ? print_svg(out, all, p) : print_svg(out, all.front().what, p);
    }
}

} // namespace asio_retry::tool
