#include "text/build.hpp"

#include "text/arguments.hpp"
#include "text/item_form.hpp"
#include "text/item_parameters.hpp"
#include "text/nearest.hpp"
#include "text/setting_forms.hpp"

#include <asio_retry/detail/policy/refuse.hpp>
#include <asio_retry/policy_text.hpp>
#include <asio_retry/profiles.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>

namespace asio_retry::detail {
namespace {

using backoff_form = item_form<backoff (*)(bound_arguments const&)>;
using jitter_form = item_form<jitter (*)(bound_arguments const&)>;

using enum parameter_kind;

using args = bound_arguments;

/// Reads the argument for a `Value`.
template <typename Value>
struct argument_of;
template <>
struct argument_of<duration> {
    static constexpr parameter_kind kind = a_duration;
    static duration read(args const& a, std::string_view name) { return a.time(name); }
};
template <>
struct argument_of<double> {
    static constexpr parameter_kind kind = a_number;
    static double read(args const& a, std::string_view name) { return a.number(name); }
};
template <>
struct argument_of<std::uint64_t> {
    static constexpr parameter_kind kind = a_whole_number;
    static std::int64_t read(args const& a, std::string_view name) { return a.whole(name); }
};
template <>
struct argument_of<std::shared_ptr<backoff const>> {
    static constexpr parameter_kind kind = a_backoff;
    static backoff read(args const& a, std::string_view name) { return build_backoff(a.inner(name)); }
};

template <typename Owner, typename Value>
constexpr parameter parameter_of(named_parameter<Owner, Value> const& p) {
    return {p.name, argument_of<Value>::kind, p.is_optional};
}
template <typename Owner, typename Value>
auto argument_for(named_parameter<Owner, Value> const& p, args const& a) {
    return argument_of<Value>::read(a, p.name);
}

template <auto Kind, auto Make, std::size_t... I>
auto make_from(args const& a, std::index_sequence<I...>) {
    std::tuple arguments{argument_for(std::get<I>(parameters_of<Kind>), a)...}; // braces keep their order
    return std::apply([](auto&&... each) { return Make(std::move(each)...); }, std::move(arguments));
}

/// An item that `Make` makes from arguments for the parameters of `Kind`; the last one may be optional.
template <typename Item, auto Kind, auto Make>
Item make_of(args const& a) {
    constexpr std::size_t count = std::tuple_size_v<decltype(parameters_of<Kind>)>;
    if constexpr (count != 0) {
        constexpr auto last = std::get<count - 1>(parameters_of<Kind>);
        if constexpr (last.is_optional)
            if (!a.has(last.name))
                return make_from<Kind, Make>(a, std::make_index_sequence<count - 1>());
    }
    return make_from<Kind, Make>(a, std::make_index_sequence<count>());
}

template <typename Item, auto Kind, auto Make>
constexpr item_form<Item (*)(args const&)> form_of() {
    auto const parameters =
        std::apply([](auto const&... each) { return std::array<parameter, 3>{parameter_of(each)...}; },
                   parameters_of<Kind>);
    return {name_of(Kind), parameters, &make_of<Item, Kind, Make>};
}

template <backoff_kind Kind, auto Make>
constexpr backoff_form shape_form = form_of<backoff, Kind, Make>();
template <jitter_name Kind, auto Make>
constexpr jitter_form kind_form = form_of<jitter, Kind, Make>();

// A lambda where the function has default arguments, which a pointer to it does not have.
constexpr backoff_form backoff_forms[] = {
    shape_form<backoff_kind::constant, &constant>,
    shape_form<backoff_kind::linear, &linear>,
    shape_form<backoff_kind::exponential, [](auto... a) { return exponential(a...); }>,
    shape_form<backoff_kind::stepwise_exponential, &stepwise_exponential>,
    shape_form<backoff_kind::polynomial, &polynomial>,
    shape_form<backoff_kind::fibonacci, &fibonacci>,
    shape_form<backoff_kind::truncated_binary, &truncated_binary>,
    shape_form<backoff_kind::slotted_binary, [](auto... a) { return slotted_binary(a...); }>,
    {name_of(backoff_kind::schedule), {}, [](args const& a) { return schedule(a.list()); }, true},
    shape_form<backoff_kind::chained, &chained>,
    {"first_at_once",
     {{{"then", a_backoff}}},
     [](args const& a) { return first_at_once(build_backoff(a.inner("then"))); }},
};

constexpr parameter backoff_setters[] = {{"cap", a_duration, true}};

constexpr jitter_form jitter_forms[] = {
    kind_form<jitter_name::none, &no_jitter>,
    kind_form<jitter_name::full, &full_jitter>,
    kind_form<jitter_name::equal, &equal_jitter>,
    kind_form<jitter_name::decorrelated, &decorrelated_jitter>,
    kind_form<jitter_name::proportional, &proportional_jitter>,
    kind_form<jitter_name::additive, &additive_jitter>,
    kind_form<jitter_name::multiplicative, &multiplicative_jitter>,
    kind_form<jitter_name::windowed, &windowed_jitter>,
    kind_form<jitter_name::symmetric, &symmetric_jitter>,
    kind_form<jitter_name::uniform, &uniform_jitter>,
    kind_form<jitter_name::log_normal, &log_normal_jitter>,
    kind_form<jitter_name::decorrelated_v2, &decorrelated_jitter_v2>,
};

constexpr parameter jitter_setters[] = {{"unit", a_duration, true},
                                        {"at_least", a_duration, true},
                                        {"cap", a_duration, true},
                                        {"beyond_cap", a_flag, true}};

/// An argument that the C++ function refuses is an error of the term.
template <typename Make>
auto made_from(term const& t, Make make) {
    try {
        return make();
    } catch (policy_syntax_error const&) {
        throw; // an error of a term inside
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
        if (a.has("at_least"))
            made = made.at_least(a.time("at_least"));
        if (a.has("cap"))
            made = made.cap(a.time("cap"));
        return a.has("beyond_cap") && a.flag("beyond_cap") ? made.beyond_cap() : made;
    });
}

bool is_item(std::string_view name) {
    return find_item(backoff_forms, name) || find_item(jitter_forms, name) || find_setting(name);
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
        } else if (auto const* setting = find_setting(item.name)) {
            if (!setting->may_be_repeated)
                once(kind_of_setting(setting->name), item);
            if (is_gate(setting->name))
                once("gate", item);
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
            fail_unknown(item.at, item.name, similar_name(item.name),
                         "the name of a backoff, a jitter, a setting or a profile");
        if (!is_first)
            fail(item.at, item.name + " is a profile, which must be the first item");
        bound_arguments(item, {}, {}, false);
        policy_ = *profile;
    }

    /// The kind of a setting; only one of a kind may be given.
    static std::string_view kind_of_setting(std::string_view name) {
        return name == "unlimited_attempts" ? "max_attempts" : name == "any_failure" ? "retry_if" : name;
    }

    static bool is_gate(std::string_view name) {
        return name == "rate_limit" || name == "concurrency_limit" || name == "hedge_share";
    }

    /// Refuses a second setting of a kind.
    void once(std::string_view kind, term const& item) {
        if (std::find(seen_.begin(), seen_.end(), kind) != seen_.end())
            fail_expecting(item.at, "no second " + std::string(kind), item.name);
        seen_.push_back(kind);
    }

    retry_policy policy_;
    std::vector<std::string_view> seen_;
};

} // namespace

std::string similar_name(std::string_view name) {
    return is_item(name) ? std::string()
                         : did_you_mean(name, backoff_forms, jitter_forms, setting_forms, profiles::all());
}

backoff build_backoff(term const& from) {
    refuse_unreadable(from);
    auto const* form = find_item(backoff_forms, from.name);
    if (!form)
        fail_unknown(from.at, from.name, did_you_mean(from.name, backoff_forms), "the name of a backoff");
    return make_item(*form, from);
}

fixed_limit build_limit(term const& from) {
    constexpr parameter own[] = {{"n", a_whole_number}};
    if (from.name != "fixed_limit")
        fail_expecting(from.at, "fixed_limit", from.name);
    bound_arguments const a(from, own, {}, false);
    return made_from(from, [&] { return fixed_limit(a.whole("n")); });
}

retry_policy build_policy(std::vector<term> const& terms) {
    policy_builder builder;
    for (term const& t : terms)
        builder.add(t, &t == terms.data());
    return builder.policy();
}

} // namespace asio_retry::detail
