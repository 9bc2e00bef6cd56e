// Failures that have rules of their own are counted apart, and all of them within the common limits.
#include <asio_retry/retry_machine.hpp>

#include "numbers/whole_range.hpp"

#include <boost/system/errc.hpp>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <ostream>
#include <vector>

namespace asio_retry::test {
namespace {

constexpr int kinds_of_failure = 4;

error_code failure_of_kind(int kind) {
    return error_code(kind + 1, boost::system::generic_category());
}

/// What a rule belongs to, as bits, and what it says.
struct any_rule {
    int kinds;
    bool is_limit;
    std::int64_t number; ///< the limit, or the first delay in milliseconds
};

std::ostream& operator<<(std::ostream& out, any_rule const& r) {
    return out << (r.is_limit ? "max_attempts_when(" : "when(") << r.kinds << ", " << r.number << ")";
}

rc::Gen<any_rule> some_rule() {
    return rc::gen::apply(
        [](int kinds, bool is_limit, std::int64_t number) { return any_rule{kinds, is_limit, number}; },
        between(0, (1 << kinds_of_failure) - 1), rc::gen::arbitrary<bool>(), between<std::int64_t>(1, 5));
}

backoff delays_of(any_rule const& r) {
    return linear(std::chrono::milliseconds(r.number), std::chrono::seconds(r.number));
}

/// What a rule has to make of a history, told failure by failure.
class rules_by_hand {
public:
    rules_by_hand(std::vector<any_rule> const& rules, std::int64_t max_attempts)
        : rules_(rules)
        , max_attempts_(max_attempts)
        , counted_(rules.size()) {}

    /// The delay after one more; none where the operation ends.
    std::optional<duration> after(int kind) {
        if (++all_ >= max_attempts_)
            return std::nullopt;
        std::optional<duration> delay;
        bool ends = false;
        for (std::size_t i = 0; i != rules_.size(); ++i) {
            any_rule const& r = rules_[i];
            if ((r.kinds >> kind & 1) == 0)
                continue;
            if (r.is_limit)
                ends = ++counted_[i] >= r.number || ends;
            else if (!delay)
                delay = delays_of(r).ceiling(static_cast<std::uint64_t>(++counted_[i]));
        }
        if (ends)
            return std::nullopt;
        return delay ? *delay : std::chrono::hours(++of_none_);
    }

    /// After enough health.
    void reset() {
        all_ = of_none_ = 0;
        std::fill(counted_.begin(), counted_.end(), 0);
    }

private:
    std::vector<any_rule> const& rules_;
    std::int64_t const max_attempts_;
    std::vector<std::int64_t> counted_;
    std::int64_t all_ = 0, of_none_ = 0;
};

RC_GTEST_PROP(rules_at_random, count_apart_within_the_common_limits, ()) {
    auto const rules = *rc::gen::container<std::vector<any_rule>>(*between<std::size_t>(0, 6), some_rule());
    auto const failures =
        *rc::gen::container<std::vector<int>>(60, between(0, kinds_of_failure)); // the last: a reset
    auto const max_attempts = *between<std::int64_t>(1, 50);

    retry_policy policy = retry_policy()
                              .backoff(linear(std::chrono::hours(1), std::chrono::hours(1)))
                              .jitter(no_jitter())
                              .max_attempts(max_attempts)
                              .reset_after(std::chrono::minutes(1));
    for (any_rule const& r : rules) {
        auto const belongs = [kinds = r.kinds](error_code const& code) {
            return (kinds >> (code.value() - 1) & 1) != 0;
        };
        policy = r.is_limit ? policy.max_attempts_when(belongs, r.number) : policy.when(belongs, delays_of(r));
    }

    rules_by_hand model(rules, max_attempts);
    retry_machine machine(policy);
    random source(1);
    time_point now{};
    RC_ASSERT(machine.start(now).what == retry_action::kind::attempt);
    bool was_healthy = false;
    for (int const kind : failures) {
        if (kind == kinds_of_failure) {
            was_healthy = true;
            continue;
        }
        if (was_healthy) {
            now += std::chrono::minutes(1);
            model.reset();
        }
        was_healthy = false;
        std::optional<duration> const expected = model.after(kind);
        retry_action const action = machine.on_failure(verdict::failure(failure_of_kind(kind)), now, source);
        if (!expected) {
            RC_ASSERT(action.what == retry_action::kind::complete);
            RC_ASSERT(action.reason == stop_reason::attempts);
            return;
        }
        RC_ASSERT(action.what == retry_action::kind::wait);
        RC_ASSERT(action.delay == *expected);
        now += action.delay;
        RC_ASSERT(machine.on_wait_over(now).what == retry_action::kind::attempt);
    }
}

} // namespace
} // namespace asio_retry::test
