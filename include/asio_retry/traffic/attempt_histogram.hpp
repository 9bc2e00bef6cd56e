#pragma once

#include <asio_retry/attempt.hpp>
#include <asio_retry/detail/policy/config.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace asio_retry {

/// The field by which a request says how often it has been tried before (gRFC A6).
inline constexpr std::string_view previous_attempts_field = "grpc-previous-rpc-attempts";

/// The field by which a client says how many of its requests were retries lately: an `attempt_histogram`.
inline constexpr std::string_view attempt_histogram_field = "asio-retry-attempts";

/// The value of `previous_attempts_field`: "1" for attempt 2. Empty for a first attempt: send no field then.
ASIO_RETRY_DECL std::string previous_attempts(attempt const& a);

// Of both parsers: spaces and tabs around a number do not count, a number consists of digits alone and is held
// at the greatest there is. They take any text whatever and never throw.

/// The number of the attempt that a request is, by the value of `previous_attempts_field`: 2 for "1", and 1 for
/// nothing, where the field is absent. None for what is no number.
ASIO_RETRY_DECL std::optional<std::uint64_t> parse_previous_attempts(std::string_view text) noexcept;

/// How many attempts were first ones, second ones and so on.
class attempt_histogram {
public:
    static constexpr std::size_t buckets = 8; ///< for the numbers 1 to 7, and for 8 or more

    /// Counts are held at the greatest number there is. A number of 0 counts as 1.
    ASIO_RETRY_DECL void add(std::uint64_t number, std::uint64_t count = 1) noexcept;
    /// Adds all counts of `other`.
    ASIO_RETRY_DECL void merge(attempt_histogram const& other) noexcept;

    /// How many attempts had this number; from 8 on, this or any other from 8 on.
    ASIO_RETRY_DECL std::uint64_t count(std::uint64_t number) const noexcept;
    /// How many attempts there were.
    ASIO_RETRY_DECL std::uint64_t total() const noexcept;

    /// The share of the attempts that were no first ones; 0 if there were none.
    ASIO_RETRY_DECL double retry_share() const noexcept;

    friend bool operator==(attempt_histogram const&, attempt_histogram const&) noexcept = default;

private:
    std::array<std::uint64_t, buckets> counts_{};
};

/// The value of `attempt_histogram_field`: the counts from the first attempts on, without zeros at the end.
/// "90,9,1" is 90 first attempts, nine second ones and a third one; "0" is nothing.
ASIO_RETRY_DECL std::string to_string(attempt_histogram const& h);

/// Reads what `to_string` writes: one to eight numbers with commas between them. None for anything else.
ASIO_RETRY_DECL std::optional<attempt_histogram> parse_attempt_histogram(std::string_view text) noexcept;

} // namespace asio_retry
