#pragma once

#include <asio_retry/detail/config.hpp>

#include <utility>

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

/// Holds what one retry costs from its decision until its attempt begins.
class retry_lease {
public:
    retry_lease() noexcept = default;
    explicit retry_lease(retry_gate& from) noexcept
        : from_(&from) {}
    retry_lease(retry_lease&& other) noexcept
        : from_(std::exchange(other.from_, nullptr)) {}
    retry_lease& operator=(retry_lease&& other) noexcept {
        std::swap(from_, other.from_);
        return *this;
    }
    ~retry_lease() { give_back(); }

    /// The attempt begins: the cost is spent.
    void spend() noexcept { from_ = nullptr; }

    void give_back() noexcept {
        if (retry_gate* const from = std::exchange(from_, nullptr))
            from->give_back();
    }

private:
    retry_gate* from_ = nullptr;
};

} // namespace asio_retry
