#include "text/build.hpp"

#include <asio_retry/profiles.hpp>

namespace asio_retry::detail {

std::optional<retry_policy> profile_named(std::string_view name) {
    auto const* const found = profiles::find(name);
    return found ? std::optional(found->make()) : std::nullopt;
}

} // namespace asio_retry::detail
