#pragma once

#include <asio_retry/attempt.hpp>
#include <asio_retry/detail/attempt/operation_form.hpp>
#include <asio_retry/detail/handler/asio.hpp>
#include <asio_retry/detail/operation/driver.hpp>
#include <asio_retry/pushback.hpp>

#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/cancellation_type.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace asio_retry::detail {

/// An attempt that its operation may leave behind (`retry_policy::deliver_at_once`). It has memory and a slot
/// of its own. It keeps the memory of the operation alive, because the callable is there. If it is left behind,
/// the operation ends with `operation_aborted` and ignores the result and the reports of the attempt.
class ASIO_RETRY_DECL detached_attempt : health_monitor {
public:
    using operation_type = retry_driver;

    /// Connects to the slot of the operation's attempts. If this throws, nothing happened.
    explicit detached_attempt(retry_driver& given_operation);
    detached_attempt(detached_attempt const&) = delete;

    /// Without memory the attempt is lost before it begins.
    static detached_attempt* make(retry_driver& given_operation);

    detached_attempt& operator=(detached_attempt const&) = delete;

    retry_driver& operation() const noexcept { return operation_; }
    asio::cancellation_slot slot() noexcept { return signal_.slot(); }

    /// The attempt object that the user's operation gets, until the attempt ends.
    attempt const& current() const noexcept { return current_; }

    /// Keeps the endpoint that `chooser` has chosen alive until the attempt ends. `chooser` may be null.
    void own_choice_of(machine_observer const* chooser) noexcept;

    bool is_left() const noexcept { return state_.load(std::memory_order_acquire) == state::left; }

    /// The attempt has ended; releases *this. Calls `tell` unless the attempt had been left behind.
    template <typename Tell>
    void end(Tell tell) {
        retry_driver& of = operation_;
        bool const is_wanted = change(state::ended);
        release();
        if (is_wanted)
            tell();
        else
            of.on_left_attempt_ended();
    }

    void keep() noexcept { owners_.fetch_add(1, std::memory_order_relaxed); }
    void release() noexcept;

protected:
    virtual ~detached_attempt();

    virtual void tell(asio::cancellation_type_t type) { signal_.emit(type); }

private:
    enum class state : std::uint8_t { running, speaking, ended, left };
    class teller;

    void on_told(asio::cancellation_type_t type);
    void leave_behind();
    bool change(state to) noexcept;

    /// Reports something, unless the attempt has been left behind.
    template <typename Say>
    void say(Say what) noexcept;
    void on_healthy() noexcept override;
    void on_sent() noexcept override;
    void on_progress() noexcept override;
    void on_pushback(pushback said) noexcept override;
    std::uint64_t operation_number() const noexcept override { return number_; }
    shared_value<nested_marks> marks() override;

    retry_driver& operation_;
    std::uint64_t const number_; // of the operation, which may end before the attempt
    attempt_health<retry_driver> health_;
    attempt current_;
    attempt const& said_as_; // the operation's attempt object; valid until this attempt is left behind
    std::shared_ptr<void const> choice_; // its endpoint: the operation may forget it
    asio::cancellation_signal signal_;
    std::atomic<state> state_ = state::running;
    std::atomic<std::uint8_t> owners_ = 1; // the attempt, and each emission
};

/// The owner of an attempt's handler: the operation, or an attempt that may be left behind.
template <typename Operation>
class attempt_link {
public:
    explicit attempt_link(Operation* given_operation) noexcept
        : to_(reinterpret_cast<std::uintptr_t>(given_operation)) {}

    explicit attempt_link(std::nullptr_t) noexcept
        : to_(0) {}

    /// Takes ownership.
    explicit attempt_link(detached_attempt* given_attempt) noexcept
        : to_(reinterpret_cast<std::uintptr_t>(given_attempt) | is_detached) {}

    explicit operator bool() const noexcept { return to_ != 0; }
    attempt_link* operator->() noexcept { return this; }
    attempt_link const* operator->() const noexcept { return this; }

    /// Null if the operation waits for the attempt.
    detached_attempt* detached() const noexcept {
        return (to_ & is_detached) != 0 ? reinterpret_cast<detached_attempt*>(to_ & ~is_detached) : nullptr;
    }

    auto get_operation_executor() const noexcept { return operation().get_operation_executor(); }
    auto get_io_executor() const noexcept { return operation().get_io_executor(); }
    auto get_handler_allocator() const noexcept { return operation().get_handler_allocator(); }
    asio::cancellation_slot attempt_slot() const noexcept {
        detached_attempt* const apart = detached();
        return apart ? apart->slot() : operation().attempt_slot();
    }

    template <typename... Args>
    void on_attempt_completed(Args&&... args) const {
        detached_attempt* const apart = detached();
        if (!apart)
            return operation().on_attempt_completed(std::forward<Args>(args)...);
        Operation& of = operation();
        apart->end([&] { of.on_attempt_completed(std::forward<Args>(args)...); });
    }

    void on_attempt_dropped() const noexcept {
        detached_attempt* const apart = detached();
        if (!apart)
            return operation().on_attempt_dropped();
        Operation& of = operation();
        apart->end([&] { of.on_attempt_dropped(); });
    }

private:
    static constexpr std::uintptr_t is_detached = 1;

    Operation& operation() const noexcept {
        detached_attempt* const apart = detached();
        return apart ? static_cast<Operation&>(apart->operation()) : *reinterpret_cast<Operation*>(to_);
    }

    std::uintptr_t to_;
};

} // namespace asio_retry::detail
