#include <asio_retry/detail/policy/report_recorder.hpp>

#include <asio_retry/verdict.hpp>

#include <algorithm>
#include <utility>

namespace asio_retry::detail {

void report_recorder::clear() noexcept {
    auto memory = std::move(report_->history);
    memory.clear();
    auto policy = std::move(report_->policy); // keep the memory of the string, too
    policy.clear();
    *report_ = retry_report(report_->last_);
    report_->history = std::move(memory);
    report_->policy = std::move(policy);
}

void report_recorder::make_room(std::string_view policy) {
    report_->policy = policy;
    report_->history.reserve(report_->last_ + 1);
}

void report_recorder::on_start(time_point now) noexcept {
    started_ = now;
}

void report_recorder::on_attempt(std::uint64_t number, time_point) noexcept {
    report_->attempts = number;
}

/// Notes a time. The end may come without one.
void report_recorder::see(time_point now) noexcept {
    report_->elapsed = std::max(report_->elapsed, elapsed_between(started_, now));
}

void report_recorder::on_failure(verdict const& failure, interruption stopped, time_point now) noexcept {
    see(now);
    bool const timed_out = stopped == interruption::deadline || stopped == interruption::attempt_timeout;
    if (stopped == interruption::none || failure.error() != aborted_error()) {
        report_->last_error = failure.error();
        report_->last_exception = failure.exception();
    }
    auto& history = report_->history;
    if (report_->last_ != 0 && history.size() > report_->last_)
        history.erase(history.begin() + 1);
    if (history.size() <= report_->last_)
        history.push_back({report_->attempts,
                           timed_out ? timed_out_error() : failure.error(),
                           stopped,
                           report_->elapsed,
                           {},
                           failure.exception()});
}

void report_recorder::on_wait(duration delay, time_point now) noexcept {
    waiting_since_ = now;
    auto& history = report_->history;
    bool const is_first = !history.empty() && history.back().number == report_->attempts &&
                          history.back().delay == duration::zero(); // a gate that refuses adds waits
    if (is_first)
        history.back().delay = delay;
}

void report_recorder::on_wait_over(time_point now) noexcept {
    see(now);
    report_->waited += elapsed_between(waiting_since_, now);
}

void report_recorder::on_end(stop_reason reason, time_point now) noexcept {
    see(now);
    report_->reason = reason;
    report_->ended = true;
}

void report_recorder::on_hook_exception(std::exception_ptr const& thrown) noexcept {
    if (report_->hook_exceptions++ == 0)
        report_->hook_exception = thrown;
}

} // namespace asio_retry::detail
