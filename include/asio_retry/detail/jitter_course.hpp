#pragma once

#include <asio_retry/backoff.hpp>
#include <asio_retry/jitter.hpp>

#include <algorithm>
#include <cstdint>

namespace asio_retry::detail {

/// What a jitter is told from one failure to the next.
class jitter_course {
public:
    /// After that many failures, of which the first begins anew. The base is the first ceiling that is not
    /// zero: a retry at once does not make all of them at once.
    backoff_step step(backoff const& shape, std::uint64_t failures, duration ceiling) noexcept {
        if (failures == 1)
            base_ = previous_ = duration::zero();
        if (base_ == duration::zero()) {
            base_ = ceiling;
            previous_ = std::max(previous_, ceiling);
        }
        duration const cap = shape.cap_after(failures);
        return {failures, ceiling, std::min(base_, cap), cap, previous_};
    }

    /// What has been drawn for that step.
    void drew(duration delay) noexcept { previous_ = delay; }

private:
    duration base_{};
    duration previous_{};
};

} // namespace asio_retry::detail
