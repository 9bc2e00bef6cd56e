#pragma once

#include <asio_retry/detail/handler/asio.hpp>
#include <asio_retry/detail/handler/handler_operation.hpp>
#include <asio_retry/detail/handler/late_completion.hpp>
#include <asio_retry/detail/handler/queued_turn.hpp>
#include <asio_retry/detail/handler/runs_here.hpp>
#include <asio_retry/detail/operation/scope_membership.hpp>
#include <asio_retry/detail/policy/config.hpp>
#include <asio_retry/error.hpp>

#include <boost/asio/dispatch.hpp>
#include <boost/asio/execution/context.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/query.hpp>

#include <exception>
#include <new>
#include <type_traits>
#include <utility>

namespace asio_retry::detail {

/// An operation that takes turns on its executor and may belong to a scope: the part that needs its handler.
/// `Turn` is the purpose of a turn of `Core`.
template <typename Core, typename Turn, typename WaitsOn, typename Handler, typename Membership,
          bool WantsStrand>
    requires membership<Membership, Core>
class turning_operation : public handler_operation<Core, WaitsOn, Handler, WantsStrand> {
    using base = handler_operation<Core, WaitsOn, Handler, WantsStrand>;

public:
    using typename base::handler_allocator;

    // --- its turns in the handler's memory; all other turns belong to the core, compiled once for all handlers

    struct own_turn {
        Turn what;
    };
    template <typename>
    using turn_allocator = handler_allocator;
    handler_allocator get_turn_allocator(own_turn) const noexcept { return this->get_handler_allocator(); }
    void on_turn(own_turn turn) { Core::on_turn(turn.what); }
    void on_turn_dropped(own_turn turn) noexcept { Core::on_turn_dropped(turn.what); }

protected:
    template <typename... Args>
    turning_operation(Handler&& given_handler, WaitsOn const& waits_on, Membership&& membership, Args&&... args)
        : base(std::move(given_handler), waits_on, std::forward<Args>(args)...)
        , part_(*this, std::move(membership)) {}
    ~turning_operation() = default;

    auto take_presence() noexcept { return part_.take_presence(); }

    using immediate = immediate_executor<Handler, typename base::executors::io_executor>;
    static constexpr bool has_immediate =
        has_immediate_executor<Handler, typename base::executors::io_executor>;

    /// Calls the handler on its immediate executor, in a turn of its own or at once; `take_handler` hands it
    /// over.
    template <typename Arguments, typename TakeHandler>
    void hand_over(Arguments&& result, TakeHandler take_handler) {
        // Work until the completion is queued: a context without work would stop.
        [[maybe_unused]] auto const keep_running = this->get_executors().keep_running();
        auto presence = take_presence();
        auto const executor = this->get_executors().waits_on();
        Handler to_call = take_handler();
        auto const on = immediate::get(to_call, executor);
        asio::dispatch(on, late_completion<Handler, Arguments, decltype(presence)>(
                               std::move(to_call), std::move(result), std::move(presence)));
    }

private:
    void post(Turn turn) final {
        auto const& on = this->get_executors();
        if constexpr (base::executors::waits_elsewhere) {
            if (turn == Turn::delivery) {
                // The context of the waits is needed until the turn is queued, and may be gone when the turn
                // comes.
                [[maybe_unused]] auto const keep_running = on.keep_running();
                auto const through = on.waits_on();
                this->release_io_work();
                return queue(turn, on.get(), through);
            }
        }
        queue(turn, on.get(), on.waits_on());
    }
    void queue(Turn turn, typename base::operation_executor const& on,
               typename base::executors::io_executor const& through) {
        if constexpr (base::has_memory_of_its_own) {
            if (!comes_from_any_thread(turn))
                return post_turn(on, through, *this, own_turn{turn});
        }
        post_turn(on, through, static_cast<Core&>(*this), turn);
    }
    asio::execution_context& context() const final {
        return asio::query(this->get_executors().waits_on(), asio::execution::context);
    }
    asio::io_context* own_context() const noexcept final {
        return detail::own_context(this->get_operation_executor());
    }
    basic_membership<Core>* membership() noexcept final { return part_.get(); }
    void forget_caller() noexcept final { this->disconnect_slot(); }
    void forget_waiting_place() noexcept final { this->release_io_work(); }

    ASIO_RETRY_NO_UNIQUE_ADDRESS typename Membership::template part<Core> part_;
};

/// Whether the operation's handler is still in place when there is no memory for the operation.
template <typename Handler, typename Callable>
inline constexpr bool leaves_handler =
    std::is_nothrow_move_constructible_v<Handler> && std::is_nothrow_move_constructible_v<Callable>;

/// Returns what `create` makes. Without memory returns null, and completes the handler in a turn on its
/// executor.
template <typename Completion, bool LeavesHandler, typename Handler, typename WaitsOn, typename Create>
auto create_or_complete(Handler& handler, WaitsOn const& waits_on, Create create) -> decltype(create()) {
    try {
        return create();
    } catch (std::bad_alloc const&) {
        if constexpr (!LeavesHandler)
            throw;
    }
    late_completion<Handler, typename Completion::arguments, no_membership::presence> late(
        std::move(handler), Completion::failed(no_memory_error(), std::make_exception_ptr(std::bad_alloc())),
        {});
    asio::post(io_executor_of<WaitsOn>::get(waits_on), std::move(late));
    return nullptr;
}

} // namespace asio_retry::detail
