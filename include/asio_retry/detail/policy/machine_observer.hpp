#pragma once

#include <asio_retry/detail/policy/config.hpp>
#include <asio_retry/duration.hpp>
#include <asio_retry/pushback.hpp>

#include <cstdint>
#include <exception>
#include <memory>
#include <string_view>

namespace asio_retry {
struct admission;
struct attempt_end;
enum class interruption : unsigned char;
class random;
struct retry_event;
enum class stop_reason;
class verdict;
} // namespace asio_retry

namespace asio_retry::detail {

/// Receives a retry_machine's events in order: the start, then attempts that begin and fail, and the end. After
/// a failure comes a wait or the end. After a wait comes an attempt, another wait if a gate refuses, or the
/// end. An operation without an attempt has a start and an end, or an end alone if it could not begin.
class ASIO_RETRY_DECL machine_observer {
public:
    virtual void on_start(time_point now) noexcept = 0;
    virtual void on_attempt(std::uint64_t number, time_point now) noexcept = 0;

    /// The attempt failed or was stopped. `failure` is the attempt's own, except after its time limit: then it
    /// is `timed_out`.
    virtual void on_failure(verdict const& failure, interruption stopped, time_point now) noexcept = 0;
    virtual void on_wait(duration delay, time_point now) noexcept = 0;

    /// Also called when the operation ends during a wait.
    virtual void on_wait_over(time_point now) noexcept = 0;

    /// `now` may be missing after a success.
    virtual void on_end(stop_reason reason, time_point now) noexcept = 0;

    /// A hook, a predicate, a backoff or a jitter threw, or the policy's `classify` threw while an event for a
    /// hook was made; maybe after the end.
    virtual void on_hook_exception(std::exception_ptr const&) noexcept {}

    /// @name Hooks of this operation; they may throw
    /// Called after the policy's hooks, if the observer has hooks.
    /// @{
    virtual void call_on_retry(retry_event const&) {}
    virtual void call_on_end(retry_event const&) {}
    /// @}

    /// @name A gate of this operation, if the machine got the observer by `choose_with`
    /// It is asked after the policy's gate. `source` is the operation's, and outlives the observer.
    /// @{
    virtual void draw_from(random& source) noexcept { static_cast<void>(source); }
    virtual admission admit(std::uint64_t number, time_point now) noexcept;

    /// Translates `said`, the wish of one server, into a wish for the operation, if the gate chooses servers.
    /// Called after the attempt's end. A refusal with error::cooling_down is such a wish, too.
    virtual pushback wish(pushback said, time_point now) noexcept {
        static_cast<void>(now);
        return said;
    }

    /// Since when the next attempt waits because servers rest; `now` if it does not.
    virtual time_point put_off_since(time_point now) const noexcept { return now; }
    virtual void on_attempt_end(attempt_end const&) noexcept {}
    virtual std::string_view gate_name() const noexcept { return "gate"; }

    /// An owner of this gate's choice for the attempt, for an attempt that may outlast the gate's memory of the
    /// choice. Null if there is nothing to own. Precondition: the attempt is running.
    virtual std::shared_ptr<void const> owner_of(std::uint64_t number) const noexcept {
        static_cast<void>(number);
        return nullptr;
    }
    /// @}

    /// The next older observer, or null.
    machine_observer* next = nullptr;

protected:
    machine_observer() noexcept = default;
    machine_observer(machine_observer const&) noexcept = default;
    machine_observer& operator=(machine_observer const&) noexcept = default;
    ~machine_observer() = default;
};

/// Calls all observers, the newest first.
template <typename... Parameters, typename... Arguments>
void tell_all(machine_observer* first, void (machine_observer::*what)(Parameters...) noexcept,
              Arguments const&... arguments) noexcept {
    for (; first; first = first->next)
        (first->*what)(arguments...);
}

} // namespace asio_retry::detail
