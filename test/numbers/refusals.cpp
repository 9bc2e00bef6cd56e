#include <asio_retry/retry_policy.hpp>
#include <asio_retry/retry_scheduler.hpp>
#include <asio_retry/virtual_time.hpp>

#include "numbers/any_shape.hpp"
#include "numbers/whole_range.hpp"
#include "policy/duration_text.hpp"
#include "support/message_of.hpp"

#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <cstdlib>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace asio_retry::test {
namespace {

/// The message of the refusal; empty if there was none.
template <typename Build>
std::string refusal_of(Build build) {
    return complaint_of<std::invalid_argument>(build, "");
}

std::string named(std::string const& field, std::string const& value, std::string const& rule) {
    return "asio_retry: " + field + " = " + value + ": " + rule;
}

std::string in_text(std::int64_t value) {
    return detail::to_text(duration(value));
}

/// Whether the message names field and rule, and between them a number that reads back as `value`.
bool names_number(std::string const& message, std::string const& field, double value, std::string const& rule) {
    std::string const begin = "asio_retry: " + field + " = ", end = ": " + rule;
    if (!message.starts_with(begin) || !message.ends_with(end))
        return false;
    std::string const digits = message.substr(begin.size(), message.size() - begin.size() - end.size());
    double const read = std::strtod(digits.c_str(), nullptr);
    return read == value || (std::isnan(read) && std::isnan(value));
}

struct duration_setter {
    std::string field;
    std::function<void(duration)> set;
};

std::vector<duration_setter> duration_setters() {
    auto const none = duration::zero();
    return {{"constant", [](duration d) { return constant(d); }},
            {"linear.initial", [=](duration d) { return linear(d, none); }},
            {"linear.step", [=](duration d) { return linear(none, d); }},
            {"exponential.base", [](duration d) { return exponential(d); }},
            {"truncated_binary.greatest", [](duration d) { return truncated_binary(1, d); }},
            {"cap", [=](duration d) { return constant(none).cap(d); }},
            {"max_elapsed", [](duration d) { return retry_policy().max_elapsed(d); }},
            {"total_timeout", [](duration d) { return retry_policy().total_timeout(d); }}};
}

RC_GTEST_PROP(decision_04, exactly_the_negative_durations_are_refused, ()) {
    std::int64_t const value = *any_nanoseconds();
    for (duration_setter const& setter : duration_setters()) {
        std::string const expected =
            value < 0 ? named(setter.field, in_text(value), "must not be negative") : "";
        RC_ASSERT(refusal_of([&] { setter.set(duration(value)); }) == expected);
    }
}

RC_GTEST_PROP(decision_04, exactly_the_negative_slacks_and_advances_are_refused, ()) {
    std::int64_t const value = *any_nanoseconds();
    boost::asio::io_context io;
    virtual_time time(io);
    auto const expected = [&](char const* field) {
        return value < 0 ? named(field, in_text(value), "must not be negative") : "";
    };
    RC_ASSERT(refusal_of([&] { scheduler(io).slack(duration(value)); }) == expected("slack"));
    RC_ASSERT(refusal_of([&] { time.advance(duration(value)); }) == expected("advance"));
}

RC_GTEST_PROP(decision_04, exactly_the_attempt_timeouts_without_any_time_are_refused, ()) {
    std::int64_t const value = *any_nanoseconds();
    RC_ASSERT(refusal_of([&] { return retry_policy().attempt_timeout(duration(value)); }) ==
              (value <= 0 ? named("attempt_timeout", in_text(value), "must be positive") : ""));
}

RC_GTEST_PROP(decision_04, exactly_the_caps_below_the_base_are_refused, ()) {
    shape_fields const shape = *any_shape();
    std::int64_t const cap =
        *rc::gen::oneOf(any_nanoseconds(),
                        rc::gen::element<std::int64_t>(shape.base(), shape.base() == 0 ? 0 : shape.base() - 1));
    std::string expected;
    if (cap < 0)
        expected = named("cap", in_text(cap), "must not be negative");
    else if (cap < shape.base())
        expected = named("cap", in_text(cap), "must not be below the base, which is " + in_text(shape.base()));
    RC_ASSERT(refusal_of([&] { return shape.build().cap(duration(cap)); }) == expected);
}

RC_GTEST_PROP(decision_04, exactly_the_factors_below_one_and_the_infinite_are_refused, ()) {
    double const factor = *any_double();
    std::string const message = refusal_of([&] { return exponential(duration(1), factor); });
    if (factor >= 1 && factor <= std::numeric_limits<double>::max())
        RC_ASSERT(message.empty());
    else
        RC_ASSERT(names_number(message, "exponential.factor", factor, "must be a finite number of at least 1"));
}

RC_GTEST_PROP(decision_04, exactly_the_fractions_outside_zero_and_one_are_refused, ()) {
    double const fraction = *any_double();
    std::string const message = refusal_of([&] { return proportional_jitter(fraction); });
    if (fraction >= 0 && fraction <= 1)
        RC_ASSERT(message.empty());
    else
        RC_ASSERT(names_number(message, "proportional_jitter.fraction", fraction, "must be in [0, 1]"));
}

RC_GTEST_PROP(decision_04, exactly_the_counts_below_one_are_refused, ()) {
    std::int64_t const count = *any_nanoseconds();
    RC_ASSERT(refusal_of([&] { return retry_policy().max_attempts(count); }) ==
              (count < 1 ? named("max_attempts", std::to_string(count),
                                 "must be at least 1; see unlimited_attempts()")
                         : ""));
    RC_ASSERT(refusal_of([&] { return truncated_binary(count, duration(1)); }) ==
              (count < 1
                   ? named("truncated_binary.growing_failures", std::to_string(count), "must be at least 1")
                   : ""));
}

} // namespace
} // namespace asio_retry::test
