#pragma once

#include <boost/asio/associated_allocator.hpp>
#include <boost/asio/execution/context.hpp>
#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/thread_pool.hpp>

#include <memory>
#include <type_traits>
#include <utility>

namespace asio_retry::detail {

/// Queues a function for the threads of the context, as its own executor would, and keeps them from ending
/// where work is tracked: for a timer that another scheduler completes than that of its context, as Windows has
/// it with that of a thread_pool, or that has no memory to wait. A context without such a scheduler is left as
/// it is.
class pool_executor {
public:
    explicit pool_executor(boost::asio::execution_context& context)
        : context_(&context)
        , scheduler_(boost::asio::has_service<scheduler>(context)
                         ? &boost::asio::use_service<scheduler>(context)
                         : nullptr) {}
    pool_executor(pool_executor const& other) noexcept
        : pool_executor(other, other.is_work_) {}
    pool_executor& operator=(pool_executor const&) = delete;
    ~pool_executor() {
        if (is_work_)
            scheduler_->work_finished();
    }

    /// Whether the context has such a scheduler.
    bool can_queue() const noexcept { return scheduler_ != nullptr; }

    boost::asio::execution_context& query(boost::asio::execution::context_t) const noexcept {
        return *context_;
    }

    pool_executor require(boost::asio::execution::outstanding_work_t::tracked_t) const noexcept {
        return pool_executor(*this, scheduler_ != nullptr);
    }

    template <typename Function>
    void execute(Function&& function) const {
        if (!scheduler_)
            return static_cast<void>(std::forward<Function>(function)());
        using kept = std::decay_t<Function>;
        using allocator = boost::asio::associated_allocator_t<kept>;
        using operation = boost::asio::detail::executor_op<kept, allocator>;
        allocator const memory = boost::asio::get_associated_allocator(function);
        typename operation::ptr op = {std::addressof(memory), operation::ptr::allocate(memory), nullptr};
        op.p = new (op.v) operation(std::forward<Function>(function), memory);
        scheduler_->post_immediate_completion(op.p, false);
        op.v = op.p = nullptr;
    }

    friend bool operator==(pool_executor const& a, pool_executor const& b) noexcept {
        return a.context_ == b.context_ && a.is_work_ == b.is_work_;
    }
    friend bool operator!=(pool_executor const& a, pool_executor const& b) noexcept { return !(a == b); }

private:
    using scheduler = boost::asio::detail::scheduler;

    pool_executor(pool_executor const& other, bool is_work) noexcept
        : context_(other.context_)
        , scheduler_(other.scheduler_)
        , is_work_(is_work) {
        if (is_work_)
            scheduler_->work_started();
    }

    boost::asio::execution_context* context_;
    scheduler* scheduler_;
    bool is_work_ = false;
};

} // namespace asio_retry::detail
