#pragma once

#include <asio_retry/detail/policy/config.hpp>

namespace asio_retry {

/// Something that many operations share and that may refuse a retry, such as a budget.
///
/// It is asked once for each retry, when the retry has been decided and before its wait; never for a first
/// attempt. Thread safety: called from every thread that runs an operation, without a lock.
class ASIO_RETRY_DECL retry_gate {
public:
    virtual ~retry_gate();

    /// Takes what one retry costs; false refuses the retry, which ends its operation with stop_reason::budget.
    virtual bool acquire() noexcept = 0;

    /// Gives back what `acquire` took, because no attempt followed.
    virtual void give_back() noexcept = 0;
};

} // namespace asio_retry
