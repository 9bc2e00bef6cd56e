#include <asio_retry/traffic/token_budget.hpp>

#include "traffic/option_rules.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace asio_retry {
namespace {

constexpr double one_token = 1e6;

std::int64_t millionths(double tokens) noexcept {
    return static_cast<std::int64_t>(std::min(std::round(tokens * one_token), 4e18));
}

token_budget_options const& checked(token_budget_options const& o) {
    detail::amount("token_budget.capacity", o.capacity);
    detail::demand(o.capacity > 0, "token_budget.capacity", o.capacity, "must be positive");
    detail::demand(millionths(o.capacity) > 0, "token_budget.capacity", o.capacity,
                   "must be at least a millionth");
    detail::amount("token_budget.initial", o.initial.value_or(0));
    detail::demand(o.initial.value_or(0) <= o.capacity, "token_budget.initial", o.initial.value_or(0),
                   "must not be more than the capacity", o.capacity);
    detail::amount("token_budget.per_success", o.per_success);
    detail::amount("token_budget.per_failure", o.per_failure);
    detail::amount("token_budget.threshold", o.threshold.value_or(0));
    detail::amount("token_budget.cost", o.cost);
    detail::amount("token_budget.timeout_cost", o.timeout_cost.value_or(0));
    detail::amount("token_budget.throttled_cost", o.throttled_cost.value_or(0));
    return o;
}

} // namespace

token_budget::token_budget(token_budget_options const& options)
    : capacity_(millionths(checked(options).capacity))
    , per_success_(millionths(options.per_success))
    , per_failure_(millionths(options.per_failure))
    , threshold_(options.threshold ? std::optional(millionths(*options.threshold)) : std::nullopt)
    , cost_(millionths(options.cost))
    , timeout_cost_(millionths(options.timeout_cost.value_or(options.cost)))
    , throttled_cost_(millionths(options.throttled_cost.value_or(options.cost)))
    , refund_(options.refund)
    , initial_(millionths(options.initial.value_or(options.capacity)))
    , balance_(initial_) {}

double token_budget::balance() const noexcept {
    return static_cast<double>(balance_.load()) / one_token;
}

std::int64_t token_budget::cost_after(failure_kind kind) const noexcept {
    if (threshold_)
        return 0;
    if (kind == failure_kind::timeout)
        return timeout_cost_;
    return kind == failure_kind::throttled ? throttled_cost_ : cost_;
}

void token_budget::add(std::int64_t amount) noexcept {
    std::int64_t before = balance_.load(std::memory_order_relaxed);
    while (before < capacity_ &&
           !balance_.compare_exchange_weak(before, std::min(capacity_, before + amount))) {
    }
}

void token_budget::take(std::int64_t amount) noexcept {
    std::int64_t before = balance_.load(std::memory_order_relaxed);
    while (before > 0 && !balance_.compare_exchange_weak(before, std::max<std::int64_t>(0, before - amount))) {
    }
}

bool token_budget::acquire(failure_kind kind, time_point) noexcept {
    std::int64_t const cost = cost_after(kind);
    std::int64_t before = balance_.load();
    if (threshold_)
        return before > *threshold_;
    while (before >= cost)
        if (balance_.compare_exchange_weak(before, before - cost))
            return true;
    return false;
}

void token_budget::give_back(failure_kind kind) noexcept {
    add(cost_after(kind));
}

void token_budget::on_end(attempt_end const& end) noexcept {
    switch (end.outcome) {
    case attempt_end::how::succeeded:
        add(refund_ && end.number > 1 ? cost_after(end.after) : per_success_);
        break;
    case attempt_end::how::failed:
        if (end.kind != failure_kind::permanent || end.said.forbids())
            take(per_failure_);
        break;
    case attempt_end::how::abandoned:
        break;
    }
}

std::shared_ptr<token_budget> hedge_share(double share, std::int64_t burst) {
    constexpr double least = 1 / one_token;
    detail::demand(least <= share && share <= 1, "hedge_share.share", share, "must be in [0.000001, 1]");
    token_budget_options options;
    options.capacity = detail::count("hedge_share.burst", burst);
    options.initial = 0;
    // Never more than the share. A decimal fraction may be stored a little too small.
    options.per_success = std::floor(share * one_token + 1e-6) / one_token;
    return std::make_shared<token_budget>(options);
}

namespace detail {

std::optional<hedge_share_numbers> numbers_of_hedge_share(token_budget const& budget) noexcept {
    constexpr auto one = static_cast<std::int64_t>(one_token);
    std::int64_t const burst = budget.capacity_ / one;
    bool const is_one = budget.initial_ == 0 && budget.per_failure_ == 0 && !budget.threshold_ &&
                        budget.cost_ == one && budget.timeout_cost_ == one && budget.throttled_cost_ == one &&
                        !budget.refund_ && budget.per_success_ > 0 && budget.per_success_ <= one &&
                        budget.capacity_ % one == 0 && burst <= std::numeric_limits<std::uint32_t>::max();
    if (!is_one)
        return std::nullopt;
    return hedge_share_numbers{static_cast<double>(budget.per_success_) / one_token,
                               static_cast<std::uint32_t>(burst)};
}

} // namespace detail

token_budget_options grpc_tokens(double max_tokens, double token_ratio) {
    detail::demand(0 < max_tokens && max_tokens <= 1000, "grpc_tokens.max_tokens", max_tokens,
                   "must be in (0, 1000]");
    detail::demand(0.001 <= token_ratio && std::isfinite(token_ratio), "grpc_tokens.token_ratio", token_ratio,
                   "must be finite and at least 0.001");
    token_budget_options options;
    options.capacity = max_tokens;
    // A decimal fraction may be stored a little too small.
    options.per_success = std::floor(token_ratio * 1000 + 1e-9) / 1000;
    options.per_failure = 1;
    options.threshold = max_tokens / 2;
    options.cost = 0;
    return options;
}

token_budget_options aws_tokens() {
    return {.capacity = 500, .per_success = 1, .cost = 14, .throttled_cost = 5, .refund = true};
}

token_budget_options aws_tokens_2016() {
    return {.capacity = 500, .per_success = 1, .cost = 5, .timeout_cost = 10, .refund = true};
}

} // namespace asio_retry
