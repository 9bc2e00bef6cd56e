#include <asio_retry/traffic/attempt_histogram.hpp>

#include "policy/field_text.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace asio_retry {
namespace {

constexpr auto greatest_count = std::numeric_limits<std::uint64_t>::max();

std::uint64_t saturating_sum(std::uint64_t a, std::uint64_t b) noexcept {
    return a > greatest_count - b ? greatest_count : a + b;
}

std::size_t bucket_of(std::uint64_t number) noexcept {
    constexpr std::uint64_t last = attempt_histogram::buckets;
    return static_cast<std::size_t>(std::clamp<std::uint64_t>(number, 1, last) - 1);
}

} // namespace

std::string previous_attempts(attempt const& a) {
    return a.number > 1 ? std::to_string(a.number - 1) : std::string();
}

std::optional<std::uint64_t> parse_previous_attempts(std::string_view text) noexcept {
    text = detail::without_blanks(text);
    if (text.empty())
        return 1;
    auto const before = detail::whole_number<std::uint64_t>(text);
    return before ? std::optional(saturating_sum(*before, 1)) : std::nullopt;
}

void attempt_histogram::add(std::uint64_t number, std::uint64_t count) noexcept {
    std::uint64_t& counted = counts_[bucket_of(number)];
    counted = saturating_sum(counted, count);
}

void attempt_histogram::merge(attempt_histogram const& other) noexcept {
    std::ranges::transform(counts_, other.counts_, counts_.begin(), saturating_sum);
}

std::uint64_t attempt_histogram::count(std::uint64_t number) const noexcept {
    return counts_[bucket_of(number)];
}

std::uint64_t attempt_histogram::total() const noexcept {
    return std::accumulate(counts_.begin(), counts_.end(), std::uint64_t(0), saturating_sum);
}

double attempt_histogram::retry_share() const noexcept {
    auto const first = static_cast<double>(counts_.front());
    double const retries = std::accumulate(counts_.begin() + 1, counts_.end(), 0.0);
    return retries > 0 ? retries / (first + retries) : 0;
}

std::string to_string(attempt_histogram const& h) {
    std::uint64_t last = attempt_histogram::buckets;
    while (last > 1 && h.count(last) == 0)
        --last;
    std::string text = std::to_string(h.count(1));
    for (std::uint64_t number = 2; number <= last; ++number)
        text += ',' + std::to_string(h.count(number));
    return text;
}

std::optional<attempt_histogram> parse_attempt_histogram(std::string_view text) noexcept {
    attempt_histogram read;
    for (std::uint64_t number = 1; number <= attempt_histogram::buckets; ++number) {
        auto const end = text.find(',');
        auto const count = detail::whole_number<std::uint64_t>(detail::without_blanks(text.substr(0, end)));
        if (!count)
            return std::nullopt;
        read.add(number, *count);
        if (end == text.npos)
            return read;
        text.remove_prefix(end + 1);
    }
    return std::nullopt;
}

} // namespace asio_retry
