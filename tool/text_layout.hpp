#pragma once

#include "terminal.hpp"

#include <cstddef>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace asio_retry::tool {

/// The columns of a UTF-8 text, if all its letters have the usual width.
std::size_t columns_of(std::string_view text);

/// The beginning of the text in at most `most_bytes` bytes, without a partial UTF-8 letter.
std::string_view first_letters(std::string_view text, std::size_t most_bytes);

/// Wraps text to lines of at most `width` columns. The first line begins at column `begun`, the others at
/// column `indent`. An empty line separates paragraphs; a line that begins with a space stays unchanged.
std::string wrapped(std::string_view text, std::size_t width, std::size_t indent = 0, std::size_t begun = 0);

/// A table with titles. In a narrow view the columns move together. Columns without room are left out, the last
/// ones first, and the table says so.
class text_table {
public:
    enum class side { left, right };

    /// `roomy` is the column's width when there is room, its separator included.
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
