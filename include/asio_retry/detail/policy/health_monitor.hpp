#pragma once

#include <asio_retry/detail/policy/shared.hpp>
#include <asio_retry/duration.hpp>
#include <asio_retry/pushback.hpp>

#include <atomic>
#include <cstdint>
#include <memory>

namespace asio_retry {
class retry_gate;
enum class failure_kind : unsigned char;
} // namespace asio_retry

namespace asio_retry::detail {

/// The admission of an attempt by its gate. The first nested operation with the same gate may take it over.
struct lent_admission {
    std::shared_ptr<retry_gate> gate; ///< null: the attempt has no gate
    time_point admitted{};
    std::uint64_t ticket = 0;
    std::uint64_t number = 1; ///< of the attempt
    failure_kind after{};     ///< the failure that it retries

    /// One bit for each part of `gate` whose admission nobody has taken over, and the bit `is_open`.
    std::atomic<std::uint64_t> left = 0;
    static constexpr std::uint64_t is_open = std::uint64_t(1) << 63; ///< the attempt has not ended
};

/// The state that an attempt shares with the operations nested in it.
struct nested_marks {
    std::atomic<bool> forbidden = false; ///< the server wants no retry
    std::atomic<bool> sent = false;      ///< the nested retry may have sent something
    std::atomic<bool> waited = false;    ///< a nested retry has ended while it waited for a gate
    lent_admission lent;
    shared_value<nested_marks> around{}; ///< the marks of the attempt around the operation of this attempt
};

/// Receives the reports that an attempt makes by the members of `attempt`.
class health_monitor {
public:
    virtual void on_healthy() noexcept = 0;

    virtual void on_sent() noexcept {}

    virtual void on_progress() noexcept {}

    virtual void on_pushback(pushback) noexcept {} // `attempt::heed`

    virtual std::uint64_t operation_number() const noexcept { return 0; }

    /// The marks for a nested retry; null if nothing would read them.
    virtual shared_value<nested_marks> marks() { return {}; }

protected:
    ~health_monitor() = default;
};

} // namespace asio_retry::detail
