#include "text/nearest.hpp"

#include <algorithm>
#include <array>

namespace asio_retry::detail {
namespace {

// A longer text is no misspelled name.
constexpr std::size_t longest = 40;

char lower(char c) noexcept {
    return 'A' <= c && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

/// The number of letters to insert, delete or change, ignoring case. Precondition: neither is longer than
/// `longest`.
std::size_t edit_distance(std::string_view from, std::string_view to) noexcept {
    std::array<std::size_t, longest + 1> row{};
    for (std::size_t j = 0; j <= to.size(); ++j)
        row[j] = j;
    for (std::size_t i = 1; i <= from.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i;
        for (std::size_t j = 1; j <= to.size(); ++j) {
            std::size_t const changed = diagonal + (lower(from[i - 1]) == lower(to[j - 1]) ? 0 : 1);
            diagonal = row[j];
            row[j] = std::min({row[j] + 1, row[j - 1] + 1, changed});
        }
    }
    return row[to.size()];
}

} // namespace

nearest::nearest(std::string_view found)
    : found_(found)
    , least_(found.empty() || found.size() > longest ? 0 : (found.size() + 2) / 4 + 1) {}

void nearest::consider(std::string_view name) {
    if (least_ == 0 || name == found_ || name.empty() || name.size() > longest)
        return;
    if (std::size_t const distance = edit_distance(found_, name); distance < least_) {
        least_ = distance;
        best_ = name;
    }
}

std::string nearest::question() const {
    return best_.empty() ? std::string() : "; did you mean " + std::string(best_) + '?';
}

} // namespace asio_retry::detail
