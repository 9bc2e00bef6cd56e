#include "xml_text.hpp"

#include <cstddef>

namespace asio_retry::tool {
namespace {

constexpr char const unknown_character[] = "\xEF\xBF\xBD";

bool is_of_xml(char32_t code) {
    if (code < 0x20)
        return code == '\t' || code == '\n' || code == '\r';
    return code < 0xD800 || (code > 0xDFFF && code < 0xFFFE) || (code > 0xFFFF && code <= 0x10FFFF);
}

/// The number of bytes of the first character; 0 if XML cannot hold it.
std::size_t size_of_character(std::string_view text) {
    constexpr char32_t least[] = {0, 0, 0x80, 0x800, 0x10000}; // a smaller character has a shorter form
    auto const first = static_cast<unsigned char>(text.front());
    if (first < 0x80)
        return is_of_xml(first) ? 1 : 0;
    std::size_t const size = first < 0xC0 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : first < 0xF8 ? 4 : 0;
    if (size == 0 || text.size() < size)
        return 0;
    char32_t code = first & (0x7Fu >> size);
    for (char const c : text.substr(1, size - 1)) {
        auto const byte = static_cast<unsigned char>(c);
        if ((byte & 0xC0) != 0x80)
            return 0;
        code = code << 6 | (byte & 0x3Fu);
    }
    return code >= least[size] && is_of_xml(code) ? size : 0;
}

} // namespace

std::string xml_escaped(std::string_view text) {
    std::string result;
    while (!text.empty()) {
        std::size_t const size = size_of_character(text);
        if (size == 0)
            result += unknown_character;
        else if (text.front() == '&')
            result += "&amp;";
        else if (text.front() == '<')
            result += "&lt;";
        else if (text.front() == '>')
            result += "&gt;";
        else
            result += text.substr(0, size);
        text.remove_prefix(size == 0 ? 1 : size);
    }
    return result;
}

} // namespace asio_retry::tool
