#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace asio_retry::tool {

/// The number of letters to insert, delete, change or swap with the next one.
inline std::size_t distance_of(std::string_view from, std::string_view to) {
    std::vector<std::size_t> before, last(to.size() + 1), now(to.size() + 1);
    for (std::size_t j = 0; j <= to.size(); ++j)
        last[j] = j;
    for (std::size_t i = 1; i <= from.size(); ++i) {
        now[0] = i;
        for (std::size_t j = 1; j <= to.size(); ++j) {
            now[j] = std::min({last[j] + 1, now[j - 1] + 1, last[j - 1] + (from[i - 1] == to[j - 1] ? 0 : 1)});
            if (i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1])
                now[j] = std::min(now[j], before[j - 2] + 1);
        }
        before = last;
        last = now;
    }
    return last[to.size()];
}

/// ": did you mean ...?" if a word resembles the written text; otherwise nothing.
inline std::string did_you_mean(std::string_view written, std::vector<std::string> const& words) {
    constexpr std::size_t longest = 40;
    if (written.empty() || written.size() > longest)
        return "";
    std::string const* nearest = nullptr;
    std::size_t least = std::max<std::size_t>(1, written.size() / 3) + 1;
    for (std::string const& word : words)
        if (std::size_t const d = distance_of(written, word); d < least) {
            least = d;
            nearest = &word;
        }
    return nearest ? ": did you mean " + *nearest + "?" : "";
}

} // namespace asio_retry::tool
