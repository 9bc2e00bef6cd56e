#include <asio_retry/detail/ticker/pause_wait.hpp>

namespace asio_retry::detail {

void pause_wait::begin(duration length) {
    if (length <= duration::zero())
        return post();
    if (!scheduler_.schedule(*this, saturating_add(scheduler_.now(), length)))
        dissolve();
}

void pause_wait::on_cancelled(boost::asio::cancellation_type_t type) {
    if (type == boost::asio::cancellation_type::none)
        return;
    cancelled_ = true;
    if (scheduler_.cancel(*this))
        queue();
}

/// Precondition: nobody else has the wait. Without memory to queue its turn, the scheduler retries until there
/// is memory.
void pause_wait::queue() {
    try {
        return post();
    } catch (...) { // `post` threw: no turn is queued
    }
    bool waits = false;
    try {
        waits = scheduler_.schedule(*this, scheduler_.now());
    } catch (...) { // it cannot be scheduled, either: the turn runs on this thread
        return end();
    }
    if (!waits)
        dissolve();
}

bool pause_wait::on_expiry() {
    return post_or_end([this] { post(); }, [this] { end(); });
}

} // namespace asio_retry::detail
