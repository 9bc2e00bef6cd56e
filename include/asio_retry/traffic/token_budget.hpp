#pragma once

#include <asio_retry/retry_gate.hpp>

#include <atomic>
#include <cstdint>
#include <optional>

namespace asio_retry {

/// The options of a `token_budget`.
struct token_budget_options {
    double capacity = 10;                   ///< the greatest number of tokens
    std::optional<double> initial{};        ///< tokens at first; if not set, the capacity
    double per_success = 0.1;               ///< what a success adds
    double per_failure = 0;                 ///< what a failed attempt takes, unless its failure is permanent
                                            ///< and the peer has not forbidden to retry
    std::optional<double> threshold{};      ///< if set, retries cost nothing and need a balance above it
    double cost = 1;                        ///< of a retry
    std::optional<double> timeout_cost{};   ///< of one after a timeout; if not set, `cost`
    std::optional<double> throttled_cost{}; ///< of one after the peer limited this client; if not set, `cost`
    bool refund = false; ///< the success of a retry adds what that retry has cost, in place of `per_success`
};

/// A bucket of tokens of a fixed size, as those of gRPC and of the AWS SDKs.
///
/// A fixed size is multiplied by the number of clients: ten tokens in each of a thousand clients are ten
/// thousand retries at the beginning of an outage. Where there are many, `retry_budget` is kinder.
///
/// Thread safety: any function may be called from any thread. There is no lock: the balance is one atomic word,
/// in millionths.
class ASIO_RETRY_DECL token_budget final : public retry_gate {
public:
    /// Throws std::invalid_argument for amounts that are negative or not finite, for a capacity of 0 and for
    /// more than the capacity at first.
    explicit token_budget(token_budget_options const& options = {});

    /// How many tokens there are.
    double balance() const noexcept;

    bool acquire(failure_kind kind, time_point now) noexcept override;
    void give_back(failure_kind kind) noexcept override;
    void on_end(attempt_end const& end) noexcept override;

private:
    std::int64_t cost_after(failure_kind kind) const noexcept;
    void add(std::int64_t amount) noexcept;
    void take(std::int64_t amount) noexcept;

    std::int64_t const capacity_;
    std::int64_t const per_success_;
    std::int64_t const per_failure_;
    std::optional<std::int64_t> const threshold_;
    std::int64_t const cost_;
    std::int64_t const timeout_cost_;
    std::int64_t const throttled_cost_;
    bool const refund_;
    std::atomic<std::int64_t> balance_;
};

/// The retryThrottling of gRPC (gRFC A6): a failure that is worth retrying takes 1, a success adds
/// `token_ratio`, of which only thousandths count, and there are retries while more than half of `max_tokens`
/// is left.
///
/// Throws std::invalid_argument unless max_tokens is in (0, 1000] and token_ratio at least 0.001.
ASIO_RETRY_DECL token_budget_options grpc_tokens(double max_tokens, double token_ratio);

/// The retry quota of the AWS SDKs since 2026: of 500 a retry takes 14, or 5 after throttling; a success adds
/// 1, and that of a retry what it had taken.
ASIO_RETRY_DECL token_budget_options aws_tokens();

/// The retry quota of the AWS SDKs from 2016 to 2025: of 500 a retry takes 5, or 10 after a timeout.
ASIO_RETRY_DECL token_budget_options aws_tokens_2016();

} // namespace asio_retry
