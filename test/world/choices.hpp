#pragma once

#include "support/split_mix_64.hpp"

#include <cstddef>
#include <cstdint>

namespace asio_retry::world {

/// What one thread, or one attempt, draws.
class choices {
public:
    explicit choices(std::uint64_t seed, std::uint64_t stream = 0)
        : engine_(test::split_mix_64::stream_of(seed, stream)) {}

    int below(int n) { return static_cast<int>(engine_() % static_cast<std::uint64_t>(n)); }
    bool one_in(int n) { return below(n) == 0; }
    std::uint64_t seed() { return engine_(); }

    template <typename Container>
    auto& any_of(Container& all) {
        return all[static_cast<std::size_t>(below(static_cast<int>(all.size())))];
    }

private:
    test::split_mix_64 engine_;
};

} // namespace asio_retry::world
