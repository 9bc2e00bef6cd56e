#include "policy/shown_text.hpp"

namespace asio_retry::detail {

std::string shown(std::string_view found, std::size_t most) {
    constexpr char hexadecimal[] = "0123456789abcdef";
    std::string text;
    for (char const c : found.substr(0, most)) {
        auto const byte = static_cast<unsigned char>(c);
        if (byte >= 0x20 && byte < 0x7f)
            text += c;
        else
            text.append("\\x").append({hexadecimal[byte / 16], hexadecimal[byte % 16]});
    }
    return text + (found.size() > most ? "..." : "");
}

} // namespace asio_retry::detail
