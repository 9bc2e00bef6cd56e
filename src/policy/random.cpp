#include <asio_retry/random.hpp>

#include <asio_retry/detail/policy/refuse.hpp>

#include "policy/duration_text.hpp"

#include <bit>
#include <random>
#include <string>

namespace asio_retry {
namespace {

constexpr std::uint64_t golden_gamma = 0x9e3779b97f4a7c15;

constexpr std::uint64_t mix(std::uint64_t z) noexcept {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

[[noreturn]] void refuse_range(std::string const& least, std::string const& greatest) {
    detail::refuse("random.uniform.greatest", greatest, "must not be below least, which is " + least);
}

} // namespace

// Hashing seed and stream separately puts neighbouring streams at unrelated points of the generator's cycle.
random::random(std::uint64_t seed, std::uint64_t stream) noexcept
    : state_(mix(mix(seed + golden_gamma) ^ mix(~stream))) {}

random::result_type random::operator()() noexcept {
    state_ += golden_gamma;
    return mix(state_);
}

std::uint64_t random::uniform(std::uint64_t least, std::uint64_t greatest) {
    if (least > greatest)
        refuse_range(std::to_string(least), std::to_string(greatest));
    std::uint64_t const span = greatest - least;
    if (span == 0)
        return least;
    // Keep as many of the high bits as span has and draw again above it: unbiased, under two draws on average.
    int const unused_bits = std::countl_zero(span);
    std::uint64_t drawn;
    do
        drawn = (*this)() >> unused_bits;
    while (drawn > span);
    return least + drawn;
}

duration random::uniform(saturating_duration least, saturating_duration greatest) {
    if (least > greatest)
        refuse_range(detail::to_text(least), detail::to_text(greatest));
    // Two's complement: the difference of the unsigned images is right for every pair with least <= greatest.
    auto const low = static_cast<std::uint64_t>(least.count());
    auto const high = static_cast<std::uint64_t>(greatest.count());
    return duration(static_cast<duration::rep>(low + uniform(0, high - low)));
}

std::uint64_t entropy_seed() {
    std::random_device device;
    return (std::uint64_t(device()) << 32) | device();
}

} // namespace asio_retry
