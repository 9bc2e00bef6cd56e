#pragma once

#include <asio_retry/detail/traffic/recent_latency.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace asio_retry::detail {

/// Counts endpoints by latency. The time of each function does not depend on their number.
class step_counts {
public:
    /// Does nothing if the latency is unknown.
    void add(latency_step step) noexcept { count(step, 1); }

    /// Takes back what was added.
    void remove(latency_step step) noexcept { count(step, ~std::uint32_t(0)); }

    /// The lowest latency; 0 if none is known.
    latency_step lowest() const noexcept { return at(0); }

    /// The median without one endpoint of latency `own`; of an even number the upper one of two. 0 if there is
    /// no other endpoint.
    latency_step median_without(latency_step own) noexcept {
        remove(own);
        latency_step const median = at(all_ / 2);
        add(own);
        return median;
    }

private:
    static constexpr std::size_t octave = 8;

    void count(latency_step step, std::uint32_t change) noexcept {
        if (step == 0)
            return;
        in_step_[step] += change;
        in_octave_[step / octave] += change;
        all_ += change;
    }

    /// The latency of that rank, from 0; 0 if there are fewer.
    latency_step at(std::uint32_t rank) const noexcept {
        if (rank >= all_)
            return 0;
        std::size_t first = 0;
        for (; rank >= in_octave_[first]; ++first)
            rank -= in_octave_[first];
        std::size_t step = first * octave;
        for (; rank >= in_step_[step]; ++step)
            rank -= in_step_[step];
        return static_cast<latency_step>(step);
    }

    std::uint32_t all_ = 0;
    std::array<std::uint32_t, 256 / octave> in_octave_{};
    std::array<std::uint32_t, 256> in_step_{};
};

} // namespace asio_retry::detail
