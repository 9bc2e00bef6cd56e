#pragma once

#include <asio_retry/detail/policy/health_monitor.hpp>
#include <asio_retry/detail/policy/shared.hpp>
#include <asio_retry/failure_class.hpp>
#include <asio_retry/retry_gate.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

// An attempt lends its admission to an operation nested in it that has the same gate. The first attempt of the
// nested operation takes the admission over, so that the gate counts one request and not two.

namespace asio_retry::detail {

/// A set of the first 63 gates that a gate consists of.
using gate_bits = std::uint64_t;
inline constexpr std::size_t most_gate_bits = 63;

constexpr bool has_bit(gate_bits bits, std::size_t i) noexcept {
    return i < most_gate_bits && (bits >> i & 1u) != 0;
}

/// The admission of an attempt by one gate.
struct gate_admission {
    admission given;
    std::uint64_t number;
    failure_kind after;
};

/// Whether a gate has admitted an attempt, for now or for a time that it has reserved.
inline bool may_begin(admission const& answer, time_point now) noexcept {
    return answer.until <= now || answer.reserved;
}

/// A gate that consists of several gates.
class composite_gate : public retry_gate {
public:
    virtual std::vector<std::shared_ptr<retry_gate>> const& gates() const noexcept = 0;

    /// The admission of an attempt by gate `i`; `all` is its admission by all gates together. Nothing if the
    /// attempt is over.
    virtual std::optional<gate_admission> admission_of(std::size_t i, gate_admission const& all) noexcept = 0;

    /// The end of an attempt, except for the gates in `not_told`.
    virtual void end_except(attempt_end const& end, gate_bits not_told) noexcept = 0;
};

/// Sets the name that an `all_gates` returns on this thread: of its gate that has refused last.
void note_refuser(std::string_view name) noexcept;

/// Offers the admission of a running attempt to the operations inside it.
void lend(lent_admission& lent, std::shared_ptr<retry_gate> const& gate, gate_admission const& how) noexcept;

/// Tells the end of an attempt to its gate, except to the parts whose admission a nested operation has taken.
void end_lent(lent_admission& lent, retry_gate& gate, attempt_end const& end) noexcept;

/// The gate for an operation nested in the attempt of these marks. It takes over the admission of that attempt,
/// once. If the attempt has no gate in common with `gate`, looks outwards through the enclosing attempts.
/// Returns `gate` itself if no attempt has a gate in common.
std::shared_ptr<retry_gate> hand_over(std::shared_ptr<retry_gate> gate,
                                      shared_value<nested_marks> const& outer);

} // namespace asio_retry::detail
