#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <utility>
#include <vector>

namespace asio_retry::detail {

template <typename Value>
concept ordered = requires(Value const& a, Value const& b) {
    { a < b } -> std::convertible_to<bool>;
};

/// Finds values in a list by <, or one by one by == if they have no <. Refers to the values.
template <typename Value>
    requires ordered<Value> || std::equality_comparable<Value>
class value_finder {
public:
    explicit value_finder(std::vector<Value const*> values)
        : values_(std::move(values))
        , order_(values_.size()) {
        for (std::size_t i = 0; i < order_.size(); ++i)
            order_[i] = i;
        if constexpr (ordered<Value>)
            std::ranges::sort(order_, [&](std::size_t a, std::size_t b) {
                return *values_[a] < *values_[b] || (a < b && !(*values_[b] < *values_[a]));
            });
    }

    /// The position of the first value that equals this one, or the number of values if none does.
    std::size_t find(Value const& wanted) const {
        auto found = order_.end();
        if constexpr (ordered<Value>) {
            found =
                std::lower_bound(order_.begin(), found, wanted, [&](std::size_t position, Value const& value) {
                    return *values_[position] < value;
                });
            if (found != order_.end() && wanted < *values_[*found])
                found = order_.end();
        } else {
            found = std::find_if(order_.begin(), found,
                                 [&](std::size_t position) { return *values_[position] == wanted; });
        }
        return found == order_.end() ? values_.size() : *found;
    }

private:
    std::vector<Value const*> values_;
    std::vector<std::size_t> order_; // positions, the least value first; equal values as in the list
};

} // namespace asio_retry::detail
