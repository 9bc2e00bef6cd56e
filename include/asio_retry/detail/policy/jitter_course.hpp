#pragma once

#include <asio_retry/backoff.hpp>
#include <asio_retry/jitter.hpp>

#include <algorithm>
#include <cstdint>

namespace asio_retry::detail {

/// The values that a jitter keeps from one failure to the next.
class jitter_course {
public:
    /// The step after that many failures; the first failure begins anew. The base is the first greatest delay
    /// that is not zero: one retry at once does not make all retries immediate. If the cap leaves nothing above
    /// the base, a lower base replaces it; that happens where a chain goes on to its next part.
    backoff_step step(backoff const& shape, std::uint64_t failures, duration ceiling) noexcept {
        duration const cap = shape.cap_after(failures);
        if (failures == 1 || (cap <= base_ && ceiling < base_))
            base_ = previous_ = duration::zero();
        if (base_ == duration::zero()) {
            base_ = ceiling;
            previous_ = (std::max)(previous_, ceiling);
        }
        return {failures, ceiling, base_, cap, previous_};
    }

    /// The delay that was drawn for that step.
    void drew(duration delay) noexcept { previous_ = delay; }

private:
    duration base_{};
    duration previous_{};
};

} // namespace asio_retry::detail
