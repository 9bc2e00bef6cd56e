#include <asio_retry/fault_plan.hpp>

#include <asio_retry/detail/policy/refuse.hpp>
#include <asio_retry/random.hpp>

#include "inject/held_attempts.hpp"

#include <string>

namespace asio_retry {
namespace {

double checked_share(std::string const& field, double share) {
    if (!(0 <= share && share <= 1))
        detail::refuse(field, share, "must be in [0, 1]");
    return share;
}

double checked_errors(std::string const& field, fault_errors const& errors) {
    checked_share(field + ".share", errors.share);
    if (errors.share > 0 && !errors.code)
        detail::refuse(field + ".code",
                       std::string(errors.code.category().name()) + ':' + std::to_string(errors.code.value()),
                       "must be an error");
    return errors.share;
}

fault_options const& checked(fault_options const& options) {
    double sum = checked_errors("fault_plan.errors", options.errors);
    sum += checked_errors("fault_plan.lost_answers", options.lost_answers);
    sum += checked_share("fault_plan.delays.share", options.delays.share);
    sum += checked_share("fault_plan.hangs", options.hangs);
    constexpr double rounding = 1e-9;
    if (sum > 1 + rounding)
        detail::refuse("fault_plan.shares", sum, "the sum of all shares must be at most 1");
    detail::non_negative("fault_plan.delays.least", options.delays.least);
    if (options.delays.least > options.delays.greatest)
        detail::refuse("fault_plan.delays.least", options.delays.least,
                       "must not exceed fault_plan.delays.greatest", options.delays.greatest);
    return options;
}

/// Uniform in [0, 1).
double unit(random& source) noexcept {
    return static_cast<double>(source() >> 11) * 0x1p-53;
}

} // namespace

fault_plan::fault_plan()
    : fault_plan(fault_options()) {}

fault_plan::fault_plan(fault_options const& options)
    : options_(checked(options))
    , seed_(options.seed ? *options.seed : entropy_seed()) {}

fault_plan::~fault_plan() = default;

void fault_plan::enable() noexcept {
    enabled_.store(true, std::memory_order_relaxed);
}

void fault_plan::disable() noexcept {
    detail::linked_list<detail::held_attempt> leaving;
    {
        std::lock_guard const lock(mutex_);
        enabled_.store(false, std::memory_order_relaxed);
        era_.fetch_add(1, std::memory_order_relaxed);
        leaving.append(held_);
    }
    // In portions, because attempts that begin meanwhile wait for the mutex.
    while (detail::fault_access::let_some_go(*this, leaving)) {
    }
}

void fault_plan::update(fault_options const& options) {
    checked(options);
    std::lock_guard const lock(mutex_);
    options_ = options;
    if (options.seed) {
        seed_ = *options.seed;
        next_ = 0;
    }
}

fault_counts fault_plan::counts() const noexcept {
    std::lock_guard const lock(mutex_);
    return counts_;
}

detail::injected_fault fault_plan::draw() noexcept {
    using kind = detail::injected_fault::kind;
    std::lock_guard const lock(mutex_);
    detail::injected_fault fault;
    fault.era = era_.load(std::memory_order_relaxed);
    if (!is_enabled()) // another thread may have disabled it
        return fault;
    ++counts_.attempts;
    random source(seed_, next_++);
    double left = unit(source); // one draw, and each kind has its share of [0, 1)
    auto const falls_to = [&](double share) {
        bool const falls = left < share;
        left -= share;
        return falls;
    };
    if (falls_to(options_.errors.share)) {
        ++counts_.errors;
        fault.what = kind::error;
        fault.code = options_.errors.code;
    } else if (falls_to(options_.lost_answers.share)) { // the answer is counted when it is lost
        fault.what = kind::lost_answer;
        fault.code = options_.lost_answers.code;
    } else if (falls_to(options_.delays.share)) {
        ++counts_.delays;
        fault.what = kind::delay;
        fault.length = source.uniform(options_.delays.least, options_.delays.greatest);
    } else if (falls_to(options_.hangs)) {
        ++counts_.hangs;
        fault.what = kind::hang;
    }
    return fault;
}

detail::injected_fault detail::fault_access::draw(fault_plan& plan) noexcept {
    return plan.draw();
}

void detail::fault_access::count_lost_answer(fault_plan& plan) noexcept {
    std::lock_guard const lock(plan.mutex_);
    ++plan.counts_.lost_answers;
}

bool detail::fault_access::is_over(fault_plan const& plan, injected_fault const& fault) noexcept {
    return plan.era_.load(std::memory_order_relaxed) != fault.era;
}

void detail::fault_access::forget(fault_plan& plan, held_attempt& attempt) noexcept {
    std::lock_guard const lock(plan.mutex_);
    if (attempt.is_linked())
        linked_list<held_attempt>::erase(attempt);
}

bool detail::fault_access::let_some_go(fault_plan& plan, linked_list<held_attempt>& leaving) noexcept {
    constexpr int most = 64;
    std::lock_guard const lock(plan.mutex_);
    for (int i = 0; i != most && !leaving.empty(); ++i) {
        held_attempt& attempt = leaving.front();
        leaving.pop_front();
        attempt.let_go();
    }
    return !leaving.empty();
}

} // namespace asio_retry
