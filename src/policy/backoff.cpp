#include <asio_retry/backoff.hpp>

#include <asio_retry/detail/policy/refuse.hpp>

#include "policy/backoff_shapes.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>

namespace asio_retry {
namespace {

using detail::backoff_kind;
using detail::backoff_shape;

bool calls_user(backoff_shape const& shape) {
    return shape.kind == backoff_kind::custom ||
           (shape.kind == backoff_kind::chained && calls_user(shape.first->shape()));
}

std::uint64_t at_least(std::int64_t least, std::string_view field, std::int64_t value) {
    if (value < least)
        detail::refuse(field, std::to_string(value), "must be at least " + std::to_string(least));
    return static_cast<std::uint64_t>(value);
}

double growing(std::string_view field, double factor) {
    if (!std::isfinite(factor) || factor < 1)
        detail::refuse(field, factor, "must be a finite number of at least 1");
    return factor;
}

} // namespace

backoff::backoff(detail::backoff_shape shape)
    : shape_(std::move(shape)) {}
backoff::backoff(detail::shared_function<saturating_duration(std::uint64_t)> function)
    : shape_{.kind = backoff_kind::custom, .function = std::move(function)} {}

backoff::backoff(backoff const& other)
    : shape_(other.shape_)
    , cap_(other.cap_) {}
backoff& backoff::operator=(backoff const&) = default;
backoff::~backoff() = default;

duration backoff::ceiling(std::uint64_t failures) const {
    return std::min(cap_, shape_.ceiling(std::max<std::uint64_t>(failures, 1)));
}

duration backoff::cap_after(std::uint64_t failures) const noexcept {
    if (shape_.kind != backoff_kind::chained)
        return cap_;
    failures = std::max<std::uint64_t>(failures, 1);
    return std::min(cap_, failures <= shape_.count ? shape_.first->cap_after(failures)
                                                   : shape_.then->cap_after(failures - shape_.count));
}

backoff backoff::cap(saturating_duration greatest) const {
    detail::non_negative("cap", greatest);
    if (!calls_user(shape_) && greatest < shape_.ceiling(1))
        detail::refuse("cap", greatest, "must not be below the base", shape_.ceiling(1));
    backoff changed(*this);
    changed.cap_ = greatest;
    return changed;
}

backoff constant(saturating_duration value) {
    return backoff({.kind = backoff_kind::constant, .base = detail::non_negative("constant", value)});
}

backoff linear(saturating_duration initial, saturating_duration step) {
    return backoff({.kind = backoff_kind::linear,
                    .base = detail::non_negative("linear.initial", initial),
                    .step = detail::non_negative("linear.step", step)});
}

backoff exponential(saturating_duration base, double factor) {
    backoff_shape shape{.kind = backoff_kind::exponential,
                        .base = detail::non_negative("exponential.base", base),
                        .factor = growing("exponential.factor", factor)};
    for (std::size_t i = 0; i != shape.early.size(); ++i)
        shape.early[i] = detail::grown(base, factor, i);
    return backoff(std::move(shape));
}

backoff stepwise_exponential(saturating_duration base, double factor, saturating_duration greatest) {
    detail::non_negative("stepwise_exponential.base", base);
    growing("stepwise_exponential.factor", factor);
    if (greatest < base)
        detail::refuse("stepwise_exponential.greatest", greatest, "must not be below the base", base);
    return backoff(
        {.kind = backoff_kind::stepwise_exponential, .base = base, .greatest = greatest, .factor = factor});
}

backoff polynomial(saturating_duration base, std::int64_t exponent) {
    return backoff({.kind = backoff_kind::polynomial,
                    .base = detail::non_negative("polynomial.base", base),
                    .count = at_least(0, "polynomial.exponent", exponent)});
}

backoff fibonacci(saturating_duration base) {
    return backoff({.kind = backoff_kind::fibonacci, .base = detail::non_negative("fibonacci.base", base)});
}

backoff truncated_binary(std::int64_t growing_failures, saturating_duration greatest) {
    std::uint64_t const count = at_least(1, "truncated_binary.growing_failures", growing_failures);
    return backoff({.kind = backoff_kind::truncated_binary,
                    .greatest = detail::non_negative("truncated_binary.greatest", greatest),
                    .count = count});
}

backoff slotted_binary(saturating_duration slot, std::int64_t greatest_exponent) {
    if (slot <= duration::zero())
        detail::refuse("slotted_binary.slot", slot, "must be positive");
    return backoff({.kind = backoff_kind::slotted_binary,
                    .base = slot,
                    .count = at_least(1, "slotted_binary.greatest_exponent", greatest_exponent)});
}

backoff schedule(std::vector<duration> delays) {
    if (delays.empty())
        detail::refuse("schedule", "{}", "must have at least one delay");
    for (duration const d : delays)
        detail::non_negative("schedule", d);
    return backoff({.kind = backoff_kind::schedule,
                    .delays = std::make_shared<std::vector<duration> const>(std::move(delays))});
}

backoff schedule(std::initializer_list<saturating_duration> delays) {
    return schedule(std::vector<duration>(delays.begin(), delays.end()));
}

backoff chained(backoff first, std::int64_t failures, backoff then) {
    std::uint64_t const count = at_least(1, "chained.failures", failures);
    int const depth = std::max(first.shape().depth, then.shape().depth) + 1;
    if (depth > detail::greatest_depth)
        detail::refuse("chained", std::to_string(depth) + " backoffs inside one another",
                       "must be at most " + std::to_string(detail::greatest_depth));
    return backoff({.kind = backoff_kind::chained,
                    .depth = depth,
                    .count = count,
                    .first = std::make_shared<backoff const>(std::move(first)),
                    .then = std::make_shared<backoff const>(std::move(then))});
}

backoff first_at_once(backoff then) {
    return chained(constant(duration::zero()).cap(duration::zero()), 1, std::move(then));
}

} // namespace asio_retry
