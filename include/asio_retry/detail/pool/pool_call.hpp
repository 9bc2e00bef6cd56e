#pragma once

#include <asio_retry/attempt.hpp>
#include <asio_retry/detail/attempt/completion.hpp>
#include <asio_retry/detail/attempt/operation_form.hpp>
#include <asio_retry/detail/handler/asio.hpp>
#include <asio_retry/detail/handler/late_completion.hpp>
#include <asio_retry/detail/handler/operation_executors.hpp>
#include <asio_retry/detail/handler/pending_calls.hpp>
#include <asio_retry/detail/handler/queued_turn.hpp>
#include <asio_retry/detail/pool/noted_marks.hpp>
#include <asio_retry/error.hpp>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/execution/context.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/query.hpp>

#include <atomic>
#include <chrono>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>

namespace asio_retry::detail {

/// One attempt: a blocking call on the executor of a pool, and the handler that it completes.
///
/// `Call::form` is how `Call::run(attempt)` calls. The pool owns *this until the call has returned. Then a turn
/// on the handler's executor owns it. The context where the operation waits owns it, too. The end of that
/// context, or of that of the handler's executor, abandons it.
template <typename Call, typename Handler>
class pool_call final : public pending_call, public std::enable_shared_from_this<pool_call<Call, Handler>> {
    using form = typename Call::form;
    using completion = detail::completion<typename form::signature>;
    using arguments = typename completion::arguments;
    using result_type = typename form::result_type;
    using caller = working_handler<Handler>;
    using executor_type = typename caller::executor_type;

public:
    pool_call(Call&& call, attempt const& which, Handler&& given_handler)
        : call_(std::move(call))
        , marks_(which)
        , caller_(std::in_place, std::move(given_handler)) {}

    template <typename Pool>
    void start(Pool const& pool) {
        auto const self = this->shared_from_this();
        auto slot = asio::get_associated_cancellation_slot(caller_->handler);
        if (slot.is_connected())
            slot.assign(canceller{self});
        asio::execution_context& waits_in =
            asio::query(executor_to_wait_on(caller_->handler), asio::execution::context);
        if constexpr (asio::can_query<executor_type, asio::execution::context_t>::value)
            places_.take(self, waits_in, asio::query(caller_->runs_on.get(), asio::execution::context));
        else
            places_.take(self, waits_in, waits_in);
        marks_.mark_sent();
        running_ = self;
        try {
            queue_turn(*this, run_turn(), [&](auto turn) { asio::post(pool, std::move(turn)); });
        } catch (...) {
            running_.reset();
            places_.leave();
            throw;
        }
    }

    bool abandon() noexcept override {
        leave_queue(phase::given_up); // or the pool would call when everything else is gone
        std::optional<caller> destroyed;
        std::scoped_lock const lock(*mutex_); // waits for a thread of the pool that is posting
        return caller::take(caller_, destroyed);
    }

    struct run_turn {};
    struct end_turn {};
    template <typename>
    using turn_allocator = std::allocator<void>;
    template <typename Turn>
    std::allocator<void> get_turn_allocator(Turn) const noexcept {
        return {};
    }

    /// On a thread of the pool.
    void on_turn(run_turn) noexcept {
        auto const self = std::move(running_);
        if (!leave_queue(phase::running))
            return;
        try {
            put_result();
        } catch (...) {
            thrown_by_value_ = std::current_exception();
        }
        deliver(self, true);
    }

    /// The pool has been destroyed, or its executor takes nothing.
    void on_turn_dropped(run_turn) noexcept {
        auto const self = std::move(running_);
        if (leave_queue(phase::given_up))
            give_up(self, true);
    }

    /// On the handler's executor.
    void on_turn(end_turn) {
        auto const self = std::move(ending_);
        std::optional<caller> completed;
        {
            std::scoped_lock const lock(*mutex_); // `deliver` has ended, and with it its copy of the executor
            if (!caller::take(caller_, completed))
                return; // abandoned, by the end of the context where the operation waits
        }
        places_.leave();
        complete(*completed);
    }

    void on_turn_dropped(end_turn) noexcept {
        auto const self = std::move(ending_);
        abandon();
    }

private:
    enum class phase : unsigned char { queued, running, given_up };

    struct canceller {
        void operator()(asio::cancellation_type_t type) const {
            auto const to = call.lock();
            if (type != asio::cancellation_type::none && to && to->leave_queue(phase::given_up))
                to->give_up(to, false);
        }
        std::weak_ptr<pool_call> call; // the slot may outlive an abandoned call
    };

    bool leave_queue(phase to) noexcept {
        auto from = phase::queued;
        return phase_.compare_exchange_strong(from, to);
    }

    void put_result() {
        try {
            if constexpr (std::is_void_v<result_type>) {
                call_.run(marks_.get());
                result_.emplace();
            } else {
                result_.emplace(returned<result_type>::arguments(result_type(call_.run(marks_.get()))));
            }
        } catch (...) {
            result_.emplace(completion::from_exception(std::current_exception()));
        }
    }

    void give_up(std::shared_ptr<pool_call> const& self, bool may_wait) noexcept {
        try {
            result_.emplace(completion::failed(aborted_error(), nullptr));
        } catch (...) {
            thrown_by_value_ = std::current_exception();
        }
        deliver(self, may_wait);
    }

    /// Queues the end on the handler's executor. Without memory for that, a thread of the pool waits until
    /// there is some. If the executor takes nothing, the call ends here.
    void deliver(std::shared_ptr<pool_call> const& self, bool may_wait) noexcept {
        auto const mutex = mutex_; // *this may be gone as soon as its end is queued
        constexpr std::chrono::milliseconds without_memory(1);
        for (;; std::this_thread::sleep_for(without_memory)) {
            std::scoped_lock const lock(*mutex);
            if (!caller_)
                return; // abandoned
            try {
                return queue_end(self);
            } catch (std::bad_alloc const&) {
                if (!may_wait)
                    return end_here();
            } catch (...) {
                return end_here();
            }
        }
    }

    void queue_end(std::shared_ptr<pool_call> const& self) {
        auto const executor = caller_->runs_on.get();
        auto const through = executor_to_wait_on(caller_->handler);
        ending_ = self;
        try {
            post_turn<end_turn>(executor, through, *this);
        } catch (...) {
            ending_.reset();
            throw;
        }
    }

    /// The context keeps what is left of the call.
    void end_here() noexcept {
        try {
            std::optional<caller> completed;
            if (caller::take(caller_, completed))
                complete(*completed);
        } catch (...) { // thrown by the handler: nobody is left to take it
        }
    }

    void complete(caller& of) {
        Handler handler = std::move(of.handler);
        auto slot = asio::get_associated_cancellation_slot(handler);
        if (slot.is_connected())
            slot.clear();
        if (thrown_by_value_)
            std::rethrow_exception(thrown_by_value_);
        marks_.pass_on();
        detail::unpack(std::move(handler), std::move(*result_), places_of<arguments>);
    }

    Call call_;
    noted_marks<form::takes_attempt> marks_;
    std::optional<arguments> result_;
    std::exception_ptr thrown_by_value_; // set if there is no result
    std::atomic<phase> phase_ = phase::queued;
    pending_places places_;
    // An executor may run or destroy a turn while it is given.
    std::shared_ptr<std::recursive_mutex> const mutex_ = std::make_shared<std::recursive_mutex>();
    std::shared_ptr<pool_call> running_; // until the pool has called
    std::shared_ptr<pool_call> ending_;  // until the end
    std::optional<caller> caller_;       // no value: abandoned, or complete
};

} // namespace asio_retry::detail
