#include "text/arguments.hpp"

#include "policy/enumerator_name.hpp"
#include "text/enumerators.hpp"
#include "text/nearest.hpp"
#include "text/number.hpp"

#include <variant>

namespace asio_retry::detail {
namespace {

std::string_view name_of(parameter_kind kind) {
    static constexpr std::string_view names[] = {"a duration such as 500ms",
                                                 "a number",
                                                 "a whole number",
                                                 "true or false",
                                                 "a backoff",
                                                 "a limit such as fixed_limit(4)",
                                                 "a kind of failure such as timeout",
                                                 "high, normal or low",
                                                 "a text in quotation marks"};
    return enumerator_name<parameter_kind::a_text>(names, kind, "");
}

bool is_of(parameter_kind kind, argument const& a) {
    switch (kind) {
    case parameter_kind::a_duration:
        return std::holds_alternative<duration>(a.value);
    case parameter_kind::a_number:
    case parameter_kind::a_whole_number:
        return std::holds_alternative<number_word>(a.value);
    case parameter_kind::a_flag:
        return std::holds_alternative<bool>(a.value);
    case parameter_kind::a_failure_kind:
        return std::holds_alternative<failure_kind>(a.value);
    case parameter_kind::a_priority:
        return std::holds_alternative<request_priority>(a.value);
    case parameter_kind::a_text:
        return a.text.has_value();
    case parameter_kind::a_backoff:
    case parameter_kind::a_limit:
        break;
    }
    return std::holds_alternative<term>(a.value);
}

/// Whether it would be of that kind if it were not a JSON string.
bool is_quoted(parameter_kind kind, argument const& a) {
    if (kind == parameter_kind::a_duration)
        return !a.quoted.empty(); // `checked` has refused a text that is no duration
    if (kind == parameter_kind::a_flag)
        return a.quoted == "true" || a.quoted == "false";
    return !a.quoted.empty() && a.quoted.find_first_not_of("+-.0123456789eE") == std::string::npos;
}

std::string const& digits_in(argument const& a) {
    return std::get<number_word>(a.value).digits;
}

/// A hint at what the author of the text may have meant.
std::string hint_for(parameter_kind kind, argument const& a) {
    if (kind == parameter_kind::a_duration && std::holds_alternative<number_word>(a.value)) {
        std::string const quotation = a.at.offset == std::string_view::npos ? "\"" : "";
        return "; did you mean " + quotation + digits_in(a) + 's' + quotation + '?';
    }
    if (kind == parameter_kind::a_failure_kind && !a.quoted.empty())
        return did_you_mean(a.quoted, failure_kind_names);
    if (kind == parameter_kind::a_priority && !a.quoted.empty())
        return did_you_mean(a.quoted, request_priority_names);
    return is_quoted(kind, a) ? "; write it without quotation marks" : "";
}

parameter const* parameter_named(std::string_view name, std::span<parameter const> own,
                                 std::span<parameter const> common) {
    for (std::span<parameter const> const some : {own, common})
        for (parameter const& p : some)
            if (p.name == name)
                return &p;
    return nullptr;
}

/// For a message.
std::string names_of(std::span<parameter const> own, std::span<parameter const> common) {
    std::string names;
    for (std::span<parameter const> const some : {own, common})
        for (parameter const& p : some)
            if (!p.name.empty())
                names.append(names.empty() ? "" : ", ").append(p.name);
    return names;
}

} // namespace

bound_arguments::bound_arguments(term const& from, std::span<parameter const> own,
                                 std::span<parameter const> common, bool is_list)
    : term_(from) {
    for (argument const& a : from.arguments) {
        if (!a.name.empty())
            bind_named(a, own, common);
        else if (!named_.empty())
            fail_expecting(a.at, "a named argument, as the one before", a.word);
        else if (is_list)
            bind_in_list(a, own);
        else
            bind_next(a, own);
    }
    for (parameter const& p : own)
        if (!p.name.empty() && !p.is_optional && !has(p.name))
            fail(from.end, "expected " + description(p) + ", found none");
}

double bound_arguments::number(std::string_view name) const {
    return *read_number(digits_in(*find(name)));
}

std::int64_t bound_arguments::whole(std::string_view name) const {
    return *read_whole(digits_in(*find(name)));
}

void bound_arguments::bind_in_list(argument const& a, std::span<parameter const> own) {
    if (!own.empty() && own.front().kind == parameter_kind::a_failure_kind)
        kinds_.push_back(std::get<failure_kind>(checked(own.front(), a).value));
    else
        list_.push_back(std::get<duration>(checked(parameter{"each delay"}, a).value));
}

void bound_arguments::bind_next(argument const& a, std::span<parameter const> own) {
    std::size_t const next = in_order_.size();
    if (next == own.size() || own[next].name.empty())
        fail_expecting(a.at, "no further argument of " + term_.name, a.word);
    parameter const& p = own[next];
    in_order_.push_back({p.name, &checked(p, a)});
}

void bound_arguments::bind_named(argument const& a, std::span<parameter const> own,
                                 std::span<parameter const> common) {
    if (parameter const* const p = parameter_named(a.name, own, common)) {
        if (has(p->name))
            fail_expecting(a.name_at, "no second " + a.name + " of " + term_.name, a.name);
        named_.push_back({p->name, &checked(*p, a)});
        return;
    }
    std::string const names = names_of(own, common);
    if (names.empty())
        fail_expecting(a.name_at, "no argument of " + term_.name, a.name);
    fail_expecting(a.name_at, "a parameter of " + term_.name + " (" + names + ")", a.name,
                   did_you_mean(a.name, own, common));
}

argument const& bound_arguments::checked(parameter const& p, argument const& a) const {
    if (!is_of(p.kind, a)) {
        if (p.kind == parameter_kind::a_duration && !a.quoted.empty())
            read_duration(a.quoted, a.at); // reports what is wrong with it
        fail_expecting(a.at, description(p), a.word, hint_for(p.kind, a));
    }
    if (p.kind == parameter_kind::a_number && !read_number(digits_in(a)))
        fail_expecting(a.at, description(p) + " in the range of double", a.word);
    if (p.kind == parameter_kind::a_whole_number && !read_whole(digits_in(a)))
        fail_expecting(a.at,
                       description(p) +
                           (digits_in(a).find_first_of(".eE") == std::string::npos ? " of less than 2^63" : ""),
                       a.word);
    return a;
}

std::string bound_arguments::description(parameter const& p) const {
    return std::string(name_of(p.kind)).append(" for ").append(p.name).append(" of ") + term_.name;
}

argument const* bound_arguments::find(std::string_view name) const {
    for (std::vector<binding> const* some : {&in_order_, &named_})
        for (binding const& b : *some)
            if (b.name == name)
                return b.value;
    return nullptr;
}

} // namespace asio_retry::detail
