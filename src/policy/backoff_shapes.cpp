#include "policy/backoff_shapes.hpp"

#include <asio_retry/detail/policy/refuse.hpp>

#include "policy/wide_number.hpp"

#include <algorithm>
#include <utility>

namespace asio_retry::detail {
namespace {

duration linear_ceiling(backoff_shape const& shape, std::uint64_t failures) noexcept {
    std::uint64_t const steps = std::min(failures - 1, greatest_count);
    std::uint64_t const grown = saturating_multiply(count_of(shape.step), steps);
    return from_count(std::min(count_of(shape.base) + grown, greatest_count));
}

duration exponential_ceiling(backoff_shape const& shape, std::uint64_t failures) noexcept {
    return failures <= shape.early.size() ? shape.early[static_cast<std::size_t>(failures - 1)]
                                          : grown(shape.base, shape.factor, failures - 1);
}

duration stepwise_ceiling(backoff_shape const& shape, std::uint64_t failures) noexcept {
    double const last_to_grow = static_cast<double>(shape.greatest.count()) / shape.factor;
    duration current = shape.base;
    while (--failures != 0) {
        auto const count = static_cast<double>(current.count());
        if (count >= last_to_grow || count * shape.factor >= 0x1p63)
            return shape.greatest;
        duration const next(static_cast<duration::rep>(count * shape.factor));
        if (next == current) // it no longer grows
            break;
        current = next;
    }
    return current;
}

duration polynomial_ceiling(backoff_shape const& shape, std::uint64_t failures) noexcept {
    if (shape.base == duration::zero())
        return shape.base;
    return to_duration(multiply(to_wide(count_of(shape.base)), power(to_wide(failures), shape.count)));
}

duration fibonacci_ceiling(backoff_shape const& shape, std::uint64_t failures) noexcept {
    std::uint64_t last = 0;
    std::uint64_t current = 1;
    while (--failures != 0 && current < greatest_count)
        last = std::exchange(current, last + current);
    return from_count(saturating_multiply(count_of(shape.base), current));
}

duration truncated_ceiling(backoff_shape const& shape, std::uint64_t failures) noexcept {
    std::uint64_t const halvings = shape.count - std::min(failures, shape.count);
    return halvings > 62 ? duration::zero() : duration(shape.greatest.count() >> halvings);
}

duration slotted_ceiling(backoff_shape const& shape, std::uint64_t failures) noexcept {
    std::uint64_t const doublings = std::min({failures, shape.count, std::uint64_t(63)});
    return from_count(saturating_multiply(count_of(shape.base), (std::uint64_t(1) << doublings) - 1));
}

duration scheduled(std::vector<duration> const& delays, std::uint64_t failures) noexcept {
    return delays[static_cast<std::size_t>(std::min<std::uint64_t>(failures, delays.size())) - 1];
}

} // namespace

duration grown(duration base, double factor, std::uint64_t times) noexcept {
    if (base == duration::zero())
        return duration::zero();
    return to_duration(multiply(to_wide(count_of(base)), power(to_wide(factor), times)));
}

duration backoff_shape::ceiling(std::uint64_t failures) const {
    switch (kind) {
    case backoff_kind::constant:
        return base;
    case backoff_kind::linear:
        return linear_ceiling(*this, failures);
    case backoff_kind::exponential:
        return exponential_ceiling(*this, failures);
    case backoff_kind::stepwise_exponential:
        return stepwise_ceiling(*this, failures);
    case backoff_kind::polynomial:
        return polynomial_ceiling(*this, failures);
    case backoff_kind::fibonacci:
        return fibonacci_ceiling(*this, failures);
    case backoff_kind::truncated_binary:
        return truncated_ceiling(*this, failures);
    case backoff_kind::slotted_binary:
        return slotted_ceiling(*this, failures);
    case backoff_kind::schedule:
        return scheduled(*delays, failures);
    case backoff_kind::chained:
        return failures <= count ? first->ceiling(failures) : then->ceiling(failures - count);
    case backoff_kind::custom:
        break;
    }
    return non_negative("backoff", function(failures));
}

} // namespace asio_retry::detail
