#include <asio_retry/policy_text.hpp>

#include "numbers/whole_range.hpp"
#include "support/plain_jitters.hpp"

#include <asio_retry/policy_book.hpp>
#include <asio_retry/traffic/rate_limit.hpp>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace asio_retry::test {
namespace {

rc::Gen<duration> any_delay() {
    return rc::gen::map(rc::gen::oneOf(non_negative_nanoseconds(),
                                       rc::gen::map(between<std::int64_t>(0, 100'000),
                                                    [](std::int64_t n) { return n * 60'000'000'000; })),
                        [](std::int64_t count) { return duration(count); });
}

rc::Gen<duration> any_positive_delay() {
    return rc::gen::map(any_delay(), [](duration d) { return std::max(d, duration(1)); });
}

rc::Gen<std::int64_t> any_positive_count() {
    return rc::gen::map(any_delay(), [](duration d) { return std::max<std::int64_t>(d.count(), 1); });
}

/// Finite, from 0 on.
rc::Gen<double> any_amount() {
    return rc::gen::suchThat(any_double(), [](double d) { return d >= 0 && d <= 1e300; });
}

/// Of every shape that has a text, at most `depth` inside one another.
backoff draw_backoff(int depth) {
    auto const uncapped = [&]() -> backoff {
        switch (*between(0, depth > 1 ? 9 : 8)) {
        case 0:
            return constant(*any_delay());
        case 1:
            return linear(*any_delay(), *any_delay());
        case 2:
            return exponential(*any_delay(), *any_factor());
        case 3: {
            duration const a = *any_delay(), b = *any_delay();
            return stepwise_exponential(std::min(a, b), *any_factor(), std::max(a, b));
        }
        case 4:
            return polynomial(*any_delay(), *any_positive_count());
        case 5:
            return fibonacci(*any_delay());
        case 6:
            return truncated_binary(*any_positive_count(), *any_delay());
        case 7:
            return slotted_binary(*any_positive_delay(), *any_positive_count());
        case 8:
            return schedule(*rc::gen::nonEmpty(rc::gen::container<std::vector<duration>>(any_delay())));
        default:
            break;
        }
        backoff first = draw_backoff(depth - 1);
        return chained(std::move(first), *any_positive_count(), draw_backoff(depth - 1));
    }();
    return *rc::gen::arbitrary<bool>() ? uncapped.cap(std::max(uncapped.base(), *any_delay())) : uncapped;
}

/// Of every kind that has a text.
jitter draw_jitter() {
    auto const plain = []() -> jitter {
        double const a = *any_amount(), b = *any_amount();
        int const kind = *between(0, 10);
        if (kind < plain_jitters)
            return plain_jitter(kind);
        switch (kind) {
        case 4:
            return proportional_jitter(std::min(a, 1.));
        case 5:
            return additive_jitter(*any_delay());
        case 6:
            return multiplicative_jitter(std::min(a, b), std::max(a, b));
        case 7:
            return windowed_jitter(*any_delay());
        case 8:
            return symmetric_jitter(*any_delay());
        case 9:
            return uniform_jitter(*any_delay());
        default:
            break;
        }
        return log_normal_jitter(a);
    };
    jitter kind = plain();
    if (*rc::gen::arbitrary<bool>())
        kind = kind.unit(*any_positive_delay());
    if (*rc::gen::arbitrary<bool>())
        kind = kind.at_least(*any_delay());
    if (*rc::gen::arbitrary<bool>())
        kind = kind.cap(std::max(kind.at_least(), *any_delay()));
    return *rc::gen::arbitrary<bool>() ? kind.beyond_cap() : kind;
}

retry_policy draw_policy() {
    auto const is_set = [] { return *rc::gen::arbitrary<bool>(); };
    retry_policy policy = retry_policy().backoff(draw_backoff(4)).jitter(draw_jitter());
    policy = is_set() ? policy.unlimited_attempts() : policy.max_attempts(*any_positive_count());
    if (is_set())
        policy = policy.max_elapsed(*any_delay());
    if (is_set())
        policy = policy.attempt_timeout(*any_positive_delay());
    if (is_set())
        policy = policy.total_timeout(*any_delay());
    if (is_set())
        policy = policy.deadline(time_point(duration(*any_nanoseconds())));
    if (is_set())
        policy = policy.reset_after(*any_delay());
    if (is_set())
        policy = policy.max_waited(*any_delay());
    if (is_set())
        policy = policy.retry_sent(is_set());
    if (is_set())
        policy = policy.retry_if(any_failure);
    if (is_set())
        policy = policy.clamp();
    if (is_set())
        policy = policy.allow_total_cancellation();
    if (is_set())
        policy = policy.wait_when_refused().priority(request_priority::high);
    if (is_set())
        policy = policy.priority(request_priority(*between(0, 2)));
    if (is_set())
        policy = policy.pushback_limit(*any_delay(), over_limit(*between(0, 2)));
    if (is_set())
        policy = policy.pushback_spread(*between(0, 1000) / 1000.0);
    if (is_set()) {
        duration const per = std::max<duration>(*any_delay(), std::chrono::seconds(1));
        policy = policy.gate(std::make_shared<rate_limit>(static_cast<std::uint32_t>(*between(1, 1'000'000)),
                                                          per, static_cast<std::uint32_t>(*between(1, 1000))));
    }
    if (is_set())
        policy = policy.name(*rc::gen::element<std::string>("a", "5s", "<x>", "\\\"\\", "\xc3\xa9 (=)"));
    return is_set() ? policy.retry_when_nested() : policy;
}

/// A name of one to five letters, digits and characters of UTF-8.
std::string draw_name() {
    auto const letter = rc::gen::elementOf(
        std::vector<std::string>{"a", "B", "7", "_", "/", "#", "-", ".", "\xc3\xa9", "\xe2\x82\xac"});
    std::string name = *rc::gen::element<std::string>("a", "b", "/c", "\xc3\xa9");
    for (int more = *between(0, 4); more != 0; --more)
        name += *letter;
    return name;
}

/// With names that differ, and at least one.
std::vector<named_policy> draw_policies() {
    std::vector<named_policy> all;
    for (int more = *between(1, 6); more != 0; --more) {
        std::string const name = draw_name();
        if (std::ranges::find(all, name, &named_policy::name) == all.end())
            all.push_back({name, draw_policy()});
    }
    return all;
}

/// The policy of that entry as a book has it.
retry_policy in_a_book(named_policy const& entry) {
    return entry.policy.settings().name.empty() ? entry.policy.name(entry.name) : entry.policy;
}

std::string draw_white_space() {
    std::string text;
    for (int more = *between(0, 3); more != 0; --more)
        text += *rc::gen::element(' ', '\t', '\r', '\v', '\f');
    return text;
}

/// A text of these policies, as somebody might write it.
std::string draw_lines(std::vector<named_policy> const& policies) {
    std::string text = *rc::gen::element<std::string>("", "\xef\xbb\xbf");
    for (named_policy const& each : policies) {
        for (int more = *between(0, 2); more != 0; --more)
            text += draw_white_space() + *rc::gen::element<std::string>("", "# a = celery", "#") + '\n';
        text += draw_white_space() + each.name + draw_white_space() + '=' + draw_white_space() +
                to_string(each.policy) + draw_white_space() + '\n';
    }
    if (*rc::gen::arbitrary<bool>())
        text.pop_back();
    return text;
}

/// None if the text is refused.
std::optional<retry_policy> read(std::string const& text) {
    try {
        return parse_policy(text);
    } catch (policy_syntax_error const& fault) {
        RC_ASSERT(fault.position() <= text.size());
        return std::nullopt;
    }
}

/// The count of nanoseconds in a unit of 10^power nanoseconds, point and all.
std::string in_decimal(std::uint64_t count, std::size_t power) {
    std::string digits = std::to_string(count);
    if (digits.size() <= power)
        digits.insert(0, power + 1 - digits.size(), '0');
    if (power != 0)
        digits.insert(digits.size() - power, ".");
    return digits;
}

RC_GTEST_PROP(policy_text_properties, what_is_written_reads_as_the_same_policy, ()) {
    retry_policy const written = draw_policy();
    std::string const text = to_string(written);
    retry_policy const back = parse_policy(text);
    RC_ASSERT(to_string(back) == text);

    retry_settings const &a = written.settings(), &b = back.settings();
    RC_ASSERT(a.max_attempts == b.max_attempts);
    RC_ASSERT(a.max_elapsed == b.max_elapsed);
    RC_ASSERT(a.attempt_timeout == b.attempt_timeout);
    RC_ASSERT(a.total_timeout == b.total_timeout);
    RC_ASSERT(a.deadline == b.deadline);
    RC_ASSERT(a.reset_after == b.reset_after);
    RC_ASSERT(a.retry_if.any == b.retry_if.any && a.retry_if.kinds == b.retry_if.kinds);
    RC_ASSERT(static_cast<bool>(a.retry_if) == static_cast<bool>(b.retry_if));
    RC_ASSERT(a.clamp == b.clamp);
    RC_ASSERT(a.wait_when_refused == b.wait_when_refused);
    RC_ASSERT(a.priority == b.priority);
    RC_ASSERT(a.pushback_limit == b.pushback_limit);
    RC_ASSERT(a.over_pushback_limit == b.over_pushback_limit);
    RC_ASSERT(a.pushback_spread == b.pushback_spread);
    RC_ASSERT(a.allow_total_cancellation == b.allow_total_cancellation);
    RC_ASSERT(a.retry_when_nested == b.retry_when_nested);
    RC_ASSERT(a.name == b.name);
}

// Of few failures: a stepwise shape takes a step for each.
RC_GTEST_PROP(policy_text_properties, what_is_read_gives_the_same_delays, ()) {
    backoff const shape = draw_backoff(4);
    jitter const kind = draw_jitter();
    retry_policy const back = parse_policy(to_string(shape) + " " + to_string(kind));
    auto const failures = *between<std::uint64_t>(1, 100);
    backoff_step const step{failures, shape.ceiling(failures), std::min(shape.base(), shape.cap()), shape.cap(),
                            shape.base()};
    RC_ASSERT(back.settings().backoff.ceiling(failures) == step.ceiling);
    RC_ASSERT(back.settings().backoff.cap() == step.cap);
    random source(failures), twin(failures);
    RC_ASSERT(back.settings().jitter.draw(step, source) == kind.draw(step, twin));
}

RC_GTEST_PROP(policy_text_properties, every_duration_is_read_as_it_was_written, ()) {
    time_point const when{duration(*any_nanoseconds())};
    RC_ASSERT(parse_policy(to_string(retry_policy().deadline(when))).settings().deadline == when);
}

RC_GTEST_PROP(policy_text_properties, decimals_are_exact_to_the_nanosecond, ()) {
    std::int64_t const count = *non_negative_nanoseconds();
    auto const [name, power] = *rc::gen::elementOf(
        std::vector<std::pair<std::string, std::size_t>>{{"ns", 0}, {"us", 3}, {"ms", 6}, {"s", 9}});
    std::string const digits = in_decimal(static_cast<std::uint64_t>(count), power);
    RC_ASSERT(parse_policy("deadline(" + digits + name + ")").settings().deadline ==
              time_point(duration(count)));
    RC_ASSERT(parse_policy("deadline(-" + digits + name + ")").settings().deadline ==
              time_point(duration(-count)));
    RC_ASSERT_THROWS_AS(
        static_cast<void>(parse_policy("deadline(" + digits + (power == 0 ? ".1" : "1") + name + ")")),
        policy_syntax_error);
}

RC_GTEST_PROP(policy_text_properties, every_number_is_read_as_it_was_written, ()) {
    double const sigma = *any_amount();
    jitter const read = parse_policy(to_string(log_normal_jitter(sigma))).settings().jitter;
    RC_ASSERT(read.kind().factor == sigma);
}

RC_GTEST_PROP(policy_text_properties, a_book_has_the_policies_that_were_written, ()) {
    std::vector<named_policy> const written = draw_policies();
    policy_book const book(draw_lines(written));
    std::size_t next = 0;
    book.for_each([&](std::string const& name, retry_policy const& policy) {
        RC_ASSERT(next != written.size());
        RC_ASSERT(name == written[next].name);
        RC_ASSERT(to_string(policy) == to_string(in_a_book(written[next])));
        RC_ASSERT(to_string(book[name]) == to_string(policy));
        ++next;
    });
    RC_ASSERT(next == written.size());
}

// A cut may leave a policy out, or change the last one, and nothing else.
RC_GTEST_PROP(policy_text_properties, a_book_without_its_end_is_refused_or_has_the_first_policies, ()) {
    std::vector<named_policy> const written = draw_policies();
    std::string const text = draw_lines(written);
    std::string const half = text.substr(0, *between<std::size_t>(0, text.size()));
    try {
        std::vector<named_policy> const read = parse_policies(half);
        RC_ASSERT(read.size() <= written.size());
        for (std::size_t i = 0; i + 1 < read.size(); ++i)
            RC_ASSERT(to_string(read[i].policy) == to_string(written[i].policy));
        RC_ASSERT(read.back().name == written[read.size() - 1].name);
    } catch (policy_syntax_error const& fault) {
        RC_ASSERT(fault.position() <= half.size());
        RC_ASSERT(fault.line() >= 1 && fault.column() >= 1);
    }
    policy_book book(written);
    try {
        book.reload(half);
        RC_ASSERT(parse_policies(half).size() == written.size());
    } catch (policy_syntax_error const&) {
        RC_ASSERT(to_string(book[written.front().name]) == to_string(in_a_book(written.front())));
    }
}

RC_GTEST_PROP(policy_text_properties, a_changed_text_is_refused_or_read_like_any_other, ()) {
    std::string text = to_string(draw_policy());
    std::size_t const changed = *between<std::size_t>(0, text.size() - 1);
    switch (*between(0, 3)) {
    case 0:
        text.erase(changed, *between<std::size_t>(1, 20));
        break;
    case 1:
        text.resize(changed);
        break;
    case 2:
        text.insert(changed, 1, *rc::gen::oneOf(rc::gen::arbitrary<char>(), rc::gen::elementOf(text)));
        break;
    default:
        std::swap(text[changed], text[text.size() / 2]);
        break;
    }
    if (std::optional<retry_policy> const policy = read(text))
        RC_ASSERT(to_string(parse_policy(to_string(*policy))) == to_string(*policy));
}

} // namespace
} // namespace asio_retry::test
