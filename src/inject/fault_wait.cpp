#include <asio_retry/detail/inject/fault_wait.hpp>

#include "inject/held_attempts.hpp"

#include <utility>

namespace asio_retry::detail {

fault_wait::fault_wait(std::shared_ptr<fault_plan> plan, injected_fault const& fault) noexcept
    : plan_(std::move(plan))
    , fault_(fault) {}

fault_wait::~fault_wait() = default;

void fault_wait::begin(retry_scheduler& scheduler) {
    using kind = injected_fault::kind;
    if (fault_.what == kind::error)
        return post();
    scheduler_ = &scheduler;
    time_point const over =
        fault_.what == kind::hang ? (time_point::max)() : saturating_add(scheduler.now(), fault_.length);
    bool waits = false;
    auto const plan = plan_; // the wait may be gone as soon as it has begun
    if (!fault_access::hold(*plan, *this, fault_, [&] { return waits = scheduler.schedule(*this, over); }))
        post();
    else if (!waits)
        dissolve();
}

error_code fault_wait::outcome() const noexcept {
    return cancelled_ ? aborted_error() : fault_.code;
}

void fault_wait::on_cancelled(boost::asio::cancellation_type_t type) {
    if (type == boost::asio::cancellation_type::none)
        return;
    cancelled_ = true;
    if (scheduler_ && scheduler_->cancel(*this))
        queue();
}

/// Precondition: nobody else has the wait. Without memory to queue its turn, the scheduler retries until there
/// is memory.
void fault_wait::queue() {
    fault_access::forget(*plan_, *this);
    try {
        return post();
    } catch (...) { // `post` threw: no turn is queued
    }
    bool waits = false;
    try {
        waits = scheduler_->schedule(*this, scheduler_->now());
    } catch (...) { // it cannot be scheduled, either: the turn runs on this thread
        return end();
    }
    if (!waits)
        dissolve();
}

bool fault_wait::on_expiry() {
    fault_access::forget(*plan_, *this);
    return post_or_end([this] { post(); }, [this] { end(); });
}

void fault_wait::on_shutdown() noexcept {
    fault_access::forget(*plan_, *this); // before any part of it is gone: another thread may disable the plan
    dissolve();
}

void fault_wait::let_go() noexcept {
    scheduler_->end_by(*this, scheduler_->now());
}

} // namespace asio_retry::detail
