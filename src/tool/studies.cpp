#include "studies.hpp"

#include "amplification_study.hpp"
#include "load_study.hpp"
#include "metastable_study.hpp"

#include <algorithm>

namespace asio_retry::tool {
namespace {

constexpr study all_studies[] = {
    {"amplification", "layers that retry each other's failures",
     "Services that call one another, each of which retries: three layers of four attempts and five of\n"
     "three, for a thousand requests of which none can succeed. Without a budget the last layer gets the\n"
     "product of them.",
     report_amplification},
    {"load", "what retries add to the load, and to success",
     "A client of a hundred requests in a second, of four attempts each, which fail at random, more and\n"
     "more of them: how many attempts its peer gets and how many requests succeed, with budgets and\n"
     "without.",
     report_load},
    {"metastable", "whether an overload ends with its cause",
     "Clients make 700 requests in a second, of five attempts each, of a server that works off 1000 in a\n"
     "second, also those for which nobody waits any more. For ten seconds it works at a fifth of its speed:\n"
     "how many seconds later all is well again, with budgets of many kinds, for 1 to 7000 clients of which\n"
     "each has its own.",
     report_metastable},
};

} // namespace

std::span<study const> studies() {
    return all_studies;
}

study const* find_study(std::string const& name) {
    auto const found = std::find_if(std::begin(all_studies), std::end(all_studies),
                                    [&](study const& s) { return s.name == name; });
    return found == std::end(all_studies) ? nullptr : found;
}

} // namespace asio_retry::tool
