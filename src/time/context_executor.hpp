#pragma once

#include <boost/asio/execution/context.hpp>
#include <boost/asio/execution_context.hpp>

#include <utility>

namespace asio_retry::detail {

/// Runs a function at once, on the thread of the context that completes the timer. The timer of a context
/// belongs to no user's strand.
class context_executor {
public:
    explicit context_executor(boost::asio::execution_context& context) noexcept
        : context_(&context) {}

    /// Asio has no public way to queue a function for the threads of any context.
    bool can_queue() const noexcept { return false; }

    boost::asio::execution_context& query(boost::asio::execution::context_t) const noexcept {
        return *context_;
    }

    template <typename Function>
    void execute(Function&& function) const {
        std::forward<Function>(function)();
    }

    friend bool operator==(context_executor a, context_executor b) noexcept { return a.context_ == b.context_; }
    friend bool operator!=(context_executor a, context_executor b) noexcept { return !(a == b); }

private:
    boost::asio::execution_context* context_;
};

} // namespace asio_retry::detail
