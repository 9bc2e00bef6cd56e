#pragma once

#include <asio_retry/detail/handler/asio.hpp>
#include <asio_retry/detail/policy/shared.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/cancellation_state.hpp>

#include <cassert>
#include <concepts>
#include <cstddef>
#include <exception>
#include <new>
#include <type_traits>
#include <utility>

namespace asio_retry::detail {

/// Holds the handler that resumes a coroutine. Asio makes it of a few pointers, so it needs no memory.
class resumption {
public:
    resumption() noexcept = default;
    resumption(resumption const&) = delete;
    resumption& operator=(resumption const&) = delete;
    ~resumption() { drop(); }

    /// Precondition: holds nothing.
    template <typename Handler>
    void hold(Handler&& handler) noexcept {
        using held = std::decay_t<Handler>;
        static_assert(sizeof(held) <= sizeof memory_ && alignof(held) <= alignof(void*));
        assert(!take_);
        ::new (static_cast<void*>(memory_)) held(std::forward<Handler>(handler));
        take_ = [](resumption& held_by, bool resumes) {
            held* const place = std::launder(reinterpret_cast<held*>(held_by.memory_));
            held taken(std::move(*place));
            std::destroy_at(place);
            held_by.take_ = nullptr; // the call may hold another handler, or destroy this object
            if (resumes)
                std::move(taken)();
        };
    }

    /// Precondition: holds a handler.
    void operator()() {
        assert(take_);
        take_(*this, true);
    }

    /// Destroys the handler, and the coroutine with it.
    void drop() noexcept {
        if (take_)
            take_(*this, false);
    }

private:
    alignas(void*) std::byte memory_[4 * sizeof(void*)];
    void (*take_)(resumption&, bool resumes) = nullptr;
};

/// The executor and the cancellation of one stack of coroutines. An operation may replace them for a while.
class ASIO_RETRY_DECL coroutine_stack {
public:
    coroutine_stack(coroutine_stack const&) = delete;
    coroutine_stack& operator=(coroutine_stack const&) = delete;

    asio::any_io_executor const& executor() const noexcept { return *executor_; }

    /// The cancellation that Asio passes to whatever the coroutine awaits.
    asio::cancellation_state const& state() const noexcept { return *state_; }

    /// Whether it may move to a strand for a retry, so that no emission reaches an attempt while it runs. A
    /// typed executor cannot hold a strand. A caller with a slot would emit outside the strand.
    bool may_move() const noexcept { return !is_typed_ && !state_->slot().is_connected(); }

    /// The coroutine's operations complete on `other`, which it reaches when its next operation completes.
    void move_to(asio::any_io_executor other);
    bool has_moved() const noexcept { return moved_.get() != nullptr; }

    /// Undoes `move_to`. Precondition: has_moved().
    void move_back() noexcept;

    /// Lets only emissions to `slot` cancel the coroutine's operations, and throws nothing after them.
    void take_over(asio::cancellation_slot slot) noexcept;

    /// Makes a new cancellation state, like that of a new coroutine.
    void renew();

    /// Throws operation_aborted if the coroutine is cancelled, as Asio does before a coroutine awaits.
    void throw_if_cancelled() const {
        if (*throws_ && state_->cancelled() != asio::cancellation_type::none)
            throw_cancelled();
    }

    void let_nothing_throw() noexcept { *throws_ = false; }

    /// Undoes `take_over`. Does nothing without a `take_over`.
    void give_back() noexcept {
        if (has_taken_over_)
            restore();
    }

protected:
    coroutine_stack() noexcept = default;
    ~coroutine_stack() = default;

    asio::any_io_executor* executor_ = nullptr;
    asio::cancellation_slot* parent_ = nullptr;
    asio::cancellation_state* state_ = nullptr;
    bool* throws_ = nullptr;
    bool is_typed_ = false; // `executor_` is a copy

private:
    [[noreturn]] static void throw_cancelled();
    void restore() noexcept;

    bool has_taken_over_ = false;
    bool kept_throws_ = false;
    asio::cancellation_slot kept_parent_;
    asio::cancellation_state kept_state_;
    owned<asio::any_io_executor> moved_; // the executor that is not in use now
};

} // namespace asio_retry::detail

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

/// Not a coroutine. Asio's frame at the bottom of a coroutine stack has this class template as a friend, so the
/// specialisation can read the private members of the frame.
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

/// Finds the stack of a coroutine, and lets the coroutine await without having exceptions thrown.
template <typename Executor>
class coroutine_entry : public coroutine_stack {
    using key = boost::asio::detail::awaitable_thread<entry_key<Executor>>;
    using thread = boost::asio::detail::awaitable_thread<Executor>;
    using frame = boost::asio::detail::awaitable_frame_base<Executor>;

public:
    static constexpr bool is_possible() {
        if constexpr (requires { sizeof(frame); } && key::template knows<typename key::entry>)
            return inside<frame>::has_members() &&
                   requires(thread& attached, boost::asio::awaitable<void, Executor> const& awaited,
                            frame* coroutine) {
                       { attached.entry_point() } -> std::same_as<typename key::entry*>;
                       key::frame_of(awaited)->push_frame(coroutine);
                   };
        else
            return false;
    }

    /// Await this before anything else.
    auto find() noexcept { return step{this, nullptr}; }

    /// Awaits an awaitable. Its exception stays in its frame, where Asio has put it.
    template <typename Value>
    auto run(boost::asio::awaitable<Value, Executor> const& awaited) noexcept {
        return step{this, key::frame_of(awaited)};
    }

    /// The exception of the awaitable, or null.
    template <typename Value>
    static std::exception_ptr exception_of(boost::asio::awaitable<Value, Executor> const& awaited) noexcept {
        return std::exchange(inside<frame>::exception_of(key::frame_of(awaited)), nullptr);
    }

private:
    /// Reads the protected members of a frame: a derived class may name them, as in `&inside::member`.
    template <typename Frame>
    struct inside : Frame {
        static constexpr bool has_members() {
            return requires(Frame& coroutine) {
                { coroutine.*&inside::attached_thread_ } -> std::same_as<thread*&>;
                { coroutine.*&inside::pending_exception_ } -> std::same_as<std::exception_ptr&>;
            };
        }
        static thread* thread_of(Frame* coroutine) noexcept { return coroutine->*&inside::attached_thread_; }
        static std::exception_ptr& exception_of(Frame* coroutine) noexcept {
            return coroutine->*&inside::pending_exception_;
        }
    };

    /// Asio calls this with the coroutine's frame. The coroutine goes on at once, or after `awaited`.
    struct step {
        coroutine_entry* self;
        frame* awaited;

        thread* operator()(frame* coroutine) const {
            if (awaited) {
                awaited->push_frame(coroutine);
                return nullptr;
            }
            thread* const attached = inside<frame>::thread_of(coroutine);
            self->look_at(*attached->entry_point());
            return attached;
        }
    };

    void look_at(typename key::entry& entry) noexcept {
        if constexpr (std::same_as<Executor, boost::asio::any_io_executor>) {
            executor_ = &key::executor(entry);
        } else {
            copy_ = key::executor(entry);
            executor_ = &copy_;
            is_typed_ = true;
        }
        parent_ = &key::parent_slot(entry);
        state_ = &key::state(entry);
        throws_ = &key::throws_if_cancelled(entry);
    }

    struct no_copy {};
    ASIO_RETRY_NO_UNIQUE_ADDRESS std::conditional_t<std::same_as<Executor, boost::asio::any_io_executor>,
                                                    no_copy, boost::asio::any_io_executor>
        copy_;
};

template <typename Executor>
inline constexpr bool has_coroutine_entry =
    std::is_convertible_v<Executor, boost::asio::any_io_executor> && coroutine_entry<Executor>::is_possible();

} // namespace asio_retry::detail

#else

namespace asio_retry::detail {

template <typename Executor>
class coroutine_entry;

template <typename Executor>
inline constexpr bool has_coroutine_entry = false;

} // namespace asio_retry::detail

#endif
