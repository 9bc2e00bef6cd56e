#include <asio_retry/detail/blocking/thread_waits.hpp>

#include <thread>

#ifdef __cpp_lib_jthread
#include <condition_variable>
#include <mutex>
#endif

namespace asio_retry::detail {

void yield_thread() noexcept {
    std::this_thread::yield();
}

void thread_waits::wait_until(time_point when) const {
    std::this_thread::sleep_until(when);
}

#ifdef __cpp_lib_jthread
void stoppable_waits::wait_until(time_point when) const {
    std::mutex mutex;
    std::condition_variable_any never_notified;
    std::unique_lock lock(mutex);
    never_notified.wait_until(lock, token_, when, [] { return false; });
}
#endif

} // namespace asio_retry::detail
