#pragma once

#include <cstddef>
#include <limits>
#include <string>

namespace asio_retry::tool {

inline constexpr std::size_t no_limit = std::numeric_limits<std::size_t>::max();

/// The abilities of an output.
struct view {
    std::size_t width = no_limit; ///< in columns; no_limit for a file or a pipe
    bool colour = false;
    bool unicode = false;
};

enum class colours { automatic, on, off };

/// The view of standard output: colour if it is a terminal and NO_COLOR is not set, and the width from COLUMNS
/// or the terminal. More than ASCII if the locale says UTF-8.
view view_of_output(colours colour);

bool errors_are_on_a_terminal();
std::size_t width_of_errors();

/// Adds colour, if the view has any. The codes are the terminal's: 1 for bold, 2 for faint, 31 to 36.
std::string coloured(view const& on, char const* code, std::string const& text);

} // namespace asio_retry::tool
