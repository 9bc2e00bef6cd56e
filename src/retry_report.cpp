#include <asio_retry/retry_report.hpp>

#include <algorithm>
#include <utility>

namespace asio_retry {

std::string_view to_string(interruption what) noexcept {
    switch (what) {
    case interruption::none:
        return "none";
    case interruption::attempt_timeout:
        return "attempt_timeout";
    case interruption::deadline:
        return "deadline";
    case interruption::cancellation:
        return "cancellation";
    }
    return "unknown interruption";
}

void retry_report::clear() {
    auto memory = std::move(history);
    memory.clear();
    memory.reserve(last_ + 1); // so that nothing is allocated later
    *this = retry_report(last_);
    history = std::move(memory);
}

void retry_report::start(time_point now) noexcept {
    started_ = now;
}

/// The end may be told no time of its own.
void retry_report::see(time_point now) noexcept {
    elapsed = std::max(elapsed, elapsed_between(started_, now));
}

void retry_report::add_failure(verdict const& failure, interruption stopped, time_point now) noexcept {
    see(now);
    bool const timed_out = stopped == interruption::deadline || stopped == interruption::attempt_timeout;
    if (stopped == interruption::none || failure.error() != aborted_error()) {
        last_error = failure.error();
        last_exception = failure.exception();
    }
    if (last_ != 0 && history.size() > last_)
        history.erase(history.begin() + 1);
    if (history.size() <= last_)
        history.push_back({attempts, timed_out ? timed_out_error() : failure.error(), stopped, elapsed, {}});
}

void retry_report::begin_wait(duration delay, time_point now) noexcept {
    waiting_since_ = now;
    if (!history.empty() && history.back().number == attempts)
        history.back().delay = delay;
}

void retry_report::end_wait(time_point now) noexcept {
    see(now);
    waited += elapsed_between(waiting_since_, now);
}

void retry_report::end(stop_reason why, time_point now) noexcept {
    see(now);
    reason = why;
    ended = true;
}

} // namespace asio_retry
