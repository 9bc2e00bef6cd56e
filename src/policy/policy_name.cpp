#include "policy/policy_name.hpp"

#include "policy/shown_text.hpp"
#include "policy/utf_8.hpp"

#include <asio_retry/detail/policy/refuse.hpp>

#include <string>

namespace asio_retry::detail {
namespace {

/// Control characters of ASCII and ISO 8859, the separators of lines and paragraphs, and two code points that
/// are no characters.
bool is_for_names(std::string_view character) noexcept {
    auto const first = static_cast<unsigned char>(character.front());
    bool const is_control =
        first < 0x20 || first == 0x7f || (character >= "\xc2\x80" && character < "\xc2\xa0");
    bool const is_separator = character == "\xe2\x80\xa8" || character == "\xe2\x80\xa9";
    return !is_control && !is_separator && character != "\xef\xbf\xbe" && character != "\xef\xbf\xbf";
}

} // namespace

std::size_t first_bad_character(std::string_view name) noexcept {
    for (std::size_t at = 0; at != name.size();) {
        std::size_t const bytes = length_of_first_character(name.substr(at));
        if (bytes == 0 || !is_for_names(name.substr(at, bytes)))
            return at;
        at += bytes;
    }
    return name.size();
}

void check_policy_name(std::string_view name) {
    auto const demand = [&](bool is_kept, std::string const& rule) {
        if (!is_kept)
            refuse("name", '"' + shown(name) + '"', rule);
    };
    demand(!name.empty(), "must have at least one character");
    demand(name.size() <= longest_policy_name,
           "must have at most " + std::to_string(longest_policy_name) + " bytes");
    demand(first_bad_character(name) == name.size(), "must be UTF-8 without control characters");
}

} // namespace asio_retry::detail
