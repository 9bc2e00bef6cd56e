#include "handler/serial_executor.hpp"

#include <mutex>
#include <new>
#include <utility>

namespace asio_retry::detail {
namespace {

/// A value that differs from thread to thread.
void const* this_thread() noexcept {
    static constinit thread_local char mark = 0;
    return &mark;
}

void drop(serial_function* function) noexcept {
    while (function)
        delete std::exchange(function, function->next);
}

} // namespace

serial_queue::~serial_queue() {
    drop(first_);
}

bool serial_queue::runs_here() const noexcept {
    return runner_.load(std::memory_order_relaxed) == this_thread();
}

bool serial_queue::try_enter() noexcept {
    std::lock_guard const lock(mutex_);
    if (is_taken_)
        return false;
    is_taken_ = true;
    runner_.store(this_thread(), std::memory_order_relaxed);
    return true;
}

bool serial_queue::add(std::unique_ptr<serial_function> function) noexcept {
    std::lock_guard const lock(mutex_);
    if (is_closed_)
        return false;
    *last_ = function.release();
    last_ = &(*last_)->next;
    return !std::exchange(is_taken_, true);
}

void serial_queue::run_turn() {
    constexpr unsigned most_functions = 64;
    runner_.store(this_thread(), std::memory_order_relaxed);
    serial_function* const* end;
    {
        std::lock_guard const lock(mutex_);
        end = last_;
    }
    for (unsigned count = 0; count != most_functions; ++count) {
        serial_function* const function = take();
        if (!function)
            return;
        bool const is_last = &function->next == end;
        function->run();
        if (is_last)
            return;
    }
}

/// Takes the next function. Null if none waits.
serial_function* serial_queue::take() noexcept {
    std::lock_guard const lock(mutex_);
    serial_function* const function = first_;
    if (function && !(first_ = function->next))
        last_ = &first_;
    return function;
}

bool serial_queue::end() noexcept {
    runner_.store(nullptr, std::memory_order_relaxed);
    std::lock_guard const lock(mutex_);
    return is_taken_ = first_ != nullptr;
}

void serial_queue::close() noexcept {
    serial_function* lost;
    {
        std::lock_guard const lock(mutex_);
        is_closed_ = true;
        lost = std::exchange(first_, nullptr);
        last_ = &first_;
    }
    drop(lost);
}

void* serial_queue::allocate(std::size_t size) {
    return size <= sizeof memory_ ? memory_ : ::operator new(size);
}

void serial_queue::deallocate(void* place) noexcept {
    if (place != memory_)
        ::operator delete(place);
}

} // namespace asio_retry::detail
