#pragma once

#include <asio_retry/detail/policy/config.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace asio_retry {

/// The field by which a request says what it is known as, over all its attempts.
inline constexpr std::string_view idempotency_key_field = "Idempotency-Key";

/// What one request is known as, however often it is sent, so that its receiver does it once: a UUID of version
/// 4 (RFC 9562).
///
/// Make one for each request, before the operation, so that all its attempts have the same:
///
///     auto const key = idempotency_key::random();
///     co_await async_retry([&] { return post(url, body, key); }, policy);
class idempotency_key {
public:
    /// One that nobody else has: 122 bits of the system's generator, and none of a policy's. Throws what
    /// std::random_device throws where there is none.
    ASIO_RETRY_DECL static idempotency_key random();

    /// One of these bits, from the left, but for those that say version and variant.
    ASIO_RETRY_DECL idempotency_key(std::uint64_t high, std::uint64_t low) noexcept;

    /// 36 characters, such as "919108f7-52d1-4320-9bac-f847db4148a8".
    ASIO_RETRY_DECL std::string to_string() const;

    friend bool operator==(idempotency_key const&, idempotency_key const&) noexcept = default;

private:
    std::uint64_t high_;
    std::uint64_t low_;
};

/// The value of `idempotency_key_field`: the key between quotation marks, as the field's draft has it.
ASIO_RETRY_DECL std::string idempotency_field_value(idempotency_key const& key);

} // namespace asio_retry
