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

/// The field in which a request says how many attempts came before it.
///
/// Source: gRFC A6.
inline constexpr std::string_view previous_attempts_field = "grpc-previous-rpc-attempts";

/// The field in which a client says how many of its recent requests were retries: an `attempt_histogram`.
inline constexpr std::string_view attempt_histogram_field = "asio-retry-attempts";

/// The value of `previous_attempts_field`: "1" for attempt 2.
///
/// It is empty for a first attempt: then send no field.
ASIO_RETRY_DECL std::string previous_attempts(attempt const& a);

// Both parsers skip spaces and tabs around a number. A number consists of digits alone; one that is too great
// becomes the greatest. They take any text and never throw.

/// The number of the attempt, read from the value of `previous_attempts_field`: 2 for "1".
///
/// Without a field the text is empty, and the number 1. None for text that is no number.
ASIO_RETRY_DECL std::optional<std::uint64_t> parse_previous_attempts(std::string_view text) noexcept;

/// Counts attempts by their number: first attempts, second attempts and so on.
class attempt_histogram {
public:
    static constexpr std::size_t buckets = 8; ///< counts for the numbers 1 to 7, and for 8 or more

    /// Adds attempts of one number; 0 counts as 1. A count that would overflow stays at the greatest number.
    ASIO_RETRY_DECL void add(std::uint64_t number, std::uint64_t count = 1) noexcept;
    /// Adds all counts of `other`.
    ASIO_RETRY_DECL void merge(attempt_histogram const& other) noexcept;

    /// How many attempts had this number. From 8 on: how many had a number of 8 or more.
    ASIO_RETRY_DECL std::uint64_t count(std::uint64_t number) const noexcept;
    /// How many attempts there were.
    ASIO_RETRY_DECL std::uint64_t total() const noexcept;

    /// The share of the attempts that were retries; 0 without attempts.
    ASIO_RETRY_DECL double retry_share() const noexcept;

    friend bool operator==(attempt_histogram const&, attempt_histogram const&) noexcept = default;

private:
    std::array<std::uint64_t, buckets> counts_{};
};

/// The value of `attempt_histogram_field`: the counts by number, without zeros at the end.
///
/// "90,9,1" means 90 first attempts, nine second attempts and one third attempt; "0" means no attempts.
ASIO_RETRY_DECL std::string to_string(attempt_histogram const& h);

/// Reads the text that `to_string` writes: one to eight numbers with commas between them. None for other text.
ASIO_RETRY_DECL std::optional<attempt_histogram> parse_attempt_histogram(std::string_view text) noexcept;

} // namespace asio_retry
