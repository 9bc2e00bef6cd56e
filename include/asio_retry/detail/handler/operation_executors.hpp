#pragma once

#include <asio_retry/detail/handler/asio.hpp>
#include <asio_retry/detail/handler/working_executor.hpp>
#include <asio_retry/detail/policy/config.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/strand.hpp>

#include <optional>
#include <type_traits>
#include <utility>

namespace asio_retry::detail {

/// The operation waits on the executor of its handler, which has one.
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

/// A strand on an executor. An any_io_executor holds a strand of a known executor in place; a strand of an
/// any_io_executor does not fit, and each copy would be allocated.
template <typename Executor>
struct strand_of {
    using type = asio::strand<Executor>;
    static type make(Executor const& executor) { return type(executor); }
};
template <>
struct strand_of<asio::any_io_executor> {
    using type = asio::any_io_executor;
    ASIO_RETRY_DECL static type make(asio::any_io_executor const& executor);
};

/// The executors of an operation, with work on both while it lasts. It runs on the handler's executor
/// (`Associated`), or else where it waits. One type for all handlers of that executor.
template <typename WaitsOn, typename Associated, bool HandlerHasExecutor, bool WantsStrand>
class operation_executors {
    using io = io_executor_of<WaitsOn>;

public:
    using io_executor = typename io::type;

private:
    using base = std::conditional_t<is_fallback_executor<Associated>, io_executor, Associated>;
    static constexpr bool has_strand = WantsStrand && std::is_convertible_v<base, asio::any_io_executor>;

    // Then one executor is enough.
    static constexpr bool waits_where_it_runs = io::is_of_handler || !HandlerHasExecutor;

public:
    static constexpr bool waits_elsewhere = !waits_where_it_runs;

    using executor_type =
        typename std::conditional_t<has_strand, strand_of<base>, std::type_identity<base>>::type;

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
        else if constexpr (has_strand && !std::is_same_v<base, executor_type>)
            return here_.get().get_inner_executor();
        else
            return here_.get();
    }

    /// A copy keeps both contexts running after the operation has ended.
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
            return strand_of<base>::make(executor);
        else
            return executor;
    }

    working_executor<executor_type> here_;
    ASIO_RETRY_NO_UNIQUE_ADDRESS
    std::conditional_t<waits_where_it_runs, nowhere_else, std::optional<working_executor<io_executor>>>
        there_;
};

template <typename WaitsOn, typename Handler, bool WantsStrand>
using executors_for =
    operation_executors<WaitsOn, asio::associated_executor_t<Handler, typename io_executor_of<WaitsOn>::type>,
                        !is_fallback_executor<asio::associated_executor_t<Handler>>, WantsStrand>;

} // namespace asio_retry::detail
