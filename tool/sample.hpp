#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace asio_retry::tool {

/// The quantile: a share of at least `fraction` does not exceed it. Precondition: sorted, not empty.
template <typename T>
T quantile(std::vector<T> const& sorted, double fraction) {
    auto const rank = static_cast<std::size_t>(std::ceil(fraction * static_cast<double>(sorted.size())));
    return sorted[std::clamp<std::size_t>(rank, 1, sorted.size()) - 1];
}

/// The numbers from many trials.
class sample {
public:
    void add(double value) { values_.push_back(value); }

    std::size_t size() const { return values_.size(); }

    double mean() const {
        double total = 0;
        for (double const v : values_)
            total += v;
        return total / static_cast<double>(values_.size());
    }

    double standard_deviation() const {
        if (values_.size() < 2)
            return 0;
        double const centre = mean();
        double squares = 0;
        for (double const v : values_)
            squares += (v - centre) * (v - centre);
        return std::sqrt(squares / static_cast<double>(values_.size() - 1));
    }

    std::vector<double> sorted() const {
        std::vector<double> result = values_;
        std::sort(result.begin(), result.end());
        return result;
    }

private:
    std::vector<double> values_;
};

} // namespace asio_retry::tool
