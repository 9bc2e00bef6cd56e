#include <asio_retry/detail/policy/backoff_shapes.hpp>

#include <asio_retry/backoff.hpp>
#include <asio_retry/detail/policy/refuse.hpp>

#include "policy/wide_number.hpp"

#include <algorithm>
#include <utility>

namespace asio_retry::detail {
namespace {

duration grown(duration base, double factor, std::uint64_t times) noexcept {
    if (base == duration::zero())
        return duration::zero();
    return to_duration(multiply(to_wide(count_of(base)), power(to_wide(factor), times)));
}

} // namespace

duration linear_shape::ceiling(std::uint64_t failures) const noexcept {
    std::uint64_t const steps = std::min(failures - 1, greatest_count);
    std::uint64_t const grown = saturating_multiply(count_of(step), steps);
    return from_count(std::min(count_of(initial) + grown, greatest_count));
}

exponential_shape::exponential_shape(duration b, double f)
    : base(b)
    , factor(f) {
    for (std::size_t i = 0; i != first.size(); ++i)
        first[i] = grown(base, factor, i);
}

duration exponential_shape::ceiling(std::uint64_t failures) const noexcept {
    return failures <= first.size() ? first[static_cast<std::size_t>(failures - 1)]
                                    : grown(base, factor, failures - 1);
}

duration stepwise_exponential_shape::ceiling(std::uint64_t failures) const noexcept {
    double const last_to_grow = static_cast<double>(greatest.count()) / factor;
    duration current = base;
    while (--failures != 0) {
        auto const count = static_cast<double>(current.count());
        if (count >= last_to_grow || count * factor >= 0x1p63)
            return greatest;
        duration const next(static_cast<duration::rep>(count * factor));
        if (next == current) // it no longer grows
            break;
        current = next;
    }
    return current;
}

duration polynomial_shape::ceiling(std::uint64_t failures) const noexcept {
    if (base == duration::zero())
        return base;
    return to_duration(multiply(to_wide(count_of(base)), power(to_wide(failures), exponent)));
}

duration fibonacci_shape::ceiling(std::uint64_t failures) const noexcept {
    std::uint64_t last = 0;
    std::uint64_t current = 1;
    while (--failures != 0 && current < greatest_count)
        last = std::exchange(current, last + current);
    return from_count(saturating_multiply(count_of(base), current));
}

duration truncated_binary_shape::ceiling(std::uint64_t failures) const noexcept {
    std::uint64_t const halvings = growing_failures - std::min(failures, growing_failures);
    return halvings > 62 ? duration::zero() : duration(greatest.count() >> halvings);
}

duration slotted_binary_shape::ceiling(std::uint64_t failures) const noexcept {
    std::uint64_t const doublings = std::min({failures, greatest_exponent, std::uint64_t(63)});
    return from_count(saturating_multiply(count_of(slot), (std::uint64_t(1) << doublings) - 1));
}

duration schedule_shape::ceiling(std::uint64_t failures) const noexcept {
    return (*delays)[static_cast<std::size_t>(std::min<std::uint64_t>(failures, delays->size())) - 1];
}

duration chained_shape::ceiling(std::uint64_t count) const {
    return count <= failures ? first->ceiling(count) : then->ceiling(count - failures);
}

duration chained_shape::cap_after(std::uint64_t count) const noexcept {
    return count <= failures ? first->cap_after(count) : then->cap_after(count - failures);
}

duration custom_shape::ceiling(std::uint64_t failures) const {
    return non_negative("backoff", function(failures));
}

} // namespace asio_retry::detail
