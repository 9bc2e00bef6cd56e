#pragma once

#include <asio_retry/detail/handler/asio.hpp>
#include <asio_retry/detail/handler/late_completion.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/execution/executor.hpp>
#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/require.hpp>

#include <concepts>
#include <cstddef>
#include <string_view>
#include <type_traits>
#include <utility>

namespace asio_retry::detail {

template <typename T>
concept executor = asio::execution::is_executor<std::remove_cvref_t<T>>::value;

/// A token for an operation with this completion; any type if the compiler cannot check that.
template <typename Token, typename Signature>
inline constexpr bool is_token_for =
#ifdef BOOST_ASIO_HAS_CONCEPTS
    asio::completion_token_for<Token, Signature>;
#else
    true;
#endif

/// The executor where a handler's attempt waits. If the handler is an any_completion_handler, only the executor
/// of the operation has a context; the handler of an attempt knows it.
template <typename Handler>
auto executor_to_wait_on(Handler const& handler) {
    if constexpr (requires { handler.get_io_executor(); })
        return handler.get_io_executor();
    else
        return asio::get_associated_executor(handler);
}

[[noreturn]] ASIO_RETRY_DECL void refuse_empty_executor(std::string_view field);

/// Refuses an empty type-erased executor by its field: Asio would follow its null pointer.
template <typename Executor>
void refuse_if_empty_executor(std::string_view field, Executor const& executor) {
    if constexpr (std::is_constructible_v<Executor, std::nullptr_t> &&
                  std::is_constructible_v<bool, Executor const&>) {
        if (!static_cast<bool>(executor))
            refuse_empty_executor(field);
    }
}

/// An executor with work on its context while this lives.
template <typename Executor>
class working_executor {
public:
    explicit working_executor(Executor const& works_on)
        : executor_(works_on)
        , work_(asio::prefer(works_on, asio::execution::outstanding_work.tracked)) {}

    Executor get() const noexcept { return executor_; }

private:
    static_assert(
        std::is_object_v<tracked_executor<Executor>>,
        "asio_retry: io_context::strand and asio::executor are of the Networking TS and cannot be waited "
        "on; use asio::strand and asio::any_io_executor");

    Executor executor_;
    tracked_executor<Executor> work_;
};

template <typename Executor>
concept is_in_its_work = requires(tracked_executor<Executor> const& work) {
    { asio::require(work, asio::execution::outstanding_work.untracked) } -> std::same_as<Executor>;
};

template <is_in_its_work Executor>
class working_executor<Executor> {
public:
    explicit working_executor(Executor const& works_on)
        : work_(asio::prefer(works_on, asio::execution::outstanding_work.tracked)) {}

    Executor get() const noexcept { return asio::require(work_, asio::execution::outstanding_work.untracked); }

private:
    tracked_executor<Executor> work_;
};

/// A tag: the operation waits on the executor of its handler.
template <typename Executor>
struct handler_executor {
    Executor executor;
};

template <typename Executor>
struct io_executor_of {
    using type = Executor;
    static constexpr bool is_of_handler = false;
    static Executor const& get(Executor const& executor) noexcept { return executor; }
};
template <typename Executor>
struct io_executor_of<handler_executor<Executor>> {
    using type = Executor;
    static constexpr bool is_of_handler = true;
    static Executor const& get(handler_executor<Executor> const& own) noexcept { return own.executor; }
};

/// A strand on an executor, or the executor if it is a strand itself. A strand on a known executor fits into an
/// any_io_executor. Any other strand allocates memory, also for each copy.
template <typename Executor>
struct strand_of;
template <>
struct strand_of<asio::any_io_executor> {
    ASIO_RETRY_DECL static asio::any_io_executor make(asio::any_io_executor const& executor);
};

/// The executors of an operation, with work on both while it lasts. It runs on the handler's executor
/// (`Associated`), or else on the waiting executor. All handlers with one executor share the type.
template <typename WaitsOn, typename Associated, bool HandlerHasExecutor, bool WantsStrand>
class operation_executors {
    using io = io_executor_of<WaitsOn>;
    using base = std::conditional_t<is_fallback_executor<Associated>, typename io::type, Associated>;
    static constexpr bool has_strand = WantsStrand && std::is_convertible_v<base, asio::any_io_executor>;

    static constexpr bool waits_where_it_runs = io::is_of_handler || !HandlerHasExecutor;

public:
    static constexpr bool waits_elsewhere = !waits_where_it_runs;

    using executor_type = std::conditional_t<has_strand, asio::any_io_executor, base>;
    using io_executor = std::conditional_t<waits_where_it_runs, executor_type, typename io::type>;

    /// `handler` has `Associated` as its executor.
    template <typename Handler>
    static base runs_on(Handler const& handler, WaitsOn const& waits_on) noexcept {
        if constexpr (is_fallback_executor<Associated>)
            return io::get(waits_on);
        else
            return asio::get_associated_executor(handler, io::get(waits_on));
    }

    operation_executors(base const& runs_on, WaitsOn const& waits_on)
        : here_(executor_on(runs_on)) {
        if constexpr (!waits_where_it_runs)
            there_.emplace(io::get(waits_on));
    }

    executor_type get() const noexcept { return here_.get(); }

    io_executor waits_on() const noexcept {
        if constexpr (!waits_where_it_runs)
            return there_->get();
        else
            return here_.get();
    }

    /// Returns an object that keeps both contexts running after the operation has ended.
    auto keep_running() const { return std::pair(here_, there_); }

    /// Drops the work on the waiting context; `waits_on` must not be called any more.
    void release_io_work() noexcept {
        if constexpr (!waits_where_it_runs)
            there_.reset();
    }

private:
    struct nowhere_else {};

    static executor_type executor_on(base const& executor) {
        if constexpr (has_strand)
            return strand_of<executor_type>::make(executor);
        else
            return executor;
    }

    working_executor<executor_type> here_;
    ASIO_RETRY_NO_UNIQUE_ADDRESS
    std::conditional_t<waits_where_it_runs, nowhere_else, maybe<working_executor<io_executor>>>
        there_;
};

template <typename WaitsOn, typename Handler, bool WantsStrand>
using executors_for =
    operation_executors<WaitsOn, asio::associated_executor_t<Handler, typename io_executor_of<WaitsOn>::type>,
                        !is_fallback_executor<asio::associated_executor_t<Handler>>, WantsStrand>;

/// Whether the executor is a strand of Asio or of the library.
template <typename Executor>
concept strand_executor = requires(Executor const& executor) {
    typename Executor::inner_executor_type;
    executor.get_inner_executor();
    executor.running_in_this_thread();
};

/// Tells whether this thread runs an executor, and whether the executor runs one function at a time. Looks into
/// an any_io_executor. The executor must outlive it.
class executor_home {
public:
    template <typename Executor>
    explicit executor_home(Executor const& executor) noexcept {
        look_at(&executor);
    }
    ASIO_RETRY_DECL explicit executor_home(asio::any_io_executor const& executor) noexcept;

    /// Returns false also for executors that cannot tell.
    bool is_here() const noexcept { return runs_here_ && runs_here_(executor_); }

    bool is_strand() const noexcept { return is_strand_; }

private:
    template <typename... Executors>
    void look_for(asio::any_io_executor const& executor) noexcept {
        (look_at(executor.target<Executors>()) || ...);
    }

    template <typename Executor>
    bool look_at(Executor const* executor) noexcept {
        if constexpr (requires {
                          { executor->running_in_this_thread() } -> std::convertible_to<bool>;
                      }) {
            if (!executor)
                return false;
            executor_ = executor;
            runs_here_ = [](void const* at) noexcept -> bool {
                return static_cast<Executor const*>(at)->running_in_this_thread();
            };
            is_strand_ = strand_executor<Executor>;
        }
        return true;
    }

    void const* executor_ = nullptr;
    bool (*runs_here_)(void const*) noexcept = nullptr;
    bool is_strand_ = false;
};

/// The context of an io_context executor that may run a function at once; null for others, such as a strand.
template <typename Executor>
asio::io_context* own_context(Executor const&) noexcept {
    return nullptr;
}

ASIO_RETRY_DECL asio::io_context* own_context(asio::io_context::executor_type const& executor) noexcept;
ASIO_RETRY_DECL asio::io_context* own_context(asio::any_io_executor const& executor) noexcept;

/// Whether this thread runs the context, and the context is not stopped. Asio itself would call a function at
/// once even after a stop. False for null.
inline bool runs_here(asio::io_context* context) noexcept {
    return context && context->get_executor().running_in_this_thread() && !context->stopped();
}

/// Whether a function given to the strand `executor` runs at once on this thread if the strand is free. The
/// context receives its exceptions.
ASIO_RETRY_DECL bool enters_here(asio::any_io_executor const& executor) noexcept;

ASIO_RETRY_DECL bool has_one_thread(asio::io_context& context);

/// Whether the executor runs one function at a time, so that a queued function never meets a coroutine on it.
template <typename Executor>
bool runs_one_at_a_time(Executor const& executor) {
    asio::io_context* const context = own_context(executor);
    return context ? has_one_thread(*context) : executor_home(executor).is_strand();
}

} // namespace asio_retry::detail
