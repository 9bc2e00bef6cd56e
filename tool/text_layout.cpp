#include "text_layout.hpp"

#include <algorithm>
#include <numeric>

namespace asio_retry::tool {
namespace {

constexpr std::size_t column_gap = 2;

bool begins_letter(char c) {
    return (c & 0xC0) != 0x80;
}

std::string line_of_words(std::string_view line, std::size_t width, std::size_t indent, std::size_t& at) {
    std::string result;
    bool is_first = true;
    while (!line.empty()) {
        std::size_t const length = std::min(line.find(' '), line.size());
        std::string_view const word = line.substr(0, length);
        line.remove_prefix(std::min(length + 1, line.size()));
        if (word.empty())
            continue;
        std::size_t const columns = columns_of(word);
        if (!is_first && at + 1 + columns > width) {
            result += '\n' + std::string(indent, ' ');
            at = indent;
        } else if (!is_first) {
            result += ' ';
            ++at;
        }
        result += word;
        at += columns;
        is_first = false;
    }
    return result;
}

} // namespace

std::size_t columns_of(std::string_view text) {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), begins_letter));
}

std::string_view first_letters(std::string_view text, std::size_t most_bytes) {
    if (text.size() <= most_bytes)
        return text;
    while (most_bytes != 0 && !begins_letter(text[most_bytes]))
        --most_bytes;
    return text.substr(0, most_bytes);
}

std::string wrapped(std::string_view text, std::size_t width, std::size_t indent, std::size_t begun) {
    std::string result, running;
    std::size_t at = begun;
    auto const finish = [&] {
        result += line_of_words(running, width, indent, at);
        running.clear();
    };
    auto const new_line = [&] {
        if (!result.empty())
            result += '\n' + std::string(indent, ' ');
        at = indent;
    };
    while (!text.empty()) {
        std::size_t const length = std::min(text.find('\n'), text.size());
        std::string const line(text.substr(0, length));
        text.remove_prefix(std::min(length + 1, text.size()));
        if (!line.empty() && line.front() != ' ') {
            if (running.empty() && !result.empty())
                new_line();
            running += line + ' ';
            continue;
        }
        finish();
        if (line.empty()) {
            result += '\n';
            continue;
        }
        new_line();
        result += line;
    }
    finish();
    return result;
}

void text_table::add_column(std::string title, side aligned, std::size_t roomy, int importance) {
    std::size_t const content = columns_of(title);
    columns_.push_back({std::move(title), aligned, roomy, importance, content});
}

void text_table::add_row(std::vector<std::string> cells) {
    for (std::size_t i = 0; i != cells.size(); ++i)
        columns_[i].content = std::max(columns_[i].content, columns_of(cells[i]));
    rows_.push_back(std::move(cells));
}

std::size_t text_table::width(std::size_t index, bool is_roomy) const {
    column const& c = columns_[index];
    std::size_t const least = c.content + (index == 0 ? 0 : column_gap);
    return is_roomy ? std::max(least, c.roomy) : least;
}

bool text_table::fits(std::vector<std::size_t> const& shown, std::size_t width_of_all, bool is_roomy) const {
    return std::accumulate(shown.begin(), shown.end(), std::size_t(0), [&](std::size_t sum, std::size_t i) {
               return sum + width(i, is_roomy);
           }) <= width_of_all;
}

void text_table::print(std::ostream& out, view const& on) const {
    std::vector<std::size_t> shown(columns_.size());
    std::iota(shown.begin(), shown.end(), std::size_t(0));
    bool const is_roomy = fits(shown, on.width, true);
    while (shown.size() > 1 && !fits(shown, on.width, is_roomy)) {
        auto least = shown.end() - 1;
        for (auto each = shown.begin() + 1; each != shown.end(); ++each)
            if (columns_[*each].importance < columns_[*least].importance)
                least = each;
        shown.erase(least);
    }
    auto const line = [&](auto&& cell_of) {
        std::string text;
        for (std::size_t const i : shown) {
            std::string const& cell = cell_of(i);
            std::size_t const before = i == 0 ? 0 : column_gap;
            std::string const padding(width(i, is_roomy) - before - columns_of(cell), ' ');
            text += std::string(before, ' ');
            text += columns_[i].aligned == side::right ? padding + cell : cell + padding;
        }
        text.erase(text.find_last_not_of(' ') + 1);
        return text;
    };
    out << coloured(on, "1", line([&](std::size_t i) -> std::string const& { return columns_[i].title; }))
        << '\n';
    for (auto const& row : rows_)
        out << line([&](std::size_t i) -> std::string const& { return row[i]; }) << '\n';
    std::string left_out;
    for (std::size_t i = 0; i != columns_.size(); ++i)
        if (std::find(shown.begin(), shown.end(), i) == shown.end())
            left_out += (left_out.empty() ? "" : ", ") + columns_[i].title;
    if (!left_out.empty())
        out << coloured(on, "2", wrapped("(no room for " + left_out + ", which --format csv has)", on.width))
            << '\n';
}

} // namespace asio_retry::tool
