#pragma once

#include "observe/exposition.hpp"

#include <asio_retry/observe/retry_metrics.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace asio_retry::detail {

/// The bounds of the buckets of a histogram, in ascending order. A bound belongs to the bucket below it. The
/// text shows a value in a unit: `per_unit` of the whole numbers that are counted.
template <std::size_t Bounds>
struct bucket_bounds {
    double per_unit;
    std::array<std::int64_t, Bounds> bounds;

    void add(bucket_counts<Bounds>& counts, std::int64_t value) const noexcept {
        auto const bucket = std::ranges::lower_bound(bounds, value) - bounds.begin();
        counts.values[static_cast<std::size_t>(bucket)].fetch_add(1, std::memory_order_relaxed);
        double const shown = in_unit(value);
        double sum = counts.sum.load(std::memory_order_relaxed);
        while (!counts.sum.compare_exchange_weak(sum, sum + shown, std::memory_order_relaxed))
            ;
    }

    /// Writes the samples of one histogram of the family. `labels` tell it from the others.
    void write(exposition& text, std::string_view family, bucket_counts<Bounds> const& counts,
               std::string_view labels = {}) const {
        std::string const name(family);
        std::string const before = labels.empty() ? std::string() : std::string(labels) + ',';
        std::uint64_t count = 0;
        for (std::size_t i = 0; i <= Bounds; ++i) {
            count += counts.values[i].load(std::memory_order_relaxed);
            double const bound = i == Bounds ? std::numeric_limits<double>::infinity() : in_unit(bounds[i]);
            text.sample(name + "_bucket", count, before + "le=\"" + exposition::number(bound) + '"');
        }
        text.sample(name + "_sum", counts.sum.load(std::memory_order_relaxed), labels);
        text.sample(name + "_count", count, labels);
    }

private:
    double in_unit(std::int64_t value) const noexcept { return static_cast<double>(value) / per_unit; }
};

} // namespace asio_retry::detail
