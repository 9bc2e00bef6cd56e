#pragma once

#include <asio_retry/detail/handler/queued_turn.hpp>
#include <asio_retry/detail/policy/config.hpp>
#include <asio_retry/detail/time/brief_mutex.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/execution/allocator.hpp>
#include <boost/asio/execution/blocking.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/query.hpp>
#include <boost/asio/require.hpp>

#include <atomic>
#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

namespace asio_retry::detail {

namespace asio = boost::asio;

/// A function that waits for its turn.
class serial_function {
public:
    serial_function() noexcept = default;
    serial_function(serial_function const&) = delete;
    serial_function& operator=(serial_function const&) = delete;
    virtual ~serial_function() = default;

    /// Frees its memory, then calls the function: the function may need the memory.
    virtual void run() = 0;

    serial_function* next = nullptr;
};

template <typename Function>
class kept_serial_function final : public serial_function {
public:
    template <typename Given>
    explicit kept_serial_function(std::in_place_t, Given&& function)
        : function_(std::forward<Given>(function)) {}

    void run() override {
        Function function(std::move(function_));
        delete this;
        std::move(function)();
    }

private:
    Function function_;
};

/// Knows which thread has the turn of a serial_executor, and the functions that wait for a turn. Thread-safe.
class ASIO_RETRY_DECL serial_queue {
public:
    serial_queue() noexcept = default;
    serial_queue(serial_queue const&) = delete;
    serial_queue& operator=(serial_queue const&) = delete;
    ~serial_queue();

    /// Whether this thread has the turn.
    bool runs_here() const noexcept;

    /// Takes the turn, unless another thread has it.
    bool try_enter() noexcept;

    /// Returns whether the caller has to post a turn.
    bool add(std::unique_ptr<serial_function> function) noexcept;

    /// @name Of the turn
    /// @{
    /// Runs the functions that wait already, one after the other. Later functions get another turn, so that
    /// other handlers of the context run in between.
    void run_turn();

    /// Returns whether the caller has to post another turn.
    bool end() noexcept;

    /// Destroys the functions, because the turn was lost with its context.
    void close() noexcept;
    /// @}

    /// @name The memory of the one turn that may be posted
    /// @{
    void* allocate(std::size_t size);
    void deallocate(void* place) noexcept;
    /// @}

private:
    serial_function* take() noexcept;

    brief_mutex mutex_;
    bool is_taken_ = false;
    bool is_closed_ = false;
    std::atomic<void const*> runner_ = nullptr; // identifies the thread that has the turn
    serial_function* first_ = nullptr;
    serial_function** last_ = &first_;
    alignas(std::max_align_t) std::byte memory_[128]; // 96 are needed on Windows
};

/// An allocator for the posted turn. There is always memory for one.
template <typename T>
class serial_turn_allocator {
public:
    using value_type = T;

    explicit serial_turn_allocator(std::shared_ptr<serial_queue> queue) noexcept
        : queue_(std::move(queue)) {}
    template <typename U>
    serial_turn_allocator(serial_turn_allocator<U> const& other) noexcept
        : queue_(other.queue()) {}

    T* allocate(std::size_t count) { return static_cast<T*>(queue_->allocate(count * sizeof(T))); }
    void deallocate(T* place, std::size_t) noexcept { queue_->deallocate(place); }

    std::shared_ptr<serial_queue> const& queue() const noexcept { return queue_; }

    friend bool operator==(serial_turn_allocator const& a, serial_turn_allocator const& b) noexcept {
        return a.queue_ == b.queue_;
    }

private:
    std::shared_ptr<serial_queue> queue_;
};

/// A turn of the queue on the executor.
template <typename Inner>
class serial_turn {
public:
    serial_turn(std::shared_ptr<serial_queue> queue, Inner const& inner) noexcept
        : queue_(std::move(queue))
        , inner_(inner) {}
    serial_turn(serial_turn&& other) noexcept = default;
    serial_turn& operator=(serial_turn&&) = delete;
    ~serial_turn() {
        if (queue_)
            queue_->close();
    }

    void operator()() {
        holder const held(std::move(queue_), inner_);
        held.queue().run_turn();
    }

    /// Ends the turn of this thread, and posts the next one if functions wait.
    class holder {
    public:
        holder(std::shared_ptr<serial_queue> queue, Inner const& inner) noexcept
            : queue_(std::move(queue))
            , inner_(inner) {}
        holder(holder const&) = delete;
        holder& operator=(holder const&) = delete;
        ~holder() {
            if (queue_->end())
                post(queue_, inner_);
        }
        serial_queue& queue() const noexcept { return *queue_; }

    private:
        std::shared_ptr<serial_queue> const queue_;
        Inner const inner_;
    };

    static void post(std::shared_ptr<serial_queue> const& queue, Inner const& inner) noexcept {
        asio::prefer(asio::require(inner, asio::execution::blocking.never),
                     asio::execution::allocator(serial_turn_allocator<void>(queue)))
            .execute(serial_turn(queue, inner));
    }

private:
    std::shared_ptr<serial_queue> queue_;
    Inner inner_;
};

/// A strand that needs no memory for a function that it runs at once. It runs a function at once if it is free
/// and the function is dispatched on a thread of its context. `Inner` is the executor of an io_context or of a
/// thread_pool.
template <typename Inner>
class serial_executor {
public:
    using inner_executor_type = Inner;

    explicit serial_executor(Inner inner)
        : serial_executor(std::move(inner), std::make_shared<serial_queue>()) {}
    serial_executor(Inner inner, std::shared_ptr<serial_queue> queue) noexcept
        : inner_(std::move(inner))
        , queue_(std::move(queue)) {}

    Inner const& get_inner_executor() const noexcept { return inner_; }
    bool running_in_this_thread() const noexcept { return queue_->runs_here(); }

    template <typename Property>
        requires(asio::can_query<Inner const&, Property>::value)
    decltype(auto) query(Property const& property) const noexcept {
        return asio::query(inner_, property);
    }

    template <typename Property>
        requires(asio::can_require<Inner const&, Property>::value &&
                 !std::is_same_v<Property, asio::execution::blocking_t::always_t>)
    auto require(Property const& property) const {
        using other = std::decay_t<typename asio::require_result<Inner const&, Property>::type>;
        return serial_executor<other>(asio::require(inner_, property), queue_);
    }

    template <typename Function>
    void execute(Function&& function) const {
        if (asio::query(inner_, asio::execution::blocking) == asio::execution::blocking.possibly) {
            if (running_in_this_thread())
                return run(std::forward<Function>(function));
            if (inner_.running_in_this_thread() && queue_->try_enter()) {
                Inner const inner = inner_; // this object may be gone before it returns
                return inner.execute([&] {  // the context handles exceptions
                    typename serial_turn<Inner>::holder const held(queue_, inner_);
                    run(std::forward<Function>(function));
                });
            }
        }
        using kept = kept_serial_function<std::decay_t<Function>>;
        if (queue_->add(std::make_unique<kept>(std::in_place, std::forward<Function>(function))))
            serial_turn<Inner>::post(queue_, inner_);
    }

    friend bool operator==(serial_executor const& a, serial_executor const& b) noexcept {
        return a.queue_ == b.queue_;
    }
    friend bool operator!=(serial_executor const& a, serial_executor const& b) noexcept { return !(a == b); }

private:
    template <typename Function>
    static void run(Function&& function) {
        std::decay_t<Function> taken(std::forward<Function>(function)); // the call may destroy `function`
        std::move(taken)();
    }

    Inner inner_;
    std::shared_ptr<serial_queue> queue_;
};

/// Runs a turn of `object` at once if the strand is free; see `post_turn`. A strand of a known type needs no
/// memory for that, unlike a type-erased executor. Precondition: enters_here(strand).
template <typename Turn, turn_taker<Turn> Object>
void enter_turn(asio::any_io_executor const& strand, Object& object, Turn turn = {}) {
    queue_turn(object, turn, [&](auto queued) {
        if (auto const* const own = strand.target<serial_executor<asio::io_context::executor_type>>())
            own->execute(std::move(queued));
        else
            asio::dispatch(strand, std::move(queued));
    });
}

} // namespace asio_retry::detail
