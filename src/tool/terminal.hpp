#pragma once

#include <cstddef>
#include <limits>
#include <string>

namespace asio_retry::tool {

inline constexpr std::size_t no_limit = std::numeric_limits<std::size_t>::max();

/// How an output can be shown.
struct view {
    std::size_t width = no_limit; ///< in columns; no_limit where nobody looks at it
    bool colour = false;
    bool unicode = false;
};

enum class colours { automatic, on, off };

/// Of standard output: colour where it is a terminal and NO_COLOR is not set, the width of COLUMNS or of the
/// terminal, and more than ASCII where the locale says UTF-8.
view view_of_output(colours colour);

bool errors_are_on_a_terminal();
std::size_t width_of_errors();

/// In colour, if the view has any. The codes are those of a terminal: 1 for bold, 2 for faint, 31 to 36.
std::string coloured(view const& on, char const* code, std::string const& text);

} // namespace asio_retry::tool
