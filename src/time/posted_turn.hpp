#pragma once

#include <boost/asio/bind_allocator.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/recycling_allocator.hpp>

#include <atomic>

namespace asio_retry::detail {

/// A turn of the scheduler that is queued on its context. There is at most one. It calls
/// `owner.on_posted_turn()`, which begins with `on_begun`. Until then the timer takes no turn, so that the
/// scheduler has only one turn between other handlers. Thread safety: the owner's mutex guards everything
/// except `set_context`.
template <typename Owner>
class posted_turn {
public:
    explicit posted_turn(Owner& owner) noexcept
        : owner_(owner) {}

    /// Stores the io_context, because an execution_context does not reveal it. Without it no turn can be
    /// posted.
    void set_context(boost::asio::io_context& own) noexcept {
        if (!context_.load(std::memory_order_relaxed))
            context_.store(&own, std::memory_order_relaxed);
    }

    /// Returns false if no turn can be posted: then the caller arms the timer, at a greater cost.
    bool post() noexcept {
        boost::asio::io_context* const context = context_.load(std::memory_order_relaxed);
        if (is_posted_ || !context)
            return is_posted_;
        try {
            boost::asio::post(*context, boost::asio::bind_allocator(boost::asio::recycling_allocator<void>(),
                                                                    [this] { owner_.on_posted_turn(); }));
        } catch (...) { // no memory
            return false;
        }
        return is_posted_ = true;
    }

    bool is_posted() const noexcept { return is_posted_; }

    void on_begun() noexcept { is_posted_ = false; }

private:
    Owner& owner_;
    std::atomic<boost::asio::io_context*> context_ = nullptr;
    bool is_posted_ = false;
};

} // namespace asio_retry::detail
