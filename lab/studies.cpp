#include "studies.hpp"

#include "amplification_study.hpp"
#include "deadlines_study.hpp"
#include "endpoints_study.hpp"
#include "ethernet_study.hpp"
#include "fleet_study.hpp"
#include "hedging_study.hpp"
#include "load_study.hpp"
#include "metastable_study.hpp"
#include "pushback_study.hpp"
#include "stampede_study.hpp"
#include "throttle_study.hpp"

#include <algorithm>

namespace asio_retry::lab {
namespace {

constexpr study all_studies[] = {
    {"amplification", "layers that retry each other's failures",
     "Services that call one another, each of which retries: three layers of four attempts and five of\n"
     "three, for a thousand requests of which none can succeed. Without a budget the last layer gets the\n"
     "product of them.",
     report_amplification},
    {"load", "what retries add to the load, and to success",
     "A client of a hundred requests in a second, of four attempts each, which fail at random, more and\n"
     "more of them: how many attempts its server gets and how many requests succeed, with budgets and\n"
     "without.",
     report_load},
    {"metastable", "whether an overload ends with its trigger",
     "Clients make 700 requests in a second, of five attempts each, of a server that works off 1000 in a\n"
     "second, also those that no client waits for. For ten seconds it works at a fifth of its speed:\n"
     "how many seconds later all is well again, with budgets of many kinds, for 1 to 7000 clients of which\n"
     "each has its own.",
     report_metastable},
    {"stampede", "whether clients that fail together come back together",
     "Ten thousand clients whose attempts all fail, from the same moment on, with an exponential backoff\n"
     "from 100 ms up to 10 s: which share of them comes in the same 10 ms, after 600 ms, with the jitters of\n"
     "the library.",
     report_stampede},
    {"pushback", "what clients make of \"come back in 5 s\"",
     "Ten thousand clients are told at the same moment to come back in five seconds, by a server that works\n"
     "off 1000 requests in a second, keeps a hundred and tells all others the same again: how many attempts\n"
     "they need when they do that to the letter, with a spread, with a backoff, and with both.",
     report_pushback},
    {"deadlines", "what services do for a caller that has gone",
     "Three services in a row, of which the last one works at a fifth of its speed for ten seconds. Callers\n"
     "make 700 requests in a second, of attempts of 500 ms: how much work the services do for callers that\n"
     "have gone, if nobody tells them the deadline, if all are told, and if each subtracts a margin.",
     report_deadlines},
    {"throttle", "what a throttle sends to a server that refuses, and when it trusts the server again",
     "A client of 1000 requests in a second with an adaptive_throttle: what it sends to a server that accepts\n"
     "300 in a second, and how long after an outage of 300 s nearly all of them are accepted again. The\n"
     "settings are the window and the greatest share that is refused.",
     report_throttle},
    {"fleet", "one budget for many processes, and one for each",
     "Thousands of processes of few requests each, of three attempts, of which one in a hundred fails, and\n"
     "all of them for a minute: how many attempts their server gets in that minute with a fleet_budget, whose\n"
     "store is asked, and with budgets of their own; and how often the store is asked.",
     report_fleet},
    {"hedging", "what a second attempt beside a slow one is worth, and costs",
     "Operations of which a thousand begin in a second, whose attempts take 1 to 8 ms, but for some that are\n"
     "much slower: how long operations take with a second attempt after 10 ms, or after the quantile 0.95 of\n"
     "what was seen, and how many attempts they are. When everything is slow a budget keeps hedges from\n"
     "doubling the load.",
     report_hedging},
    {"endpoints", "what an endpoint_set makes of servers in trouble",
     "Eight servers with a thousand requests in a second, each of three attempts of 100 ms. For twenty\n"
     "seconds one of them hangs, or is ten times slower, or half of them hang, or all are slow: how long\n"
     "requests take and how many fail, with an endpoint_set and with servers that are asked in turn.",
     report_endpoints},
    {"ethernet", "stations that share a wire",
     "A batch of n stations that send in the same slot, and again after each collision with a truncated\n"
     "binary backoff, until each has been alone in a slot: how many slots and attempts that takes.",
     report_ethernet},
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

} // namespace asio_retry::lab
