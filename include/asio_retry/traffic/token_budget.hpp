#pragma once

#include <asio_retry/retry_gate.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

namespace asio_retry {
class token_budget;

namespace detail {

/// What `hedge_share` was given.
struct hedge_share_numbers {
    double share = 0;
    std::uint32_t burst = 0;
    bool operator==(hedge_share_numbers const&) const = default;
};

inline constexpr std::uint32_t burst_of_hedges = 10;

/// The numbers of a budget that is like one of `hedge_share`; none for any other.
ASIO_RETRY_DECL std::optional<hedge_share_numbers> numbers_of_hedge_share(token_budget const& budget) noexcept;

} // namespace detail

/// The options of a `token_budget`.
struct token_budget_options {
    double capacity = 10;            ///< the greatest number of tokens
    std::optional<double> initial{}; ///< tokens at first; if not set, the capacity
    double per_success = 0.1;        ///< what a success adds
    double per_failure = 0; ///< what a failure takes; a permanent one only if the server forbids retries
    std::optional<double> threshold{};    ///< if set, retries cost nothing but need a balance above it
    double cost = 1;                      ///< the cost of a retry
    std::optional<double> timeout_cost{}; ///< the cost after a timeout; if not set, `cost`
    /// The cost after the server limited this client; if not set, `cost`.
    std::optional<double> throttled_cost{};
    bool refund = false; ///< a retry's success adds what that retry cost, instead of `per_success`
};

/// Lets retries take tokens from a bucket of fixed size, as gRPC and the AWS SDKs do.
///
/// The number of clients multiplies the size: ten tokens in each of a thousand clients are ten thousand retries
/// at the beginning of an outage. For many clients `retry_budget` puts less load on the server.
///
/// Thread safety: call any function from any thread. There is no lock: the balance is one atomic word, in
/// millionths.
class ASIO_RETRY_DECL token_budget final : public retry_gate {
public:
    /// Throws std::invalid_argument for amounts that are negative or not finite, a capacity of 0, and an
    /// `initial` above the capacity.
    explicit token_budget(token_budget_options const& options = {});

    /// How many tokens there are.
    double balance() const noexcept;

    bool measures_time() const noexcept override { return false; }
    std::string_view name() const noexcept override { return "token_budget"; }
    bool acquire(failure_kind kind, time_point now) noexcept override;
    void give_back(failure_kind kind) noexcept override;
    void on_end(attempt_end const& end) noexcept override;

    /// Whether it has as many tokens as at first.
    bool is_idle(time_point) const noexcept override { return balance_.load() == initial_; }

private:
    friend std::optional<detail::hedge_share_numbers>
    detail::numbers_of_hedge_share(token_budget const&) noexcept;

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
    std::int64_t const initial_;
    std::atomic<std::int64_t> balance_;
};

/// The options of gRPC's retryThrottling: retries while more than half of `max_tokens` is left.
///
/// A failure that is worth a retry takes 1; a success adds `token_ratio`, of which only thousandths count.
///
/// Errors: throws std::invalid_argument unless max_tokens is in (0, 1000] and token_ratio at least 0.001.
/// Source: gRFC A6.
ASIO_RETRY_DECL token_budget_options grpc_tokens(double max_tokens, double token_ratio);

/// The options of the retry quota of the AWS SDKs since 2026.
///
/// Of 500 tokens a retry takes 14, or 5 after throttling. A success adds 1; a retry's success adds what that
/// retry took.
ASIO_RETRY_DECL token_budget_options aws_tokens();

/// The options of the retry quota of the AWS SDKs from 2016 to 2025: of 500 a retry takes 5, or 10 after a
/// timeout.
ASIO_RETRY_DECL token_budget_options aws_tokens_2016();

/// A budget for hedges: of 100 successful requests at most 5 have a hedge if `share` is 0.05.
///
///     hedge_policy(20ms).gate(hedge_share(0.05))
///
/// Each success earns `share`, and each attempt beside or after the first costs 1. The budget begins empty, so
/// the hedges are at no time more than `share` of the successes before them. Up to `burst` hedges that nobody
/// used are kept: after n more successes there are at most `burst + n * share`. Share the budget between all
/// that use a server. Only millionths of `share` count. A policy's text has it as `hedge_share(0.05)`.
///
/// Errors: throws std::invalid_argument unless share is in [0.000001, 1] and burst is from 1 to 2^32 - 1.
ASIO_RETRY_DECL std::shared_ptr<token_budget> hedge_share(double share,
                                                          std::int64_t burst = detail::burst_of_hedges);

} // namespace asio_retry
