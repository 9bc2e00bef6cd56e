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
    /// zero: a retry at once does not make all of them at once. A base that the cap leaves nothing above, as
    /// that of the part before in a chain, gives way to a lower one.
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

    /// What has been drawn for that step.
    void drew(duration delay) noexcept { previous_ = delay; }

private:
    duration base_{};
    duration previous_{};
};

} // namespace asio_retry::detail
