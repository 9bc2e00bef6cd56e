#include <asio_retry/traffic/fleet_budget.hpp>

#include "traffic/option_rules.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <limits>

namespace asio_retry {
namespace {

constexpr std::int64_t whole_token = 1'000'000'000;
constexpr std::int64_t most_earned = 4'000'000'000'000'000'000; // the sum of two such numbers still fits

std::int64_t counted_of(double tokens) noexcept {
    return static_cast<std::int64_t>(std::min(std::round(tokens * whole_token), 4e18));
}

fleet_budget_options const& checked(fleet_budget_options const& o) {
    detail::demand(o.batch > 0, "fleet_budget.batch", o.batch, "must be positive");
    detail::positive("fleet_budget.interval", o.interval);
    detail::demand(o.greatest_interval >= o.interval, "fleet_budget.greatest_interval", o.greatest_interval,
                   "must not be less than the interval", o.interval);
    detail::positive("fleet_budget.lease", o.lease);
    detail::share("fleet_budget.ratio", o.ratio);
    detail::positive("fleet_budget.window", o.window);
    detail::demand(std::isfinite(o.capacity) && o.capacity >= 1, "fleet_budget.capacity", o.capacity,
                   "must be finite and at least 1");
    detail::amount("fleet_budget.per_second", o.per_second);
    return o;
}

std::string text_of(double value) {
    char text[32]; // the shortest digits that name this value and no other
    return {text, std::to_chars(std::begin(text), std::end(text), value).ptr};
}

// `%.17g` writes every double exactly. Bad numbers, and a clock that was set back, do no harm.
constexpr std::string_view lua = R"(
local time = redis.call('TIME')
local now = tonumber(time[1]) + tonumber(time[2]) / 1000000
local earned, wanted = tonumber(ARGV[1]), tonumber(ARGV[2])
local capacity, per_second = tonumber(ARGV[3]), tonumber(ARGV[4])
local bucket = redis.call('HMGET', KEYS[1], 'tokens', 'at')
local tokens, at = tonumber(bucket[1]), tonumber(bucket[2])
if not tokens or not at or tokens ~= tokens or at ~= at then
  tokens, at = capacity, now
end
tokens = math.min(capacity, tokens + earned + per_second * math.max(0, now - at))
local granted = math.max(0, math.min(wanted, math.floor(tokens)))
redis.call('HSET', KEYS[1], 'tokens', string.format('%.17g', tokens - granted), 'at', string.format('%.6f', now))
redis.call('EXPIRE', KEYS[1], 3600)
return granted
)";

} // namespace

fleet_budget::fleet_budget(fleet_budget_options const& options)
    : options_(checked(options))
    , interval_(options.interval) {}

std::string_view fleet_budget::script() noexcept {
    return lua;
}

std::vector<std::string> fleet_budget::arguments(fleet_request const& request) const {
    return {text_of(request.earned), std::to_string(request.wanted), text_of(options_.capacity),
            text_of(options_.per_second)};
}

std::uint32_t fleet_budget::held() const noexcept {
    std::lock_guard const lock(mutex_);
    return static_cast<std::uint32_t>(
        std::min<std::uint64_t>(held_, std::numeric_limits<std::uint32_t>::max()));
}

// --- questions

std::optional<fleet_request> fleet_budget::poll(time_point now) noexcept {
    std::lock_guard const lock(mutex_);
    look(now);
    std::uint64_t const needed = missing();
    if (needed == 0 || under_way_ || now < ask_again_)
        return std::nullopt;
    auto const wanted = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(needed + options_.batch - 1, std::numeric_limits<std::uint32_t>::max()));
    under_way_ = question{earned_, wanted};
    earned_ = 0;
    return fleet_request{static_cast<double>(under_way_->earned) / whole_token, wanted};
}

void fleet_budget::on_granted(std::uint32_t tokens, time_point now) noexcept {
    std::lock_guard const lock(mutex_);
    if (!under_way_)
        return;
    look(now);
    held_ += std::min(tokens, under_way_->wanted);
    empty_ = tokens == 0;
    bool const may_double = interval_ <= options_.greatest_interval / 2;
    duration const longer = may_double ? interval_ * 2 : duration(options_.greatest_interval);
    interval_ = empty_ ? longer : duration(options_.interval);
    end_question(now);
}

void fleet_budget::on_unavailable(time_point now) noexcept {
    std::lock_guard const lock(mutex_);
    if (!under_way_)
        return;
    look(now);
    earned_ = std::min(earned_ + under_way_->earned, most_earned);
    held_ += static_cast<std::uint64_t>(earned_ / whole_token);
    earned_ %= whole_token;
    empty_ = false;
    interval_ = options_.interval;
    end_question(now);
}

void fleet_budget::end_question(time_point now) noexcept {
    under_way_.reset();
    missed_ = false;
    answered_ = now;
    ask_again_ = saturating_add(now, interval_);
}

/// How many tokens are missing beyond the held ones.
std::uint64_t fleet_budget::missing() const noexcept {
    // The maximum, not the sum: a retry that found no token may still be reserved.
    std::uint64_t const used = std::max<std::uint64_t>(reserved_, missed_);
    return used > held_ ? used - held_ : 0;
}

// --- retries

bool fleet_budget::acquire(failure_kind, time_point now) noexcept {
    std::lock_guard const lock(mutex_);
    look(now);
    if (empty_ && now < ask_again_ && reserved_ >= held_)
        return false;
    ++reserved_;
    return true;
}

void fleet_budget::give_back(failure_kind) noexcept {
    std::lock_guard const lock(mutex_);
    reserved_ -= reserved_ != 0;
}

admission fleet_budget::admit(std::uint64_t number, time_point now) noexcept {
    if (number == 1)
        return now;
    std::lock_guard const lock(mutex_);
    if (held_ == 0) {
        missed_ = true;
        return time_point::max();
    }
    --held_;
    reserved_ -= reserved_ != 0;
    return now;
}

void fleet_budget::on_end(attempt_end const& end) noexcept {
    if (end.outcome == attempt_end::how::succeeded) {
        successes_.fetch_add(1, std::memory_order_relaxed);
    } else if (end.outcome == attempt_end::how::abandoned && end.number > 1 &&
               end.after == failure_kind::none) {
        std::lock_guard const lock(mutex_); // the retry has not begun: its token is held and reserved again
        ++held_;
        ++reserved_;
    }
}

// --- time

/// Accounts for the time and the successes since the last look. A `now` before that look counts as its time.
void fleet_budget::look(time_point now) noexcept {
    std::uint64_t const successes = successes_.exchange(0, std::memory_order_relaxed);
    if (looked_) {
        now = std::max(now, *looked_);
        std::int64_t const returned = returned_at(now);
        earned_ = std::min(earned_after(successes, elapsed_between(*looked_, now)) + returned, most_earned);
        if (has_to_return(now))
            held_ = reserved_;
    }
    looked_ = now;
}

/// The successes count as spread over the time that has passed.
std::int64_t fleet_budget::earned_after(std::uint64_t successes, duration passed) const noexcept {
    double const x = in_windows(passed);
    double const all = options_.ratio * static_cast<double>(successes);
    auto const left = static_cast<std::int64_t>(static_cast<double>(earned_) * std::exp(-x));
    return std::min(left + counted_of(x > 0 ? all * -std::expm1(-x) / x : all), most_earned);
}

bool fleet_budget::has_to_return(time_point now) const noexcept {
    return now >= saturating_add(answered_, options_.lease) && held_ > reserved_;
}

/// Unreserved tokens fade from the end of the lease on, or from the last look on if they were reserved then.
std::int64_t fleet_budget::returned_at(time_point now) const noexcept {
    if (!has_to_return(now))
        return 0;
    time_point const free_from = saturating_add(answered_, options_.lease);
    double const faded = std::exp(-in_windows(elapsed_between(std::max(free_from, *looked_), now)));
    return counted_of(static_cast<double>(held_ - reserved_) * faded);
}

bool fleet_budget::is_idle(time_point now) const noexcept {
    std::lock_guard const lock(mutex_);
    if (reserved_ != 0 || under_way_ || missed_ || interval_ != options_.interval || now < ask_again_)
        return false;
    if (!looked_)
        return held_ == 0 && earned_ == 0;
    if (now < *looked_ || (held_ != 0 && !has_to_return(now)))
        return false;
    return earned_after(successes_.load(), elapsed_between(*looked_, now)) + returned_at(now) == 0;
}

double fleet_budget::in_windows(duration time) const noexcept {
    return static_cast<double>(time.count()) / static_cast<double>(options_.window.count());
}

} // namespace asio_retry
