#include "terminal.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string_view>

#ifdef _WIN32
#include <io.h>
#else
#include <sys/ioctl.h>
#include <unistd.h>
#endif

namespace asio_retry::tool {
namespace {

constexpr std::size_t usual_columns = 80;
constexpr std::size_t fewest_columns = 20;

std::string_view environment(char const* name) {
    char const* const value = std::getenv(name);
    return value ? value : "";
}

bool is_terminal(std::FILE* file) {
#ifdef _WIN32
    return _isatty(_fileno(file)) != 0;
#else
    return isatty(fileno(file)) != 0;
#endif
}

std::optional<std::size_t> columns_asked_for() {
    std::string_view const text = environment("COLUMNS");
    std::size_t number = 0;
    auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size() || number == 0)
        return std::nullopt;
    return number;
}

std::size_t width_of(std::FILE* file) {
    if (auto const asked = columns_asked_for())
        return std::max(*asked, fewest_columns);
    if (!is_terminal(file))
        return no_limit;
#ifndef _WIN32
    winsize size{};
    if (ioctl(fileno(file), TIOCGWINSZ, &size) == 0 && size.ws_col != 0)
        return std::max<std::size_t>(size.ws_col, fewest_columns);
#endif
    return usual_columns;
}

/// Chooses as the C library does, which would need the locale to be installed.
bool locale_is_utf_8() {
    for (char const* const name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
        std::string value(environment(name));
        std::transform(value.begin(), value.end(), value.begin(),
                       [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
        if (!value.empty())
            return value.find("utf-8") != std::string::npos || value.find("utf8") != std::string::npos;
    }
    return false;
}

} // namespace

view view_of_output(colours colour) {
    bool const by_itself =
        is_terminal(stdout) && environment("NO_COLOR").empty() && environment("TERM") != "dumb";
    return {width_of(stdout), colour == colours::on || (colour == colours::automatic && by_itself),
            locale_is_utf_8()};
}

bool errors_are_on_a_terminal() {
    return is_terminal(stderr);
}

std::size_t width_of_errors() {
    return width_of(stderr);
}

std::string coloured(view const& on, char const* code, std::string const& text) {
    if (!on.colour || text.empty())
        return text;
    return "\x1b[" + std::string(code) + "m" + text + "\x1b[0m";
}

} // namespace asio_retry::tool
