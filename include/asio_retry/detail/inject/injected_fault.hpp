#pragma once

#include <asio_retry/detail/policy/config.hpp>
#include <asio_retry/detail/policy/linked_list.hpp>
#include <asio_retry/duration.hpp>
#include <asio_retry/error.hpp>

#include <cstdint>

namespace asio_retry {

class fault_plan;

namespace detail {

/// The fault of one attempt.
struct injected_fault {
    enum class kind : unsigned char { none, error, lost_answer, delay, hang };

    kind what = kind::none;
    error_code code;       // of an error and of a lost answer
    duration length{};     // of a delay
    std::uint64_t era = 0; // of the plan, when the fault was drawn
};

/// An attempt that is delayed or hangs. Its plan can let it go.
class held_attempt : public list_hook<held_attempt> {
public:
    /// The plan calls it, and holds its mutex. It may be called after the wait is over, until `forget` has
    /// returned.
    virtual void let_go() noexcept = 0;

protected:
    held_attempt() noexcept = default;
    ~held_attempt() = default;
};

/// The functions of a plan that `inject` calls.
struct fault_access {
    ASIO_RETRY_DECL static injected_fault draw(fault_plan& plan) noexcept;

    /// Counts a success that has become an error.
    ASIO_RETRY_DECL static void count_lost_answer(fault_plan& plan) noexcept;

    /// Whether delays and hangs of that fault's era have ended.
    ASIO_RETRY_DECL static bool is_over(fault_plan const& plan, injected_fault const& fault) noexcept;

    /// Calls `begin`, which returns false if the wait cannot begin, and keeps the attempt until `forget`.
    /// Returns false, and does nothing, if delays and hangs have ended.
    template <typename Begin>
    static bool hold(fault_plan& plan, held_attempt& attempt, injected_fault const& fault, Begin begin);

    /// Takes an attempt out of its plan. Call it before the attempt ends or is destroyed.
    static void forget(fault_plan& plan, held_attempt& attempt) noexcept;

    /// Lets at most 64 of the plan's attempts go, and takes them out of the list. Returns whether more are
    /// left.
    ASIO_RETRY_DECL static bool let_some_go(fault_plan& plan, linked_list<held_attempt>& leaving) noexcept;
};

} // namespace detail

} // namespace asio_retry
