#include <asio_retry/detail/handler/operation_executors.hpp>
#include <asio_retry/detail/policy/refuse.hpp>
#include <asio_retry/retry_scheduler.hpp>

#include "handler/serial_executor.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>

// This file looks at every executor that an any_io_executor may hold. It is apart, because that takes the
// compiler as long as all of Asio's headers.
namespace asio_retry::detail {

void refuse_empty_executor(std::string_view field) {
    refuse(field, "empty", "must belong to an execution context");
}

asio::any_io_executor strand_of<asio::any_io_executor>::make(asio::any_io_executor const& executor) {
    using io = asio::io_context::executor_type;
    using pool = asio::thread_pool::executor_type;
    if (executor_home(executor).is_strand())
        return executor;
    if (auto const* const on_io = executor.target<io>())
        return serial_executor<io>(*on_io);
    if (auto const* const on_pool = executor.target<pool>())
        return serial_executor<pool>(*on_pool);
    return asio::strand<asio::any_io_executor>(executor);
}

executor_home::executor_home(asio::any_io_executor const& executor) noexcept {
    using io = asio::io_context::executor_type;
    using pool = asio::thread_pool::executor_type;
    look_for<io, asio::strand<io>, serial_executor<io>, asio::strand<asio::any_io_executor>, asio::strand<pool>,
             serial_executor<pool>, pool>(executor);
}

[[gnu::hot]] asio::io_context* own_context(asio::io_context::executor_type const& executor) noexcept {
    bool const may_run_at_once =
        asio::query(executor, asio::execution::blocking) == asio::execution::blocking.possibly;
    return may_run_at_once ? &asio::query(executor, asio::execution::context) : nullptr;
}

asio::io_context* own_context(asio::any_io_executor const& executor) noexcept {
    auto const* const own = executor.target<asio::io_context::executor_type>();
    return own ? own_context(*own) : nullptr;
}

bool has_one_thread(asio::io_context& context) {
    return scheduler(context).has_one_thread();
}

bool enters_here(asio::any_io_executor const& executor) noexcept {
    auto const enters = [](auto const* strand) {
        return runs_here(own_context(strand->get_inner_executor())) && !strand->running_in_this_thread();
    };
    using io = asio::io_context::executor_type;
    if (auto const* const own = executor.target<serial_executor<io>>())
        return enters(own);
    auto const* const strand = executor.target<asio::strand<io>>();
    return strand && enters(strand);
}

} // namespace asio_retry::detail
