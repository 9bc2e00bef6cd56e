#pragma once

#include <asio_retry/detail/policy/config.hpp>
#include <asio_retry/duration.hpp>

#include <cstdint>
#include <limits>

namespace asio_retry {

/// The source of randomness of one operation: the same numbers on every platform.
///
/// It is a uniform random bit generator, so a jitter may pass it to the distributions of `<random>`. Not for
/// cryptography.
///
/// Thread safety: distinct objects are independent; one object is not shared.
///
/// Source: SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", OOPSLA 2014).
class random {
public:
    /// As for every generator of the standard library.
    using result_type = std::uint64_t;

    /// The generator number `stream` under `seed`; generators of different streams are independent.
    ASIO_RETRY_DECL explicit random(std::uint64_t seed, std::uint64_t stream = 0) noexcept;

    /// The least number of `operator()`.
    static constexpr result_type(min)() noexcept { return 0; }
    /// The greatest number of `operator()`.
    static constexpr result_type(max)() noexcept { return (std::numeric_limits<result_type>::max)(); }

    /// The next number, uniform in all 64 bits.
    ASIO_RETRY_DECL result_type operator()() noexcept;

    /// A whole number drawn from [least, greatest], both ends included, without bias.
    ///
    /// Throws std::invalid_argument if least > greatest.
    ASIO_RETRY_DECL std::uint64_t uniform(std::uint64_t least, std::uint64_t greatest);

    /// A duration drawn from [least, greatest], at the resolution of a nanosecond; otherwise as above.
    ASIO_RETRY_DECL duration uniform(saturating_duration least, saturating_duration greatest);

private:
    std::uint64_t state_;
};

/// A seed that no other process or thread has, from the system's source of entropy.
ASIO_RETRY_DECL std::uint64_t entropy_seed();

} // namespace asio_retry
