#include <asio_retry/traffic/latency_quantile.hpp>

#include "traffic/option_rules.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

namespace asio_retry {
namespace {

constexpr std::uint64_t records_between_halvings = 8192;

/// The octave of 16 steps, and the step in it. A duration below 16 ns is a step of its own; above that the four
/// bits after the first one count.
constexpr std::pair<std::size_t, std::size_t> place_of(duration took) noexcept {
    auto const ns = static_cast<std::uint64_t>(std::max(took, duration::zero()).count());
    if (ns < 16)
        return {0, static_cast<std::size_t>(ns)};
    auto const octave = static_cast<std::size_t>(std::bit_width(ns)) - 4;
    return {octave, static_cast<std::size_t>(ns >> (octave - 1)) - 16};
}

constexpr duration greatest_in(std::size_t octave, std::size_t step) noexcept {
    if (octave == 0)
        return duration(static_cast<duration::rep>(step));
    return duration(static_cast<duration::rep>((std::uint64_t(step + 17) << (octave - 1)) - 1));
}

static_assert(place_of(duration::max()) == std::pair<std::size_t, std::size_t>(59, 15));
static_assert(greatest_in(59, 15) == duration::max());

} // namespace

latency_quantile::latency_quantile(double q, saturating_duration initial, std::uint32_t min_samples)
    : q_(q)
    , initial_(detail::non_negative("latency_quantile.initial", initial))
    , min_samples_(min_samples) {
    detail::demand(0 < q && q < 1, "latency_quantile.q", q, "must be in (0, 1)");
    detail::demand(min_samples > 0, "latency_quantile.min_samples", min_samples, "must be at least 1");
}

void latency_quantile::record(saturating_duration took) noexcept {
    auto const [octave, step] = place_of(took);
    in_octave_[octave].fetch_add(1, std::memory_order_relaxed);
    in_step_[octave * steps + step].fetch_add(1, std::memory_order_release);
    if ((recorded_.fetch_add(1, std::memory_order_relaxed) + 1) % records_between_halvings == 0)
        halve();
}

/// Halves all counts. The rest of an odd count is carried to the next step: otherwise rare durations would be
/// forgotten, or kept for ever. Other threads may record meanwhile, which only adds; one thread at a time
/// subtracts.
void latency_quantile::halve() noexcept {
    if (halving_.exchange(true, std::memory_order_acquire))
        return;
    std::uint32_t left_over = 0;
    for (std::size_t octave = 0; octave < octaves; ++octave) {
        std::uint32_t taken = 0;
        for (std::size_t step = 0; step < steps; ++step) {
            auto& count = in_step_[octave * steps + step];
            // Acquire: then the octave's count has been increased, too, and cannot become negative.
            std::uint32_t const before = count.load(std::memory_order_acquire);
            std::uint32_t const kept = (before + left_over) / 2;
            left_over = (before + left_over) % 2;
            count.fetch_sub(before - kept, std::memory_order_relaxed);
            taken += before - kept;
        }
        in_octave_[octave].fetch_sub(taken, std::memory_order_relaxed);
    }
    halving_.store(false, std::memory_order_release);
}

duration latency_quantile::value() const noexcept {
    if (recorded_.load(std::memory_order_relaxed) < min_samples_)
        return initial_;
    std::array<std::uint32_t, octaves> counts; // read once: other threads record meanwhile
    std::uint64_t all = 0;
    for (std::size_t octave = 0; octave < octaves; ++octave)
        all += counts[octave] = in_octave_[octave].load(std::memory_order_relaxed);
    if (all == 0)
        return initial_;
    double const exactly =
        q_ * static_cast<double>(all); // exact except for the last bits, which must not raise the rank
    auto rank = static_cast<std::uint64_t>(std::ceil(exactly - exactly * 1e-15));
    std::size_t octave = 0;
    while (octave + 1 < octaves && rank > counts[octave])
        rank -= counts[octave++];
    std::size_t step = 0;
    for (; step + 1 < steps; ++step) {
        std::uint32_t const here = in_step_[octave * steps + step].load(std::memory_order_relaxed);
        if (rank <= here)
            break;
        rank -= here;
    }
    return greatest_in(octave, step);
}

} // namespace asio_retry
