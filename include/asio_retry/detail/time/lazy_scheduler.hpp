#pragma once

#include <asio_retry/random.hpp>
#include <asio_retry/retry_scheduler.hpp>

#include <boost/asio/execution_context.hpp>
#include <boost/asio/io_context.hpp>

#include <atomic>
#include <cassert>
#include <cstdint>
#include <memory>

namespace asio_retry::detail {

/// The scheduler of an operation and its stream of random numbers, looked up when first needed: for a time
/// limit, or after the first failure. A stream without a seed is taken only when a number is drawn.
///
/// Thread safety: once it is found, any thread may call `get`, also while the operation takes its stream.
class lazy_scheduler {
public:
    lazy_scheduler() noexcept {}
    lazy_scheduler(lazy_scheduler const&) = delete;
    lazy_scheduler& operator=(lazy_scheduler const&) = delete;

    bool is_found() const noexcept { return found() != 0; }

    /// Looks the scheduler up. `known` is null, or the context as an io_context. Precondition: !is_found().
    void find_in(boost::asio::execution_context& context, boost::asio::io_context* known) {
        take(scheduler(context), known == &context ? known : nullptr);
    }

    /// Takes a scheduler, and its context if that is an io_context. Precondition: !is_found().
    void take(retry_scheduler& found, boost::asio::io_context* own) {
        assert(!is_found());
        if (own)
            found.go_on_in(*own);
        found_.store(reinterpret_cast<std::uintptr_t>(&found), std::memory_order_relaxed);
        if (retry_scheduler::any_seeded())
            take_stream();
    }

    // Precondition: is_found()
    retry_scheduler& get() const noexcept { return *reinterpret_cast<retry_scheduler*>(found() & ~has_stream); }
    random& get_random() noexcept {
        if ((found() & has_stream) == 0)
            take_stream();
        return random_;
    }

private:
    static constexpr std::uintptr_t has_stream = 1;
    static_assert(alignof(retry_scheduler) > has_stream);

    ASIO_RETRY_DECL void take_stream() noexcept;

    std::uintptr_t found() const noexcept { return found_.load(std::memory_order_relaxed); }

    std::atomic<std::uintptr_t> found_ = 0; // the address of the scheduler, and a bit for the stream
    union {
        random random_;
    };
};

} // namespace asio_retry::detail
