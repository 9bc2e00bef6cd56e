#include "metastable_study.hpp"

#include <asio_retry/traffic/window_budget.hpp>

#include <algorithm>
#include <array>
#include <string>

namespace asio_retry::lab {
namespace {

constexpr gate_kind ten_tokens{
    "10 tokens", []() -> std::shared_ptr<retry_gate> { return std::make_shared<token_budget>(); }};
constexpr gate_kind aws_2016{"AWS until 2025", []() -> std::shared_ptr<retry_gate> {
                                 return std::make_shared<token_budget>(aws_tokens_2016());
                             }};
constexpr gate_kind aws_2026{"AWS since 2026", []() -> std::shared_ptr<retry_gate> {
                                 return std::make_shared<token_budget>(aws_tokens());
                             }};
constexpr gate_kind by_window{"20 % of requests and 10/s", []() -> std::shared_ptr<retry_gate> {
                                  return std::make_shared<window_budget>();
                              }};
constexpr gate_kind keep_three{"retry_budget, keep 3", []() -> std::shared_ptr<retry_gate> {
                                   return std::make_shared<retry_budget>(
                                       retry_budget_options{.keep = 3, .initial = 3});
                               }};

std::string name_of(metastable_setting const& s) {
    std::string const clients = std::to_string(s.clients) + (s.clients == 1 ? " client, " : " clients, ");
    return clients + (s.attempts == 1 ? "no retries" : s.gate.name) + (s.jitter ? "" : ", no jitter");
}

std::vector<metastable_setting> settings() {
    std::vector<metastable_setting> all;
    for (unsigned const clients : {1u, 7u, 70u, 700u}) {
        all.push_back({clients, default_budget});
        for (gate_kind const& other : {ten_tokens, aws_2016, aws_2026, hundred_tokens, by_window})
            all.push_back({clients, other});
    }
    all.push_back({7000, default_budget});
    all.push_back({7000, keep_three});
    all.push_back({7000, ten_tokens});
    all.push_back({700, budget_by_request});
    all.push_back({700, grpc_budget});
    all.push_back({700, no_gate});
    all.push_back({700, no_gate, false});
    all.push_back({700, no_gate, true, 1});
    return all;
}

/// Whether the chart shows the course of this setting.
bool is_shown(metastable_setting const& s) {
    return s.clients == 700 && (s.attempts == 1 || (s.jitter && s.gate.name == no_gate.name) ||
                                s.gate.name == default_budget.name || s.gate.name == hundred_tokens.name);
}

} // namespace

study_report report_metastable(std::uint64_t seed, study_progress const& progress) {
    study_report report;
    report.title = "A server of 1000/s that gets 700/s and is slow for 10 s";
    report.figures.columns = {"back_after_s", "attempts_per_request", "goodput_afterwards"};
    report.course.columns = {"second", "offered", "attempts", "succeeded"};
    plot goodput("requests that succeed", "s", "%"), attempts("attempts per request", "s", "");
    std::vector<metastable_setting> const all = settings();
    double done = 0;
    for (metastable_setting const& setting : all) {
        metastable_result const found = study_metastable(setting, seed);
        std::string const name = name_of(setting);
        report.figures.rows.push_back({name, {found.back_after(), found.load(), found.goodput_afterwards()}});
        std::vector<point> good, tried;
        for (metastable_second const& second : found.seconds) {
            auto const when = static_cast<double>(good.size());
            report.course.rows.push_back({name, {when, second.offered, second.attempts, second.succeeded}});
            good.push_back({when, 100 * second.goodput()});
            tried.push_back({when, second.attempts / std::max(second.offered, 1.0)});
        }
        if (is_shown(setting)) {
            std::string const label = setting.attempts == 1 ? "no retries" : setting.gate.name;
            goodput.add_line(std::move(good), label);
            attempts.add_line(std::move(tried), label);
        }
        progress(++done / static_cast<double>(all.size()));
    }
    report.charts = {goodput, attempts};
    return report;
}

} // namespace asio_retry::lab
