#pragma once

#include <cstdint>

namespace asio_retry::test {

/// SplitMix64, written again from its publication.
struct split_mix_64 {
    std::uint64_t state;

    std::uint64_t operator()() {
        std::uint64_t z = state += 0x9e3779b97f4a7c15u;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return z ^ (z >> 31);
    }

    /// The output function alone.
    static std::uint64_t mixed(std::uint64_t state) { return split_mix_64{state - 0x9e3779b97f4a7c15u}(); }

    /// The state that `mixed` makes this number of.
    static std::uint64_t unmixed(std::uint64_t z) {
        z = (z ^ (z >> 31) ^ (z >> 62)) * 0x319642b2d24d8ec3u;
        z = (z ^ (z >> 27) ^ (z >> 54)) * 0x96de1b173f119089u;
        return z ^ (z >> 30) ^ (z >> 60);
    }

    /// The generator that the library calls stream `number` under `seed`.
    static split_mix_64 stream_of(std::uint64_t seed, std::uint64_t number) {
        return {mixed(mixed(seed + 0x9e3779b97f4a7c15u) ^ mixed(~number))};
    }

    /// From [0, greatest]: as many high bits as `greatest` has, drawn again while above it.
    std::uint64_t up_to(std::uint64_t greatest) {
        if (greatest == 0)
            return 0;
        int bits = 64;
        while ((greatest >> (bits - 1)) == 0)
            --bits;
        std::uint64_t drawn = 0;
        do
            drawn = (*this)() >> (64 - bits);
        while (drawn > greatest);
        return drawn;
    }
};

} // namespace asio_retry::test
