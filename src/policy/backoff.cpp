#include <asio_retry/backoff.hpp>

#include <asio_retry/detail/policy/refuse.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

namespace asio_retry {
namespace {

duration uncapped_ceiling(detail::backoff_shape const& shape, std::uint64_t failures) {
    return std::visit([&](auto const& s) { return s.ceiling(failures); }, shape);
}

bool calls_user(detail::backoff_shape const& shape) {
    auto const* const chain = std::get_if<detail::chained_shape>(&shape);
    return std::holds_alternative<detail::custom_shape>(shape) || (chain && calls_user(chain->first->shape()));
}

int depth_of(backoff const& shape) {
    auto const* const chain = std::get_if<detail::chained_shape>(&shape.shape());
    return chain ? chain->depth : 1;
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
backoff::backoff(detail::custom_shape shape)
    : shape_(std::move(shape)) {}

backoff::backoff(backoff const& other)
    : shape_(other.shape_)
    , cap_(other.cap_) {}
backoff& backoff::operator=(backoff const&) = default;
backoff::~backoff() = default;

duration backoff::ceiling(std::uint64_t failures) const {
    return std::min(cap_, uncapped_ceiling(shape_, std::max<std::uint64_t>(failures, 1)));
}

duration backoff::cap_after(std::uint64_t failures) const noexcept {
    auto const* const chain = std::get_if<detail::chained_shape>(&shape_);
    return chain ? std::min(cap_, chain->cap_after(std::max<std::uint64_t>(failures, 1))) : cap_;
}

backoff backoff::cap(saturating_duration greatest) const {
    detail::non_negative("cap", greatest);
    if (!calls_user(shape_) && greatest < uncapped_ceiling(shape_, 1))
        detail::refuse("cap", greatest, "must not be below the base", uncapped_ceiling(shape_, 1));
    backoff changed(*this);
    changed.cap_ = greatest;
    return changed;
}

backoff constant(saturating_duration value) {
    return backoff(detail::constant_shape{detail::non_negative("constant", value)});
}

backoff linear(saturating_duration initial, saturating_duration step) {
    return backoff(detail::linear_shape{detail::non_negative("linear.initial", initial),
                                        detail::non_negative("linear.step", step)});
}

backoff exponential(saturating_duration base, double factor) {
    return backoff(detail::exponential_shape(detail::non_negative("exponential.base", base),
                                             growing("exponential.factor", factor)));
}

backoff stepwise_exponential(saturating_duration base, double factor, saturating_duration greatest) {
    detail::non_negative("stepwise_exponential.base", base);
    growing("stepwise_exponential.factor", factor);
    if (greatest < base)
        detail::refuse("stepwise_exponential.greatest", greatest, "must not be below the base", base);
    return backoff(detail::stepwise_exponential_shape{base, factor, greatest});
}

backoff polynomial(saturating_duration base, std::int64_t exponent) {
    return backoff(detail::polynomial_shape{detail::non_negative("polynomial.base", base),
                                            at_least(0, "polynomial.exponent", exponent)});
}

backoff fibonacci(saturating_duration base) {
    return backoff(detail::fibonacci_shape{detail::non_negative("fibonacci.base", base)});
}

backoff truncated_binary(std::int64_t growing_failures, saturating_duration greatest) {
    return backoff(
        detail::truncated_binary_shape{at_least(1, "truncated_binary.growing_failures", growing_failures),
                                       detail::non_negative("truncated_binary.greatest", greatest)});
}

backoff slotted_binary(saturating_duration slot, std::int64_t greatest_exponent) {
    if (slot <= duration::zero())
        detail::refuse("slotted_binary.slot", slot, "must be positive");
    return backoff(
        detail::slotted_binary_shape{slot, at_least(1, "slotted_binary.greatest_exponent", greatest_exponent)});
}

backoff schedule(std::vector<duration> delays) {
    if (delays.empty())
        detail::refuse("schedule", "{}", "must have at least one delay");
    for (duration const d : delays)
        detail::non_negative("schedule", d);
    return backoff(detail::schedule_shape{std::make_shared<std::vector<duration> const>(std::move(delays))});
}

backoff schedule(std::initializer_list<saturating_duration> delays) {
    return schedule(std::vector<duration>(delays.begin(), delays.end()));
}

backoff chained(backoff first, std::int64_t failures, backoff then) {
    std::uint64_t const count = at_least(1, "chained.failures", failures);
    int const depth = std::max(depth_of(first), depth_of(then)) + 1;
    if (depth > detail::greatest_depth)
        detail::refuse("chained", std::to_string(depth) + " backoffs inside one another",
                       "must be at most " + std::to_string(detail::greatest_depth));
    return backoff(detail::chained_shape{std::make_shared<backoff const>(std::move(first)), count,
                                         std::make_shared<backoff const>(std::move(then)), depth});
}

backoff first_at_once(backoff then) {
    return chained(constant(duration::zero()).cap(duration::zero()), 1, std::move(then));
}

} // namespace asio_retry
