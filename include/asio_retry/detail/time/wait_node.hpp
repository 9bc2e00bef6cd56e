#pragma once

#include <asio_retry/detail/policy/linked_list.hpp>
#include <asio_retry/duration.hpp>

#include <new>

namespace asio_retry::detail {

class scheduled_waits;
class timing_wheel;
class wait_arrivals;

/// One wait. It lives inside the operation that waits, so that waiting allocates nothing.
class wait_node : public list_hook<wait_node> {
public:
    time_point expiry() const noexcept { return expiry_; }

    /// Whether retry_scheduler::end_early, not its time, has ended the wait. Precondition: it has ended.
    bool was_ended_early() const noexcept { return expiry_ == early; }

protected:
    wait_node() noexcept = default;
    wait_node(wait_node const&) = delete;
    wait_node& operator=(wait_node const&) = delete;
    ~wait_node() = default;

    static constexpr time_point early = (time_point::min)(); // nobody asks for this expiry

private:
    friend class scheduled_waits;
    friend class timing_wheel;
    friend class wait_arrivals;

    /// Called when the wait has ended, once for each expiry, without a lock, on a thread that runs the context.
    /// Returns false without memory to go on: then nothing happened, and the scheduler calls again later.
    virtual bool on_expiry() = 0;

    /// Called when the context is being destroyed. The wait will never end.
    virtual void on_shutdown() noexcept = 0;

    time_point expiry_{};
};

/// For `on_expiry`: queues a turn, or goes on at once if the executor takes none. Returns false without memory.
template <typename Post, typename End>
bool post_or_end(Post post, End end) {
    try {
        post();
    } catch (std::bad_alloc const&) {
        return false;
    } catch (...) {
        end();
    }
    return true;
}

} // namespace asio_retry::detail
