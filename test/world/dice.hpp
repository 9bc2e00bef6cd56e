#pragma once

#include "support/split_mix_64.hpp"

#include <asio_retry/duration.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>

namespace asio_retry::world {

/// What one thread, or one attempt, draws: slightly biased, and the same on every platform.
class dice {
public:
    explicit dice(std::uint64_t seed, std::uint64_t stream = 0)
        : engine_(test::split_mix_64::stream_of(seed, stream)) {}

    template <std::integral T>
    T below(T end) {
        return static_cast<T>(engine_() % static_cast<std::uint64_t>(end));
    }
    bool one_in(int n) { return below(n) == 0; }
    std::uint64_t seed() { return engine_(); }
    duration up_to(duration greatest) { return duration(1 + below(greatest.count())); }

    template <typename T>
    T pick(std::initializer_list<T> all) {
        return all.begin()[below(all.size())];
    }
    template <typename Container>
    auto& any_of(Container& all) {
        return all[below(all.size())];
    }

private:
    test::split_mix_64 engine_;
};

} // namespace asio_retry::world
