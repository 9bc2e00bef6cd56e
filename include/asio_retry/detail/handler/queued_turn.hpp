#pragma once

#include <asio_retry/detail/handler/asio.hpp>
#include <asio_retry/detail/handler/operation_executors.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/execution/blocking.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/require.hpp>

#include <concepts>
#include <cstdint>
#include <utility>

namespace asio_retry::detail {

/// Marks that this thread starts an attempt, emits to it or enters a strand. A completion that arrives on
/// this thread meanwhile is only noted; the code that made the mark handles it. So inline completions are a
/// loop, never a recursion.
///
/// The marks of a thread form a stack that only this thread looks at. So there is no race with a completion on
/// another thread while the initiating function is still returning.
class stack_mark {
public:
    explicit stack_mark(void const* given_operation) noexcept
        : operation_(given_operation)
        , outer_(innermost) {
        innermost = this;
    }
    ~stack_mark() { innermost = outer_; }
    stack_mark(stack_mark const&) = delete;
    stack_mark& operator=(stack_mark const&) = delete;

    static stack_mark* find(void const* operation) noexcept {
        stack_mark* mark = innermost;
        while (mark && mark->operation_ != operation)
            mark = mark->outer_;
        return mark;
    }

    std::uint32_t ended = 0; ///< attempts that have ended meanwhile, as bits

private:
    static inline constinit thread_local stack_mark* innermost = nullptr;

    void const* operation_;
    stack_mark* outer_;
};

/// A queueing in progress on this thread. If the function is destroyed meanwhile, the executor has refused it,
/// most likely with an exception. Then the object still belongs to the code that queues it.
class queueing {
public:
    explicit queueing(void const* object) noexcept
        : object_(object)
        , outer_(innermost) {
        innermost = this;
    }
    ~queueing() { innermost = outer_; }
    queueing(queueing const&) = delete;
    queueing& operator=(queueing const&) = delete;

    bool refused() const noexcept { return refused_; }

    /// Notes that the function runs. It may run before the queueing ends, and the object may be gone then.
    static void taken(void const* object) noexcept {
        if (queueing* const q = find(object))
            q->object_ = nullptr;
    }

    /// Notes that the function was destroyed. Returns false unless it is still being queued.
    static bool refuse(void const* object) noexcept {
        queueing* const q = find(object);
        if (q)
            q->refused_ = true;
        return q != nullptr;
    }

private:
    static queueing* find(void const* object) noexcept {
        queueing* q = innermost;
        while (q && q->object_ != object)
            q = q->outer_;
        return q;
    }

    static inline constinit thread_local queueing* innermost = nullptr;

    void const* object_;
    queueing* outer_;
    bool refused_ = false;
};

/// An object that takes turns on its executor. Each queued turn either runs, or is dropped with its context.
template <typename Object, typename Turn>
concept turn_taker = requires(Object& object, Turn turn) {
    typename Object::template turn_allocator<Turn>;
    { object.get_turn_allocator(turn) } -> std::convertible_to<typename Object::template turn_allocator<Turn>>;
    object.on_turn(turn);
    { object.on_turn_dropped(turn) } noexcept;
};

template <typename Object, typename Turn>
class queued_turn {
public:
    queued_turn(Object& object, Turn turn) noexcept
        : object_(&object)
        , turn_(turn) {}
    queued_turn(queued_turn&& other) noexcept
        : object_(std::exchange(other.object_, nullptr))
        , turn_(other.turn_) {}
    queued_turn& operator=(queued_turn&&) = delete;
    ~queued_turn() {
        if (object_ && !queueing::refuse(object_))
            object_->on_turn_dropped(turn_);
    }

    using allocator_type = typename Object::template turn_allocator<Turn>;
    allocator_type get_allocator() const noexcept { return object_->get_turn_allocator(turn_); }

    void operator()() {
        queueing::taken(object_);
        std::exchange(object_, nullptr)->on_turn(turn_);
    }

private:
    Object* object_;
    ASIO_RETRY_NO_UNIQUE_ADDRESS Turn turn_;
};

/// A function that Asio dispatches to `executor`.
template <typename Executor, typename Turn>
struct turn_on {
    Turn turn;
    Executor executor;

    using executor_type = Executor;
    executor_type get_executor() const noexcept { return executor; }
    using allocator_type = typename Turn::allocator_type;
    allocator_type get_allocator() const noexcept { return turn.get_allocator(); }
    void operator()() { turn(); }
};

template <typename Executor, typename Through, typename Turn>
void post_to(Executor const& executor, Through const& through, Turn&& turn) {
    if constexpr (asio::can_require<Executor, asio::execution::blocking_t::never_t>::value)
        asio::post(executor, std::forward<Turn>(turn));
    else
        asio::post(through, turn_on<Executor, Turn>{std::forward<Turn>(turn), executor});
}

/// A type-erased executor would allocate memory of its own, so the turn goes to its context directly.
template <typename Through, typename Turn>
void post_to(asio::any_io_executor const& executor, Through const&, Turn&& turn) {
    if (asio::io_context* const context = own_context(executor))
        asio::post(context->get_executor(), std::forward<Turn>(turn));
    else
        asio::post(executor, std::forward<Turn>(turn));
}

/// Calls `queue` with a turn of `object`. If this throws, no turn is queued and none was dropped.
template <typename Turn, turn_taker<Turn> Object, typename Queue>
void queue_turn(Object& object, Turn turn, Queue queue) {
    queueing const in_progress(&object);
    try {
        queue(queued_turn<Object, Turn>(object, turn));
    } catch (...) {
        if (in_progress.refused())
            throw;
        return; // the turn was taken: a strand keeps a function that it had no memory to start
    }
    if (in_progress.refused())
        object.on_turn_dropped(turn);
}

/// Queues a turn of `object`. An executor that cannot promise to queue, such as that of an
/// any_completion_handler, gets the turn by way of `through`. Throws like `queue_turn`.
template <typename Turn, typename Executor, typename Through, turn_taker<Turn> Object>
void post_turn(Executor const& executor, Through const& through, Object& object, Turn turn = {}) {
    queue_turn(object, turn, [&](auto queued) { post_to(executor, through, std::move(queued)); });
}

} // namespace asio_retry::detail
