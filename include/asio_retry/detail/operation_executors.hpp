#pragma once

#include <asio_retry/detail/asio.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/strand.hpp>

#include <optional>
#include <type_traits>
#include <utility>

namespace asio_retry::detail {

/// Where an operation runs, which is where its handler does, or else where it waits; and work on both while it
/// lasts.
template <typename IoExecutor, typename Handler, bool WantsStrand>
class operation_executors {
    using associated = asio::associated_executor_t<Handler, IoExecutor>;
    using base = std::conditional_t<is_fallback_executor<associated>, IoExecutor, associated>;
    static constexpr bool has_strand = WantsStrand && std::is_convertible_v<base, asio::any_io_executor>;

public:
    using executor_type = typename std::conditional_t<has_strand, std::type_identity<asio::strand<base>>,
                                                      std::type_identity<base>>::type;

    operation_executors(Handler const& handler, IoExecutor const& waits_on)
        : executor_(base_of(handler, waits_on))
        , work_(asio::prefer(executor_, asio::execution::outstanding_work.tracked)) {
        if constexpr (std::is_same_v<IoExecutor, base>)
            if (waits_on == base_of(handler, waits_on))
                return; // the work of one is that of the other
        io_work_.emplace(asio::prefer(waits_on, asio::execution::outstanding_work.tracked));
    }

    executor_type const& get() const noexcept { return executor_; }

    /// Keeps both running beyond the end of the operation.
    auto keep_running() const { return std::pair(work_, io_work_); }

    /// From now on only the executor of the handler is kept running.
    void release_io_work() noexcept { io_work_.reset(); }

private:
    static base base_of(Handler const& handler, IoExecutor const& waits_on) noexcept {
        if constexpr (is_fallback_executor<associated>)
            return waits_on;
        else
            return asio::get_associated_executor(handler, waits_on);
    }

    executor_type executor_;
    tracked_executor<executor_type> work_;
    std::optional<tracked_executor<IoExecutor>> io_work_; // where waits hang, if elsewhere
};

} // namespace asio_retry::detail
