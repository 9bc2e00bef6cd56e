#include <asio_retry/virtual_time.hpp>

#include <asio_retry/detail/policy/refuse.hpp>

#include <boost/asio/executor_work_guard.hpp>

namespace asio_retry {

virtual_time::virtual_time(boost::asio::io_context& context)
    : context_(context)
    , scheduler_(scheduler(context)) {
    scheduler_.stop_clock();
    scheduler_.slack(duration::zero()).seed(0);
}

virtual_time::~virtual_time() {
    scheduler_.restart_clock();
}

time_point virtual_time::now() const noexcept {
    return scheduler_.now();
}

std::size_t virtual_time::advance(saturating_duration by) {
    time_point const target = saturating_add(now(), detail::non_negative("advance", by));
    std::size_t const handlers = run_until(target);
    scheduler_.advance_clock(target);
    return handlers;
}

std::size_t virtual_time::jump(saturating_duration by) {
    scheduler_.set_clock(saturating_add(now(), by));
    return run_until(now());
}

std::size_t virtual_time::run() {
    return run_until(time_point::max());
}

/// Gives the context work, so that it stops only if somebody stops it, and not when it runs dry.
std::size_t virtual_time::run_until(time_point limit) {
    context_.restart();
    auto const work = boost::asio::make_work_guard(context_);
    std::size_t handlers = poll();
    while (!context_.stopped() && scheduler_.advance_to_next_expiry(limit))
        handlers += poll();
    return handlers;
}

/// Polls until nothing is ready, because a handler may make others ready.
std::size_t virtual_time::poll() {
    std::size_t handlers = 0;
    while (std::size_t const ran = context_.poll())
        handlers += ran;
    return handlers;
}

} // namespace asio_retry
