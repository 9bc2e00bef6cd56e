#include "text/build.hpp"

#include "text/arguments.hpp"

#include <asio_retry/policy_text.hpp>

#include <algorithm>
#include <array>
#include <iterator>
#include <stdexcept>
#include <string>
#include <utility>

namespace asio_retry::detail {
namespace {

/// How an item of a name is made.
template <typename Make>
struct item_form {
    std::string_view name;
    std::array<parameter, 3> parameters; ///< those without a name are none
    Make make;
    bool is_list = false;
};

using backoff_form = item_form<backoff (*)(bound_arguments const&)>;
using jitter_form = item_form<jitter (*)(bound_arguments const&)>;
using setting_form = item_form<retry_policy (*)(retry_policy const&, bound_arguments const&)>;

using enum parameter_kind;
backoff build_backoff(term const& from);

using args = bound_arguments;

/// The backoff that an argument is.
backoff shape_of(args const& a, std::string_view name) {
    return build_backoff(a.inner(name));
}

constexpr backoff_form backoff_forms[] = {
    {"constant", {{{"value", a_duration}}}, [](args const& a) { return constant(a.time("value")); }},
    {"linear",
     {{{"initial", a_duration}, {"step", a_duration}}},
     [](args const& a) { return linear(a.time("initial"), a.time("step")); }},
    {"exponential",
     {{{"base", a_duration}, {"factor", a_number, true}}},
     [](args const& a) {
         return a.has("factor") ? exponential(a.time("base"), a.number("factor")) : exponential(a.time("base"));
     }},
    {"stepwise_exponential",
     {{{"base", a_duration}, {"factor", a_number}, {"greatest", a_duration}}},
     [](args const& a) {
         return stepwise_exponential(a.time("base"), a.number("factor"), a.time("greatest"));
     }},
    {"polynomial",
     {{{"base", a_duration}, {"exponent", a_whole_number}}},
     [](args const& a) { return polynomial(a.time("base"), a.whole("exponent")); }},
    {"fibonacci", {{{"base", a_duration}}}, [](args const& a) { return fibonacci(a.time("base")); }},
    {"truncated_binary",
     {{{"N", a_whole_number}, {"T", a_duration}}},
     [](args const& a) { return truncated_binary(a.whole("N"), a.time("T")); }},
    {"slotted_binary",
     {{{"slot", a_duration}, {"greatest_exponent", a_whole_number, true}}},
     [](args const& a) {
         return a.has("greatest_exponent") ? slotted_binary(a.time("slot"), a.whole("greatest_exponent"))
                                           : slotted_binary(a.time("slot"));
     }},
    {"schedule", {}, [](args const& a) { return schedule(a.list()); }, true},
    {"chained",
     {{{"first", a_backoff}, {"failures", a_whole_number}, {"then", a_backoff}}},
     [](args const& a) {
         backoff first = shape_of(a, "first");
         backoff then = shape_of(a, "then");
         return chained(std::move(first), a.whole("failures"), std::move(then));
     }},
    {"first_at_once",
     {{{"then", a_backoff}}},
     [](args const& a) { return first_at_once(shape_of(a, "then")); }},
};

constexpr parameter backoff_setters[] = {{"cap", a_duration, true}};

constexpr jitter_form jitter_forms[] = {
    {"no_jitter", {}, [](args const&) { return no_jitter(); }},
    {"full_jitter", {}, [](args const&) { return full_jitter(); }},
    {"equal_jitter", {}, [](args const&) { return equal_jitter(); }},
    {"decorrelated_jitter", {}, [](args const&) { return decorrelated_jitter(); }},
    {"proportional_jitter",
     {{{"fraction", a_number}}},
     [](args const& a) { return proportional_jitter(a.number("fraction")); }},
    {"additive_jitter",
     {{{"greatest", a_duration}}},
     [](args const& a) { return additive_jitter(a.time("greatest")); }},
    {"multiplicative_jitter",
     {{{"least", a_number}, {"greatest", a_number}}},
     [](args const& a) { return multiplicative_jitter(a.number("least"), a.number("greatest")); }},
    {"windowed_jitter",
     {{{"window", a_duration}}},
     [](args const& a) { return windowed_jitter(a.time("window")); }},
    {"log_normal_jitter",
     {{{"sigma", a_number}}},
     [](args const& a) { return log_normal_jitter(a.number("sigma")); }},
    {"decorrelated_jitter_v2", {}, [](args const&) { return decorrelated_jitter_v2(); }},
};

constexpr parameter jitter_setters[] = {
    {"unit", a_duration, true}, {"cap", a_duration, true}, {"beyond_cap", a_flag, true}};

constexpr setting_form setting_forms[] = {
    {"max_attempts",
     {{{"count", a_whole_number}}},
     [](retry_policy const& p, args const& a) { return p.max_attempts(a.whole("count")); }},
    {"unlimited_attempts", {}, [](retry_policy const& p, args const&) { return p.unlimited_attempts(); }},
    {"max_elapsed",
     {{{"greatest", a_duration}}},
     [](retry_policy const& p, args const& a) { return p.max_elapsed(a.time("greatest")); }},
    {"attempt_timeout",
     {{{"greatest", a_duration}}},
     [](retry_policy const& p, args const& a) { return p.attempt_timeout(a.time("greatest")); }},
    {"total_timeout",
     {{{"greatest", a_duration}}},
     [](retry_policy const& p, args const& a) { return p.total_timeout(a.time("greatest")); }},
    {"deadline",
     {{{"when", a_duration}}},
     [](retry_policy const& p, args const& a) { return p.deadline(time_point(a.time("when"))); }},
    {"reset_after",
     {{{"stable_for", a_duration}}},
     [](retry_policy const& p, args const& a) { return p.reset_after(a.time("stable_for")); }},
    {"any_failure", {}, [](retry_policy const& p, args const&) { return p.retry_if(any_failure); }},
    {"clamp", {}, [](retry_policy const& p, args const&) { return p.clamp(); }},
    {"allow_total_cancellation",
     {},
     [](retry_policy const& p, args const&) { return p.allow_total_cancellation(); }},
    {"retry_when_nested", {}, [](retry_policy const& p, args const&) { return p.retry_when_nested(); }},
};

/// What `to_string` writes in the place of what has no text.
struct unreadable_item {
    std::string_view name, kind;
};

constexpr unreadable_item unreadable_items[] = {
    {"custom_backoff", "a callable"}, {"custom_jitter", "a callable"}, {"retry_if", "a callable"},
    {"on_retry", "a callable"},       {"on_give_up", "a callable"},    {"gate", "a gate"},
    {"nested_in", "an outer attempt"}};

template <typename Items>
auto find_item(Items const& items, std::string_view name) -> decltype(std::begin(items)) {
    auto const found =
        std::find_if(std::begin(items), std::end(items), [&](auto const& item) { return item.name == name; });
    return found == std::end(items) ? nullptr : found;
}

template <typename Items>
std::string names_of(std::string_view kind, Items const& items) {
    std::string names(kind);
    char const* separator = " (";
    for (auto const& item : items) {
        names.append(separator).append(item.name);
        separator = ", ";
    }
    return names + ')';
}

void refuse_unreadable(term const& t) {
    if (auto const* item = find_item(unreadable_items, t.name))
        fail(t.at, t.name + " stands for " + std::string(item->kind) + ", and " + std::string(item->kind) +
                       " cannot be read from text");
}

/// What C++ refuses is a fault of the term.
template <typename Make>
auto made_from(term const& t, Make make) {
    try {
        return make();
    } catch (policy_syntax_error const&) {
        throw; // of a term inside
    } catch (std::invalid_argument const& refusal) {
        std::string_view message = refusal.what();
        constexpr std::string_view prefix = "asio_retry: ";
        if (message.starts_with(prefix))
            message.remove_prefix(prefix.size());
        fail(t.at, message);
    }
}

backoff make_item(backoff_form const& form, term const& from) {
    bound_arguments const a(from, form.parameters, backoff_setters, form.is_list);
    return made_from(from, [&] { return a.has("cap") ? form.make(a).cap(a.time("cap")) : form.make(a); });
}

jitter make_item(jitter_form const& form, term const& from) {
    bound_arguments const a(from, form.parameters, jitter_setters, form.is_list);
    return made_from(from, [&] {
        jitter made = form.make(a);
        if (a.has("unit"))
            made = made.unit(a.time("unit"));
        if (a.has("cap"))
            made = made.cap(a.time("cap"));
        return a.has("beyond_cap") && a.flag("beyond_cap") ? made.beyond_cap() : made;
    });
}

backoff build_backoff(term const& from) {
    refuse_unreadable(from);
    auto const* form = find_item(backoff_forms, from.name);
    if (!form)
        fail_expecting(from.at, names_of("a backoff", backoff_forms), from.name);
    return make_item(*form, from);
}

class policy_builder {
public:
    void add(term const& item, bool is_first) {
        refuse_unreadable(item);
        if (auto const* some_backoff = find_item(backoff_forms, item.name)) {
            once("backoff", item);
            policy_ = policy_.backoff(make_item(*some_backoff, item));
        } else if (auto const* some_jitter = find_item(jitter_forms, item.name)) {
            once("jitter", item);
            policy_ = policy_.jitter(make_item(*some_jitter, item));
        } else if (auto const* setting = find_item(setting_forms, item.name)) {
            once(item.name == "unlimited_attempts" ? "max_attempts" : setting->name, item);
            bound_arguments const a(item, setting->parameters, {}, setting->is_list);
            policy_ = made_from(item, [&] { return setting->make(policy_, a); });
        } else {
            add_profile(item, is_first);
        }
    }

    retry_policy const& policy() const { return policy_; }

private:
    void add_profile(term const& item, bool is_first) {
        std::optional<retry_policy> const profile = profile_named(item.name);
        if (!profile)
            fail_expecting(item.at,
                           names_of("a backoff", backoff_forms) + ", " + names_of("a jitter", jitter_forms) +
                               ", " + names_of("a setting", setting_forms) + " or a profile",
                           item.name);
        if (!is_first)
            fail_expecting(item.at, "a profile as the first item only", item.name);
        bound_arguments(item, {}, {}, false);
        policy_ = *profile;
    }

    /// Of a kind there may be one.
    void once(std::string_view kind, term const& item) {
        if (std::find(seen_.begin(), seen_.end(), kind) != seen_.end())
            fail_expecting(item.at, "no second " + std::string(kind), item.name);
        seen_.push_back(kind);
    }

    retry_policy policy_;
    std::vector<std::string_view> seen_;
};

} // namespace

retry_policy build_policy(std::vector<term> const& terms) {
    policy_builder builder;
    for (term const& t : terms)
        builder.add(t, &t == terms.data());
    return builder.policy();
}

} // namespace asio_retry::detail
