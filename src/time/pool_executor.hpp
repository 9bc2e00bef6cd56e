#pragma once

#include "time/context_executor.hpp"
#include "time/schedulers_of_asio.hpp"

#include <boost/asio/associated_allocator.hpp>
#include <boost/asio/execution/context.hpp>
#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/thread_pool.hpp>

#include <memory>
#include <type_traits>
#include <utility>

namespace asio_retry::detail {

template <typename Scheduler, typename Function, typename Allocator>
using queued_operation = boost::asio::detail::executor_op<Function, Allocator, typename Scheduler::operation>;

/// Whether Asio has the names that queueing_executor needs.
template <typename Scheduler, typename Function = void (*)(), typename Allocator = std::allocator<void>>
concept queues_operations = requires(Scheduler& queue, void* memory, Allocator allocator) {
    typename queued_operation<Scheduler, Function, Allocator>::ptr;
    queue.post_immediate_completion(
        new (memory) queued_operation<Scheduler, Function, Allocator>(nullptr, allocator), false);
    queue.work_started();
    queue.work_finished();
};

/// Queues functions for the threads of the context, like the context's own executor. Tracked work keeps these
/// threads running. It serves timers that another scheduler completes, such as those of a thread_pool on
/// Windows, and timers without memory to wait. If the context has no such scheduler, functions run at once.
template <typename Scheduler>
class queueing_executor {
public:
    explicit queueing_executor(boost::asio::execution_context& context)
        : context_(&context)
        , scheduler_(boost::asio::has_service<Scheduler>(context)
                         ? &boost::asio::use_service<Scheduler>(context)
                         : nullptr) {}
    queueing_executor(queueing_executor const& other) noexcept
        : queueing_executor(other, other.is_work_) {}
    queueing_executor& operator=(queueing_executor const&) = delete;
    ~queueing_executor() {
        if (is_work_)
            scheduler_->work_finished();
    }

    /// Whether the context has such a scheduler.
    bool can_queue() const noexcept { return scheduler_ != nullptr; }

    boost::asio::execution_context& query(boost::asio::execution::context_t) const noexcept {
        return *context_;
    }

    queueing_executor require(boost::asio::execution::outstanding_work_t::tracked_t) const noexcept {
        return queueing_executor(*this, scheduler_ != nullptr);
    }

    template <typename Function>
    void execute(Function&& function) const {
        if (!scheduler_)
            return static_cast<void>(std::forward<Function>(function)());
        using kept = std::decay_t<Function>;
        using allocator = boost::asio::associated_allocator_t<kept>;
        using queued = queued_operation<Scheduler, kept, allocator>;
        allocator const memory = boost::asio::get_associated_allocator(function);
        typename queued::ptr op = {std::addressof(memory), queued::ptr::allocate(memory), nullptr};
        op.p = new (op.v) queued(std::forward<Function>(function), memory);
        scheduler_->post_immediate_completion(op.p, false);
        op.v = op.p = nullptr;
    }

    friend bool operator==(queueing_executor const& a, queueing_executor const& b) noexcept {
        return a.context_ == b.context_ && a.is_work_ == b.is_work_;
    }
    friend bool operator!=(queueing_executor const& a, queueing_executor const& b) noexcept {
        return !(a == b);
    }

private:
    queueing_executor(queueing_executor const& other, bool is_work) noexcept
        : context_(other.context_)
        , scheduler_(other.scheduler_)
        , is_work_(is_work) {
        if (is_work_)
            scheduler_->work_started();
    }

    boost::asio::execution_context* context_;
    Scheduler* scheduler_;
    bool is_work_ = false;
};

/// The fallback if Asio has renamed these names: functions run at once.
template <typename Scheduler>
struct executor_of_pool : std::type_identity<context_executor> {};
template <queues_operations Scheduler>
struct executor_of_pool<Scheduler> : std::type_identity<queueing_executor<Scheduler>> {};
using pool_executor = executor_of_pool<scheduler_of_pool>::type;

} // namespace asio_retry::detail
