#include <asio_retry/deadline_fields.hpp>

#include <asio_retry/detail/policy/refuse.hpp>

#include "policy/field_text.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>

namespace asio_retry {
namespace {

struct timeout_unit {
    char letter;
    duration one;
};

/// The units of the field, the finest first.
constexpr timeout_unit timeout_units[] = {
    {'n', std::chrono::nanoseconds(1)},  {'u', std::chrono::microseconds(1)},
    {'m', std::chrono::milliseconds(1)}, {'S', std::chrono::seconds(1)},
    {'M', std::chrono::minutes(1)},      {'H', std::chrono::hours(1)}};
constexpr std::size_t timeout_digits = 8;
constexpr std::int64_t greatest_timeout = 99'999'999;
static_assert(duration::max() / std::chrono::hours(1) <= greatest_timeout, "every duration has a unit");

/// The time left until `deadline`, less the margin; at least zero.
duration time_to_tell(time_point deadline, time_point now, duration margin) noexcept {
    return std::max(duration::zero(), elapsed_between(now, deadline) - margin);
}

} // namespace

std::string to_grpc_timeout(saturating_time_point deadline, time_point now, saturating_duration margin) {
    detail::non_negative("to_grpc_timeout.margin", margin);
    if (deadline == time_point::max())
        return {};
    duration const left = time_to_tell(deadline, now, margin);
    if (left == duration::zero())
        return "0m";
    auto const unit = std::ranges::find_if(
        timeout_units, [&](timeout_unit const& each) { return left / each.one <= greatest_timeout; });
    return std::to_string(left / unit->one) + unit->letter;
}

std::optional<duration> parse_grpc_timeout(std::string_view text) noexcept {
    if (text.empty() || text.size() > timeout_digits + 1)
        return std::nullopt;
    auto const unit = std::ranges::find(timeout_units, text.back(), &timeout_unit::letter);
    text.remove_suffix(1);
    auto const count = detail::whole_number<std::int64_t>(text);
    if (unit == std::end(timeout_units) || !count)
        return std::nullopt;
    return *count > duration::max() / unit->one ? duration::max() : *count * unit->one;
}

std::string to_timeout_ms(saturating_time_point deadline, time_point now, saturating_duration margin) {
    detail::non_negative("to_timeout_ms.margin", margin);
    if (deadline == time_point::max())
        return {};
    return std::to_string(time_to_tell(deadline, now, margin) / std::chrono::milliseconds(1));
}

std::optional<duration> parse_timeout_ms(std::string_view text) noexcept {
    auto const count = detail::whole_number<std::int64_t>(text);
    if (!count)
        return std::nullopt;
    return saturating_duration(std::chrono::milliseconds(*count));
}

} // namespace asio_retry
