#include "text/build.hpp"
#include "text/item_parameters.hpp"
#include "text/number.hpp"
#include "text/text_gates.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace asio_retry::detail {
namespace {

/// Adds arguments to a term.
struct argument_writer {
    term& to;

    void operator()(std::string_view name, duration value) const { add(name, value); }
    void operator()(std::string_view name, double value) const { add(name, number_word{to_text(value)}); }
    void operator()(std::string_view name, std::uint64_t value) const {
        add(name, number_word{std::to_string(value)});
    }
    void operator()(std::string_view name, std::shared_ptr<backoff const> const& value) const {
        add(name, term_of(*value));
    }
    void operator()(std::string_view name, std::shared_ptr<std::vector<duration> const> const& values) const {
        for (duration const value : *values)
            add(name, value);
    }
    template <typename Signature>
    void operator()(std::string_view name, shared_function<Signature> const&) const {
        add(name, stand_in{"callable"});
    }

    template <typename Value>
    void add(std::string_view name, Value value) const {
        to.arguments.push_back({std::string(name), std::move(value)});
    }
};

template <auto Kind, typename Parts>
void write_parameters(Parts const& parts, argument_writer const& write) {
    std::apply([&](auto const&... each) { (write(each.name, parts.*each.member), ...); }, parameters_of<Kind>);
}

/// The term of a backoff or a jitter of the given kind. The indices are the enumerators of Kind.
template <typename Kind, typename Parts, std::size_t... I>
term named_term(Kind kind, Parts const& parts, std::index_sequence<I...>) {
    term written{std::string(name_of(kind)), {}};
    argument_writer const write{written};
    ((kind == static_cast<Kind>(I) ? write_parameters<static_cast<Kind>(I)>(parts, write) : void()), ...);
    return written;
}

class term_list {
public:
    void add(term written) { terms_.push_back(std::move(written)); }
    void add(std::string_view name) { add(term{std::string(name), {}}); }

    template <typename Value>
    void add(std::string_view name, Value value) {
        term written{std::string(name), {}};
        written.arguments.push_back({"", std::move(value)});
        add(std::move(written));
    }

    void add_if(bool is_set, std::string_view name) {
        if (is_set)
            add(name);
    }
    void add_if(std::optional<duration> const& value, std::string_view name) {
        if (value)
            add(name, *value);
    }
    void add_stand_in_if(bool is_set, std::string_view name, char const* of = "callable") {
        if (is_set)
            add(name, stand_in{of});
    }

    std::vector<term> take() && { return std::move(terms_); }

private:
    std::vector<term> terms_;
};

term pushback_limit_of(retry_settings const& s) {
    term written{"pushback_limit", {}};
    written.is_led_by_value = true;
    argument_writer const write{written};
    write("greatest", s.pushback_limit);
    if (s.over_pushback_limit != over_limit::stop)
        write.add(s.over_pushback_limit == over_limit::clamp ? "clamp" : "ignore", true);
    return written;
}

term gate_term(rate_limit_numbers const& numbers) {
    term written{"rate_limit", {}};
    argument_writer const write{written};
    write("n", std::uint64_t(numbers.n));
    write("per", numbers.per);
    if (numbers.burst != 1)
        write("burst", std::uint64_t(numbers.burst));
    return written;
}

term gate_term(fixed_limit_number limit) {
    term inner{"fixed_limit", {}};
    inner.is_led_by_value = true;
    argument_writer{inner}("n", std::uint64_t(limit.n));
    term written{"concurrency_limit", {}};
    written.is_led_by_value = true;
    argument_writer{written}.add("algorithm", std::move(inner));
    return written;
}

term gate_term(hedge_share_numbers const& numbers) {
    term written{"hedge_share", {}};
    written.is_led_by_value = true;
    argument_writer const write{written};
    write("share", numbers.share);
    if (numbers.burst != burst_of_hedges)
        write("burst", std::uint64_t(numbers.burst));
    return written;
}

/// The term of a gate that has one.
std::optional<term> gate_term(retry_gate const* gate) {
    return std::visit(
        []<typename Numbers>(Numbers const& numbers) -> std::optional<term> {
            if constexpr (std::is_same_v<Numbers, std::monostate>)
                return std::nullopt;
            else
                return gate_term(numbers);
        },
        numbers_of(gate));
}

term name_of(retry_settings const& s) {
    term written{"name", {}};
    argument text{"", stand_in()};
    text.text = s.name;
    written.arguments.push_back(std::move(text));
    return written;
}

std::vector<failure_kind> kinds_of(retry_settings::predicate const& chosen) {
    std::vector<failure_kind> kinds;
    for (failure_kind kind = failure_kind::none; kind <= failure_kind::overloaded;
         kind = static_cast<failure_kind>(static_cast<unsigned>(kind) + 1))
        if (chosen.has(kind))
            kinds.push_back(kind);
    return kinds;
}

term retry_if_of(retry_settings::predicate const& chosen) {
    term written{"retry_if", {}};
    argument_writer const write{written};
    for (failure_kind const kind : kinds_of(chosen))
        write.add("", kind);
    return written;
}

term term_of(retry_settings::rule const& rule) {
    term written{rule.backoff ? "when" : "max_attempts_when", {}};
    written.is_led_by_value = true;
    written.may_be_repeated = true;
    argument_writer const write{written};
    if (rule.matches.kinds != 0)
        write.add("kind", kinds_of(rule.matches).front());
    else
        write.add("predicate", stand_in{"callable"});
    if (rule.backoff)
        write.add("backoff", asio_retry::detail::term_of(*rule.backoff));
    else
        write("count", rule.max_attempts);
    return written;
}

/// Whether all backoffs have the same jitter. If not, none was set: a text without a jitter means the same.
bool has_one_jitter(retry_settings const& s) {
    return std::ranges::all_of(s.rules, [&](retry_settings::rule const& rule) {
        return !rule.backoff || s.jitter_of(*rule.backoff).kind().name == s.jitter.kind().name;
    });
}

} // namespace

term term_of(backoff const& shape) {
    backoff_shape const& parts = shape.shape();
    term written = named_term(parts.kind, parts, std::make_index_sequence<backoff_names.size()>());
    written.is_led_by_value = parts.kind == backoff_kind::custom;
    if (shape.cap() != duration::max())
        argument_writer{written}("cap", shape.cap());
    return written;
}

term term_of(jitter const& kind) {
    jitter_kind const& parts = kind.kind();
    term written = named_term(parts.name, parts, std::make_index_sequence<jitter_names.size()>());
    written.is_led_by_value = written.arguments.size() == 1;
    argument_writer const write{written};
    if (kind.unit() != duration(1))
        write("unit", kind.unit());
    if (kind.at_least() != duration::zero())
        write("at_least", kind.at_least());
    if (kind.cap() != duration::max())
        write("cap", kind.cap());
    if (kind.is_beyond_cap())
        write.add("beyond_cap", true);
    return written;
}

std::vector<term> terms_of(retry_policy const& policy) {
    retry_settings const& s = policy.settings();
    retry_policy const untouched;
    retry_settings const& defaults = untouched.settings();
    term_list list;
    if (!s.name.empty())
        list.add(name_of(s));
    list.add(term_of(s.backoff));
    if (has_one_jitter(s))
        list.add(term_of(s.jitter));
    if (s.max_attempts)
        list.add("max_attempts", number_word{std::to_string(*s.max_attempts)});
    else
        list.add("unlimited_attempts");
    list.add_if(s.max_elapsed, "max_elapsed");
    list.add_if(s.max_waited, "max_waited");
    list.add_if(s.attempt_timeout, "attempt_timeout");
    list.add_if(s.setup_timeout, "setup_timeout");
    list.add_if(s.idle_timeout, "idle_timeout");
    list.add_if(s.total_timeout, "total_timeout");
    if (s.deadline)
        list.add("deadline", s.deadline->time_since_epoch());
    list.add_if(s.reset_after, "reset_after");
    list.add_if(s.clamp, "clamp");
    list.add_if(s.deliver_at_once, "deliver_at_once");
    list.add_if(s.allow_total_cancellation, "allow_total_cancellation");
    list.add_if(s.retry_when_nested, "retry_when_nested");
    auto gate = gate_term(s.gate.get());
    bool const has_text = s.gate == nullptr || gate;
    if (gate)
        list.add(*std::move(gate));
    list.add_if(s.wait_when_refused, "wait_when_refused");
    if (s.priority != request_priority::normal)
        list.add("priority", s.priority);
    if (s.pushback_limit != defaults.pushback_limit || s.over_pushback_limit != defaults.over_pushback_limit)
        list.add(pushback_limit_of(s));
    if (s.pushback_spread != defaults.pushback_spread)
        list.add("pushback_spread", number_word{to_text(s.pushback_spread)});
    list.add_stand_in_if(s.is_nested, "nested_in", "attempt");
    bool const has_name = s.retry_if.any || s.retry_if.kinds != 0;
    list.add_if(s.retry_if.any, "any_failure");
    if (s.retry_if.kinds != 0)
        list.add(retry_if_of(s.retry_if));
    if (!s.retry_sent)
        list.add("retry_sent", false);
    for (retry_settings::rule const& rule : s.rules)
        list.add(term_of(rule));
    list.add_stand_in_if(s.retry_if && !has_name, "retry_if");
    list.add_stand_in_if(static_cast<bool>(s.on_retry), "on_retry");
    list.add_stand_in_if(static_cast<bool>(s.on_give_up), "on_give_up");
    list.add_stand_in_if(static_cast<bool>(s.on_success), "on_success");
    list.add_stand_in_if(!has_text, "gate", "gate");
    list.add_stand_in_if(static_cast<bool>(s.classify), "classify");
    list.add_stand_in_if(s.observer != nullptr, "observe", "observer");
    return std::move(list).take();
}

} // namespace asio_retry::detail
