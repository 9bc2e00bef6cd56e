#pragma once

#include "terminal.hpp"

#include <cstddef>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace asio_retry::tool {

/// The columns that a text of UTF-8 takes, if all its letters are of the usual width.
std::size_t columns_of(std::string_view text);

/// Its beginning, in at most so many bytes, and no letter of UTF-8 in part.
std::string_view first_letters(std::string_view text, std::size_t most_bytes);

/// Words in lines of at most `width` columns: the first begins at column `begun`, the others at column
/// `indent`. Paragraphs are separated by an empty line; a line that begins with a space stays as it is.
std::string wrapped(std::string_view text, std::size_t width, std::size_t indent = 0, std::size_t begun = 0);

/// Rows below titles. In a view that is too narrow the columns move together; those that still have no room are
/// left out, the last ones first, and it says so.
class text_table {
public:
    enum class side { left, right };

    /// `roomy` is what the column takes where there is room, with what separates it from the one before.
    void add_column(std::string title, side aligned, std::size_t roomy, int importance = 0);
    void add_row(std::vector<std::string> cells);
    void print(std::ostream& out, view const& on) const;

private:
    struct column {
        std::string title;
        side aligned;
        std::size_t roomy;
        int importance;
        std::size_t content;
    };

    std::size_t width(std::size_t index, bool is_roomy) const;
    bool fits(std::vector<std::size_t> const& shown, std::size_t width, bool is_roomy) const;

    std::vector<column> columns_;
    std::vector<std::vector<std::string>> rows_;
};

} // namespace asio_retry::tool
