#pragma once

#include <asio_retry/duration.hpp>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace asio_retry::lab {

/// Counts events in slots of time.
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

    /// Zero for a slot without events.
    double at(std::size_t slot) const { return slot < counts_.size() ? counts_[slot] : 0; }

    /// The greatest count of a slot that begins at `begin` or later.
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

/// The slot from which on every slot has at least `least`, ignoring slots before `first`. If even the last slot
/// has less, the number of slots.
inline std::size_t steady_from(std::vector<double> const& slots, std::size_t first, double least) {
    std::size_t result = slots.size();
    while (result > first && slots[result - 1] >= least)
        --result;
    return result;
}

} // namespace asio_retry::lab
