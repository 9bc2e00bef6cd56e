#pragma once

#include <asio_retry/detail/handler/asio.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/error.hpp>
#include <boost/system/system_error.hpp>

#include <concepts>
#include <exception>
#include <memory>
#include <utility>

// Asio keeps the cancellation of a coroutine in the frame at the bottom of its stack, and has no public way to
// replace it there. reset_cancellation_state makes a new state on the same slot, the caller's. Only a spawned
// coroutine can be bound to another slot; spawning costs 4400 instructions for each attempt. The names used
// here instead have not changed from Boost 1.81 to 1.92. If Asio lacks one of them, every attempt is spawned.
// ASIO_RETRY_SPAWN_ATTEMPTS does the same; define it in the whole program or nowhere.

#if !defined(ASIO_RETRY_SPAWN_ATTEMPTS)

namespace asio_retry::detail {

template <typename Executor>
struct entry_key {};

} // namespace asio_retry::detail

/// Not a coroutine. A class of this name is a friend of the frame at the bottom of a coroutine stack. There
/// Asio keeps the cancellation of all coroutines of the stack.
template <typename Executor>
class boost::asio::detail::awaitable_thread<asio_retry::detail::entry_key<Executor>> {
public:
    using entry = awaitable_frame<awaitable_thread_entry_point, Executor>;

    template <typename Entry>
    static constexpr bool knows = requires(Entry& in) {
        { in.u_.executor_ } -> std::same_as<Executor&>;
        { in.parent_cancellation_slot_ } -> std::same_as<cancellation_slot&>;
        { in.cancellation_state_ } -> std::same_as<cancellation_state&>;
        { in.throw_if_cancelled_ } -> std::same_as<bool&>;
    };

    static Executor& executor(entry& in) noexcept { return in.u_.executor_; }
    static cancellation_slot& parent_slot(entry& in) noexcept { return in.parent_cancellation_slot_; }
    static cancellation_state& state(entry& in) noexcept { return in.cancellation_state_; }
    static bool& throws_if_cancelled(entry& in) noexcept { return in.throw_if_cancelled_; }

    template <typename Awaitable>
    static auto frame_of(Awaitable const& awaited) noexcept
        requires requires { awaited.frame_; }
    {
        return awaited.frame_;
    }
};

namespace asio_retry::detail {

/// What a coroutine awaits without having it thrown: its exception stays where Asio put it, in the frame.
template <typename Value, typename Executor>
class quiet_awaitable {
    using key = boost::asio::detail::awaitable_thread<entry_key<Executor>>;
    using thread = boost::asio::detail::awaitable_thread<Executor>;
    using frame = boost::asio::detail::awaitable_frame_base<Executor>;

public:
    /// Whether Asio has what this needs.
    template <typename Frame>
    static constexpr bool is_possible() {
        return with_exception<Frame>::has() &&
               requires(boost::asio::awaitable<Value, Executor> const& awaited, Frame* coroutine) {
                   key::frame_of(awaited)->push_frame(coroutine);
               };
    }

    explicit quiet_awaitable(boost::asio::awaitable<Value, Executor>&& awaited) noexcept
        : awaited_(std::move(awaited)) {}

    /// To be awaited first.
    auto run() const noexcept { return runner{key::frame_of(awaited_)}; }

    /// What it threw, or null.
    std::exception_ptr take_exception() const noexcept {
        return std::exchange(with_exception<frame>::of(key::frame_of(awaited_)), nullptr);
    }

    /// Precondition: it threw nothing.
    Value take_value() { return awaited_.await_resume(); }

private:
    template <typename Frame>
    struct with_exception : Frame {
        static constexpr bool has() {
            return requires(Frame& coroutine) {
                { coroutine.*&with_exception::pending_exception_ } -> std::same_as<std::exception_ptr&>;
            };
        }
        static std::exception_ptr& of(Frame* coroutine) noexcept {
            return coroutine->*&with_exception::pending_exception_;
        }
    };

    struct runner {
        frame* awaited;

        thread* operator()(frame* coroutine) const noexcept {
            awaited->push_frame(coroutine);
            return nullptr;
        }
    };

    boost::asio::awaitable<Value, Executor> awaited_;
};

/// The executor and the cancellation of one stack of coroutines. An operation may replace them for a while.
template <typename Executor>
class coroutine_entry {
    using key = boost::asio::detail::awaitable_thread<entry_key<Executor>>;
    using thread = boost::asio::detail::awaitable_thread<Executor>;
    using frame = boost::asio::detail::awaitable_frame_base<Executor>;

public:
    /// Whether Asio has what this needs.
    template <typename Thread = thread, typename Frame = frame, typename Entry = typename key::entry>
    static constexpr bool is_possible() {
        if constexpr (requires { sizeof(Frame); } && key::template knows<Entry>)
            return attached_to<Frame>::template is_to<Thread>() &&
                   quiet_awaitable<void, Executor>::template is_possible<Frame>() &&
                   requires(Thread& attached) {
                       { attached.entry_point() } -> std::same_as<Entry*>;
                   };
        else
            return false;
    }

    coroutine_entry() noexcept = default;
    coroutine_entry(coroutine_entry const&) = delete;
    coroutine_entry& operator=(coroutine_entry const&) = delete;

    /// Await this before anything else.
    auto find() noexcept { return finder{this}; }

    Executor const& executor() const noexcept { return key::executor(*entry_); }

    /// The cancellation that Asio passes to whatever the coroutine awaits.
    boost::asio::cancellation_state const& state() const noexcept { return key::state(*entry_); }

    /// From here on the coroutine's operations complete on `other`. The coroutine itself is not there yet.
    void move_to(Executor other) {
        moved_ = std::make_unique<Executor>(std::move(other));
        std::swap(key::executor(*entry_), *moved_);
    }
    bool has_moved() const noexcept { return moved_ != nullptr; }

    /// Undoes `move_to`; returns the executor that it had moved to, if any.
    std::unique_ptr<Executor> move_back() noexcept {
        if (moved_)
            std::swap(key::executor(*entry_), *moved_);
        return std::move(moved_);
    }

    /// From here on only emissions to `slot` cancel the coroutine's operations, and they throw nothing.
    void take_over(boost::asio::cancellation_slot slot) noexcept {
        parent_ = std::exchange(key::parent_slot(*entry_), slot);
        state_ = std::exchange(key::state(*entry_), boost::asio::cancellation_state());
        throws_ = std::exchange(key::throws_if_cancelled(*entry_), false);
        has_taken_over_ = true;
    }

    /// Makes a cancellation state as a new coroutine has it.
    void renew() {
        key::state(*entry_) = boost::asio::cancellation_state(key::parent_slot(*entry_));
        key::throws_if_cancelled(*entry_) = true;
    }

    /// What Asio does before a coroutine awaits something.
    void throw_if_cancelled() const {
        if (key::throws_if_cancelled(*entry_) && state().cancelled() != boost::asio::cancellation_type::none)
            throw boost::system::system_error(boost::asio::error::operation_aborted, "co_await");
    }

    void let_nothing_throw() noexcept { key::throws_if_cancelled(*entry_) = false; }

    /// Restores the state before `take_over`. Does nothing if the operation ended before that.
    void give_back() noexcept {
        if (!std::exchange(has_taken_over_, false))
            return;
        key::parent_slot(*entry_) = parent_;
        key::state(*entry_) = state_;
        key::throws_if_cancelled(*entry_) = throws_;
    }

private:
    template <typename Frame>
    struct attached_to : Frame {
        template <typename Thread>
        static constexpr bool is_to() {
            return requires(Frame& coroutine) {
                { coroutine.*&attached_to::attached_thread_ } -> std::same_as<Thread*&>;
            };
        }
        static thread* of(Frame* coroutine) noexcept { return coroutine->*&attached_to::attached_thread_; }
    };

    /// Asio gives it the frame of the coroutine, which resumes at once.
    struct finder {
        coroutine_entry* self;

        thread* operator()(frame* coroutine) const noexcept {
            thread* const attached = attached_to<frame>::of(coroutine);
            self->entry_ = attached->entry_point();
            return attached;
        }
    };

    typename key::entry* entry_ = nullptr;
    boost::asio::cancellation_slot parent_;
    boost::asio::cancellation_state state_;
    bool throws_ = false;
    bool has_taken_over_ = false;
    std::unique_ptr<Executor> moved_; // the executor that is not in use now
};

template <typename Executor>
inline constexpr bool has_coroutine_entry = coroutine_entry<Executor>::is_possible();

} // namespace asio_retry::detail

#else

namespace asio_retry::detail {

template <typename Executor>
class coroutine_entry;
template <typename Value, typename Executor>
class quiet_awaitable;

template <typename Executor>
inline constexpr bool has_coroutine_entry = false;

} // namespace asio_retry::detail

#endif
