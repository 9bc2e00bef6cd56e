#pragma once

#include <asio_retry/detail/policy/linked_list.hpp>
#include <asio_retry/duration.hpp>
#include <asio_retry/retry_settings.hpp>

#include <atomic>
#include <cstdint>

namespace asio_retry {

/// An operation in the queue of a gate, which links it into lists of its own.
///
/// The library makes it. A gate keeps it from `enqueue` until it has granted an attempt, or until `leave`.
class gate_waiter : public detail::list_hook<gate_waiter> {
public:
    /// Makes the waiter of an operation with this priority.
    explicit gate_waiter(request_priority given) noexcept
        : priority(given) {}

    request_priority const priority; ///< as `retry_policy::priority` says

    /// Lets the operation begin its attempt, and wakes it on its executor.
    ///
    /// Preconditions: the gate has unlinked it, and still holds the mutex that its `leave` takes.
    void grant() noexcept { decide(answer::granted); }

    /// Wakes the operation, which `leave` then refuses. Preconditions: as for `grant`.
    void expel() noexcept { decide(answer::expelled); }

    /// Whether the operation has been granted an attempt.
    bool is_granted() const noexcept { return answer_.load() == answer::granted; }

    /// @name For the operation
    /// @{
    /// Whether the operation need not wait any longer, because the gate has decided.
    bool is_decided() const noexcept { return answer_.load() != answer::none; }

    /// Makes the gate call `wake(who)` once when it has decided. Returns false if it has decided already.
    ///
    /// Precondition: it is new, or `ignore` or `renew` was called since the last call.
    bool listen(void (*wake)(void*) noexcept, void* who) noexcept {
        who_ = who;
        wake_.store(wake);
        return !is_decided();
    }

    /// Keeps the gate from calling `wake`, unless it has decided: then `leave` waits until `wake` returns.
    ///
    /// So call it before you ask `is_decided`, and before you wait again.
    void ignore() noexcept { wake_.exchange(nullptr); }

    /// Makes the waiter ready for another queue.
    void renew() noexcept {
        wake_.store(nullptr);
        answer_.store(answer::none);
        reserved_for = (time_point::min)();
    }

    bool is_leaving = false;                       ///< the operation ends: `all_gates` asks no other gate
    std::uint64_t ticket = 0;                      ///< by which `all_gates` knows it; 0: they do not have it
    time_point reserved_for = (time_point::min)(); ///< time that other gates of `all_gates` reserved
    /// @}

private:
    enum class answer : unsigned char { none, granted, expelled };

    void decide(answer what) noexcept {
        answer_.store(what);
        if (auto* const wake = wake_.exchange(nullptr))
            wake(who_);
    }

    std::atomic<answer> answer_ = answer::none;
    std::atomic<void (*)(void*) noexcept> wake_ = nullptr;
    void* who_ = nullptr;
};

} // namespace asio_retry
