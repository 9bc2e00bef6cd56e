#include "text/build.hpp"

#include <asio_retry/profiles.hpp>

#include <algorithm>
#include <string>

namespace asio_retry::detail {

std::optional<retry_policy> profile_named(std::string_view name) {
    auto const* const found = profiles::find(name);
    return found ? std::optional(found->make()) : std::nullopt;
}

std::optional<retry_policy> bare_profile(std::string_view text) {
    std::size_t const begin = std::min(text.find_first_not_of(white_space), text.size());
    std::string_view const name = text.substr(begin, text.find_last_not_of(white_space) + 1 - begin);
    if (std::optional<retry_policy> const profile = profile_named(name))
        return profile;
    bool const is_one_word =
        name.find_first_of("(=:") == name.npos && name.find_first_of(white_space) == name.npos;
    if (std::string const question = similar_name(name); is_one_word && !question.empty())
        fail_expecting({begin}, "the name of a profile, or items such as max_attempts(10)", name, question);
    return std::nullopt;
}

} // namespace asio_retry::detail
