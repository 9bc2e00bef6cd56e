#pragma once

#include <asio_retry/observe/retry_metrics.hpp>

#include <string>
#include <string_view>

namespace asio_retry::detail {

/// Counts the operations of the policies that have no place of their own.
inline constexpr std::string_view other_names = "other";

/// The operations of one `retry_policy::name`.
struct named_counts {
    explicit named_counts(std::string_view given)
        : name(given) {}

    std::string const name;
    operation_counts counts;
};

/// A snapshot of the counts of one name, which may change meanwhile.
retry_counts seen_counts(operation_counts const& counts) noexcept;
void add_counts(retry_counts& to, retry_counts const& more) noexcept;

} // namespace asio_retry::detail

namespace asio_retry {

/// Calls `visit(name, counts)`: for the operations without a name, for each name, and for other names if there
/// are any.
template <typename Visit>
void retry_metrics::for_each_name(Visit visit) const {
    visit(std::string_view(), unnamed_);
    for (auto const& place : named_) {
        detail::named_counts const* const known = place.load(std::memory_order_acquire);
        if (!known)
            break;
        visit(std::string_view(known->name), known->counts);
    }
    if (other_.operations != 0)
        visit(detail::other_names, other_);
}

} // namespace asio_retry
