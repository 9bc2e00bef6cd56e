#include <asio_retry/traffic/idempotency_key.hpp>

#include <asio_retry/random.hpp>

#include <initializer_list>

namespace asio_retry {
namespace {

constexpr std::uint64_t with_version(std::uint64_t high) noexcept {
    return (high & ~std::uint64_t(0xf000)) | 0x4000;
}

constexpr std::uint64_t with_variant(std::uint64_t low) noexcept {
    return (low & (~std::uint64_t(0) >> 2)) | std::uint64_t(1) << 63;
}

} // namespace

idempotency_key::idempotency_key(std::uint64_t high, std::uint64_t low) noexcept
    : high_(with_version(high))
    , low_(with_variant(low)) {}

idempotency_key idempotency_key::random() {
    std::uint64_t const high = entropy_seed(), low = entropy_seed();
    return {high, low};
}

std::string idempotency_key::to_string() const {
    std::string text;
    text.reserve(36);
    for (std::uint64_t const half : {high_, low_})
        for (int shift = 60; shift >= 0; shift -= 4) {
            if (auto const at = text.size(); at == 8 || at == 13 || at == 18 || at == 23)
                text += '-';
            text += "0123456789abcdef"[half >> shift & 0xf];
        }
    return text;
}

std::string idempotency_field_value(idempotency_key const& key) {
    return '"' + key.to_string() + '"';
}

} // namespace asio_retry
