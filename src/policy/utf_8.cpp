#include "policy/utf_8.hpp"

namespace asio_retry::detail {

std::size_t length_of_first_character(std::string_view text) noexcept {
    auto const byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
    auto const is_tail = [&](std::size_t i, unsigned least = 0x80, unsigned greatest = 0xbf) {
        return least <= byte(i) && byte(i) <= greatest;
    };
    unsigned const first = byte(0);
    if (first < 0x80)
        return 1;
    if (0xc2 <= first && first <= 0xdf)
        return is_tail(1) ? 2 : 0;
    if (0xe0 <= first && first <= 0xef) // no form that is too long, and no surrogate
        return is_tail(1, first == 0xe0 ? 0xa0 : 0x80, first == 0xed ? 0x9f : 0xbf) && is_tail(2) ? 3 : 0;
    if (0xf0 <= first && first <= 0xf4)
        return is_tail(1, first == 0xf0 ? 0x90 : 0x80, first == 0xf4 ? 0x8f : 0xbf) && is_tail(2) && is_tail(3)
                   ? 4
                   : 0;
    return 0;
}

bool is_utf_8(std::string_view text) noexcept {
    while (!text.empty()) {
        std::size_t const length = length_of_first_character(text);
        if (length == 0)
            return false;
        text.remove_prefix(length);
    }
    return true;
}

} // namespace asio_retry::detail
