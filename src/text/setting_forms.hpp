#pragma once

#include "text/build.hpp"
#include "text/item_form.hpp"
#include "text/text_gates.hpp"

#include <asio_retry/detail/policy/refuse.hpp>
#include <asio_retry/retry_policy.hpp>

#include <span>
#include <string_view>

namespace asio_retry::detail {

using setting_form = item_form<retry_policy (*)(retry_policy const&, bound_arguments const&)>;

inline constexpr setting_form setting_forms[] = {
    {"max_attempts",
     {{{"count", parameter_kind::a_whole_number}}},
     [](retry_policy const& p, bound_arguments const& a) { return p.max_attempts(a.whole("count")); }},
    {"unlimited_attempts",
     {},
     [](retry_policy const& p, bound_arguments const&) { return p.unlimited_attempts(); }},
    {"max_elapsed",
     {{{"greatest", parameter_kind::a_duration}}},
     [](retry_policy const& p, bound_arguments const& a) { return p.max_elapsed(a.time("greatest")); }},
    {"max_waited",
     {{{"greatest", parameter_kind::a_duration}}},
     [](retry_policy const& p, bound_arguments const& a) { return p.max_waited(a.time("greatest")); }},
    {"attempt_timeout",
     {{{"greatest", parameter_kind::a_duration}}},
     [](retry_policy const& p, bound_arguments const& a) { return p.attempt_timeout(a.time("greatest")); }},
    {"setup_timeout",
     {{{"greatest", parameter_kind::a_duration}}},
     [](retry_policy const& p, bound_arguments const& a) { return p.setup_timeout(a.time("greatest")); }},
    {"idle_timeout",
     {{{"greatest", parameter_kind::a_duration}}},
     [](retry_policy const& p, bound_arguments const& a) { return p.idle_timeout(a.time("greatest")); }},
    {"total_timeout",
     {{{"greatest", parameter_kind::a_duration}}},
     [](retry_policy const& p, bound_arguments const& a) { return p.total_timeout(a.time("greatest")); }},
    {"deadline",
     {{{"when", parameter_kind::a_duration}}},
     [](retry_policy const& p, bound_arguments const& a) { return p.deadline(time_point(a.time("when"))); }},
    {"reset_after",
     {{{"stable_for", parameter_kind::a_duration}}},
     [](retry_policy const& p, bound_arguments const& a) { return p.reset_after(a.time("stable_for")); }},
    {"any_failure", {}, [](retry_policy const& p, bound_arguments const&) { return p.retry_if(any_failure); }},
    {"retry_if",
     {{{"each kind", parameter_kind::a_failure_kind, true}}},
     [](retry_policy const& p, bound_arguments const& a) {
         return p.retry_if(std::span<failure_kind const>(a.kinds()));
     },
     true},
    {"when",
     {{{"kind", parameter_kind::a_failure_kind}, {"backoff", parameter_kind::a_backoff}}},
     [](retry_policy const& p, bound_arguments const& a) {
         return p.when(a.kind("kind"), build_backoff(a.inner("backoff")));
     },
     false,
     true},
    {"max_attempts_when",
     {{{"kind", parameter_kind::a_failure_kind}, {"count", parameter_kind::a_whole_number}}},
     [](retry_policy const& p, bound_arguments const& a) {
         return p.max_attempts_when(a.kind("kind"), a.whole("count"));
     },
     false,
     true},
    {"retry_sent",
     {{{"allowed", parameter_kind::a_flag}}},
     [](retry_policy const& p, bound_arguments const& a) { return p.retry_sent(a.flag("allowed")); }},
    {"clamp", {}, [](retry_policy const& p, bound_arguments const&) { return p.clamp(); }},
    {"deliver_at_once", {}, [](retry_policy const& p, bound_arguments const&) { return p.deliver_at_once(); }},
    {"allow_total_cancellation",
     {},
     [](retry_policy const& p, bound_arguments const&) { return p.allow_total_cancellation(); }},
    {"wait_when_refused",
     {},
     [](retry_policy const& p, bound_arguments const&) { return p.wait_when_refused(); }},
    {"rate_limit",
     {{{"n", parameter_kind::a_whole_number},
       {"per", parameter_kind::a_duration},
       {"burst", parameter_kind::a_whole_number, true}}},
     [](retry_policy const& p, bound_arguments const& a) {
         return p.gate(make_rate_limit(a.whole("n"), a.time("per"), a.has("burst") ? a.whole("burst") : 1));
     }},
    {"concurrency_limit",
     {{{"algorithm", parameter_kind::a_limit}}},
     [](retry_policy const& p, bound_arguments const& a) {
         return p.gate(make_concurrency_limit(build_limit(a.inner("algorithm"))));
     }},
    {"hedge_share",
     {{{"share", parameter_kind::a_number}, {"burst", parameter_kind::a_whole_number, true}}},
     [](retry_policy const& p, bound_arguments const& a) {
         return p.gate(
             make_hedge_share(a.number("share"), a.has("burst") ? a.whole("burst") : burst_of_hedges));
     }},
    {"priority",
     {{{"rank", parameter_kind::a_priority}}},
     [](retry_policy const& p, bound_arguments const& a) { return p.priority(a.priority("rank")); }},
    {"pushback_limit",
     {{{"greatest", parameter_kind::a_duration},
       {"clamp", parameter_kind::a_flag, true},
       {"ignore", parameter_kind::a_flag, true}}},
     [](retry_policy const& p, bound_arguments const& a) {
         bool const clamps = a.has("clamp") && a.flag("clamp"), ignores = a.has("ignore") && a.flag("ignore");
         if (clamps && ignores)
             refuse("pushback_limit", "clamp and ignore", "must be one of them");
         return p.pushback_limit(a.time("greatest"), clamps    ? over_limit::clamp
                                                     : ignores ? over_limit::ignore
                                                               : over_limit::stop);
     }},
    {"pushback_spread",
     {{{"share", parameter_kind::a_number}}},
     [](retry_policy const& p, bound_arguments const& a) { return p.pushback_spread(a.number("share")); }},
    {"name",
     {{{"text", parameter_kind::a_text}}},
     [](retry_policy const& p, bound_arguments const& a) { return p.name(a.text("text")); }},
    {"retry_when_nested",
     {},
     [](retry_policy const& p, bound_arguments const&) { return p.retry_when_nested(); }},
};

/// The setting of that name; null if there is none. Until 0.5 it also finds the name of 0.3, `set_up_within`.
constexpr setting_form const* find_setting(std::string_view name) {
    return find_item(setting_forms, name == "set_up_within" ? "setup_timeout" : name);
}

} // namespace asio_retry::detail
