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

    /// Known once the wait has ended: by retry_scheduler::end_early, not because its time had come.
    bool was_ended_early() const noexcept { return expiry_ == early; }

protected:
    wait_node() noexcept = default;
    wait_node(wait_node const&) = delete;
    wait_node& operator=(wait_node const&) = delete;
    ~wait_node() = default;

    static constexpr time_point early = (time_point::min)(); // no expiry that anybody asks for

private:
    friend class scheduled_waits;
    friend class timing_wheel;
    friend class wait_arrivals;

    /// The wait ended. Called once for each expiry, without a lock, on some thread that runs the context.
    /// Returns false if there is no memory to see to that; then nothing happened, and the call is made again
    /// later.
    virtual bool on_expiry() = 0;

    /// The context is being destroyed and the wait will never end.
    virtual void on_shutdown() noexcept = 0;

    time_point expiry_{};
};

/// For `on_expiry`: queues a turn, or, where its executor takes nothing, goes on where it stands. Returns false
/// if there is no memory to queue it.
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
