#pragma once

#include <asio_retry/detail/policy/config.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace asio_retry {

/// The field in which all attempts of a request carry the same key.
inline constexpr std::string_view idempotency_key_field = "Idempotency-Key";

/// Identifies one request in all its attempts, so that the server carries it out once: a version 4 UUID.
///
/// Make one key for each request, before the operation, so that all attempts send the same key:
///
///     auto const key = idempotency_key::random();
///     co_await async_retry([&] { return post(url, body, key); }, policy);
///
/// Source: RFC 9562 for the UUID.
class idempotency_key {
public:
    /// Makes a unique key: 122 bits of the system's random generator.
    ///
    /// A policy's seed does not change it. Throws what std::random_device throws if the system has no
    /// generator.
    ASIO_RETRY_DECL static idempotency_key random();

    /// Makes a key of these bits, from the left; the bits for version and variant are set.
    ASIO_RETRY_DECL idempotency_key(std::uint64_t high, std::uint64_t low) noexcept;

    /// 36 characters, such as "919108f7-52d1-4320-9bac-f847db4148a8".
    ASIO_RETRY_DECL std::string to_string() const;

    friend bool operator==(idempotency_key const&, idempotency_key const&) noexcept = default;

private:
    std::uint64_t high_;
    std::uint64_t low_;
};

/// The value of `idempotency_key_field`: the key in quotation marks.
///
/// Source: the IETF draft of the Idempotency-Key field.
ASIO_RETRY_DECL std::string idempotency_field_value(idempotency_key const& key);

} // namespace asio_retry
