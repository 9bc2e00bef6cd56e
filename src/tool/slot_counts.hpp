#pragma once

#include <asio_retry/duration.hpp>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace asio_retry::tool {

/// How often something happened in each slot of time.
class slot_counts {
public:
    explicit slot_counts(duration slot)
        : slot_(slot) {}

    void count(time_point now) {
        auto const index = static_cast<std::size_t>(now.time_since_epoch() / slot_);
        if (index >= counts_.size())
            counts_.resize(index + 1);
        ++counts_[index];
    }

    /// Zero where nothing was counted.
    double at(std::size_t slot) const { return slot < counts_.size() ? counts_[slot] : 0; }

    /// In a slot that begins at `begin` or later.
    double greatest(time_point begin) const {
        double result = 0;
        for (auto i = static_cast<std::size_t>(begin.time_since_epoch() / slot_); i < counts_.size(); ++i)
            result = std::max(result, counts_[i]);
        return result;
    }

private:
    duration slot_;
    std::vector<double> counts_;
};

/// In which slot one begins from which on every one is at least `least`, but for what is before `first`;
/// as many as there are if even the last one is less.
inline std::size_t steady_from(std::vector<double> const& slots, std::size_t first, double least) {
    std::size_t result = slots.size();
    while (result > first && slots[result - 1] >= least)
        --result;
    return result;
}

} // namespace asio_retry::tool
