#include "text/text_gates.hpp"

#include <asio_retry/detail/policy/refuse.hpp>

#include <limits>
#include <string>
#include <string_view>

namespace asio_retry::detail {
namespace {

/// The type of this deleter marks a gate that a text has made: a `shared_ptr` has no place for another mark.
struct deleter_of_text {
    void operator()(rate_limit* made) const noexcept { delete made; }
};

std::uint32_t narrowed(std::string_view field, std::int64_t value) {
    if (value <= 0)
        refuse(field, std::to_string(value), "must be positive");
    if (value > std::numeric_limits<std::uint32_t>::max())
        refuse(field, std::to_string(value), "must be less than 2^32");
    return static_cast<std::uint32_t>(value);
}

} // namespace

std::shared_ptr<retry_gate> make_rate_limit(std::int64_t n, duration per, std::int64_t burst) {
    std::uint32_t const count = narrowed("rate_limit.n", n), at_once = narrowed("rate_limit.burst", burst);
    return std::shared_ptr<rate_limit>(new rate_limit(count, per, at_once), deleter_of_text());
}

std::shared_ptr<rate_limit> rate_limit_of_text(std::shared_ptr<retry_gate> const& gate) noexcept {
    return std::get_deleter<deleter_of_text>(gate) ? std::static_pointer_cast<rate_limit>(gate) : nullptr;
}

std::optional<rate_limit_numbers> numbers_of(retry_gate const* gate) noexcept {
    auto const* const limit = dynamic_cast<rate_limit const*>(gate);
    return limit ? std::optional(limit->numbers()) : std::nullopt;
}

} // namespace asio_retry::detail
