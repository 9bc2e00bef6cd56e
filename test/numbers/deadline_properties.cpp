#include <asio_retry/deadline_fields.hpp>

#include "numbers/whole_range.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <string>

namespace asio_retry::test {
namespace {

/// Any time but the last one, which is no deadline.
rc::Gen<time_point> any_deadline() {
    return rc::gen::map(any_nanoseconds(), [](std::int64_t ns) {
        return time_point(std::min(duration(ns), duration::max() - duration(1)));
    });
}

/// What both fields say of a deadline, read again.
struct told {
    duration grpc, ms;
};

told told_of(time_point deadline, time_point now, duration margin) {
    std::string const grpc = to_grpc_timeout(deadline, now, margin);
    RC_ASSERT(grpc.size() >= 2u);
    RC_ASSERT(grpc.size() <= 9u);
    auto const read = parse_grpc_timeout(grpc),
               read_ms = parse_timeout_ms(to_timeout_ms(deadline, now, margin));
    RC_ASSERT(read.has_value());
    RC_ASSERT(read_ms.has_value());
    return {*read, *read_ms};
}

RC_GTEST_PROP(decision_65, what_is_read_is_never_more_than_what_is_left_and_little_less, ()) {
    time_point const deadline = *any_deadline(), now = time_point(duration(*any_nanoseconds()));
    duration const margin(*non_negative_nanoseconds());
    told const said = told_of(deadline, now, margin);
    duration const left = std::max(duration::zero(), elapsed_between(now, deadline) - margin);
    RC_ASSERT(said.grpc <= left);
    RC_ASSERT(said.ms <= left);
    RC_ASSERT(left - said.ms < std::chrono::milliseconds(1));
    RC_ASSERT(left - said.grpc <= left / 100'000); // a coarser unit begins at 10^8 of the finer one
}

RC_GTEST_PROP(decision_65, a_later_deadline_is_never_told_as_an_earlier_one, ()) {
    auto const [earlier, later] = std::minmax({*any_deadline(), *any_deadline()});
    auto const [less, more] = std::minmax({*non_negative_nanoseconds(), *non_negative_nanoseconds()});
    time_point const now = time_point(duration(*any_nanoseconds()));
    told const first = told_of(earlier, now, duration(more)), last = told_of(later, now, duration(less));
    RC_ASSERT(first.grpc <= last.grpc);
    RC_ASSERT(first.ms <= last.ms);
}

RC_GTEST_PROP(decision_65, a_service_that_passes_on_what_it_was_told_extends_nothing, ()) {
    time_point const deadline = *any_deadline(), now = time_point(duration(*any_nanoseconds()));
    duration said = told_of(deadline, now, duration::zero()).grpc;
    for (int hop = 0; hop < 5; ++hop) {
        // The clock of the next service shows another time.
        time_point const begun = time_point(duration(*non_negative_nanoseconds() / 4));
        time_point const there = saturating_add(begun, said);
        if (there == time_point::max())
            return;
        duration const next = told_of(there, begun, duration::zero()).grpc;
        RC_ASSERT(next <= said);
        said = next;
    }
}

rc::Gen<std::string> any_text() {
    auto const bytes = rc::gen::container<std::string>(rc::gen::arbitrary<char>());
    auto const likely = rc::gen::container<std::string>(
        rc::gen::elementOf(std::string("0123456789012345678901234567890123456789HMSmun \t-+.")));
    auto const nearly =
        rc::gen::apply([](std::uint64_t count, char unit) { return std::to_string(count) + unit; }, any_count(),
                       rc::gen::elementOf(std::string("HMSmunhs0 ")));
    return rc::gen::oneOf(bytes, likely, nearly);
}

RC_GTEST_PROP(decision_65, any_text_is_read_or_not_and_nothing_is_thrown, ()) {
    std::string const text = *any_text();
    auto const grpc = parse_grpc_timeout(text), ms = parse_timeout_ms(text);
    RC_ASSERT(!grpc || *grpc >= duration::zero());
    RC_ASSERT(!ms || *ms >= duration::zero());
    RC_ASSERT(!(grpc && ms)); // one needs a unit, and the other has none
    bool const has_digit = std::ranges::any_of(text, [](unsigned char c) { return std::isdigit(c) != 0; });
    RC_ASSERT(has_digit || (!grpc && !ms));
}

} // namespace
} // namespace asio_retry::test
