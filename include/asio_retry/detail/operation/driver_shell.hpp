#pragma once

#include <asio_retry/detail/attempt/completion.hpp>
#include <asio_retry/detail/handler/asio.hpp>
#include <asio_retry/detail/handler/handler_operation.hpp>
#include <asio_retry/detail/handler/late_completion.hpp>
#include <asio_retry/detail/handler/operation_executors.hpp>
#include <asio_retry/detail/handler/queued_turn.hpp>
#include <asio_retry/detail/operation/driver.hpp>
#include <asio_retry/detail/scope/scope_state.hpp>
#include <asio_retry/error.hpp>

#include <boost/asio/any_io_executor.hpp>
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

/// Queues a turn of a retry; compiled once, for the executors that most programs use.
ASIO_RETRY_DECL void post_turn_of(retry_driver& operation, operation_turn turn,
                                  asio::io_context::executor_type const& on);
ASIO_RETRY_DECL void post_turn_of(retry_driver& operation, operation_turn turn,
                                  asio::any_io_executor const& on);

template <typename Operation, typename Executor>
inline constexpr bool has_turns_in_the_library =
    std::is_same_v<Operation, retry_driver> && (std::is_same_v<Executor, asio::io_context::executor_type> ||
                                                std::is_same_v<Executor, asio::any_io_executor>);

/// An operation without its callable: its handler, executors, turns and delivery. `Operation` is its driver.
template <typename Operation, typename Signature, typename WaitsOn, typename Handler, typename Membership,
          bool WantsStrand>
    requires membership<Membership, Operation>
class driver_shell : public handler_operation<Operation, WaitsOn, Handler, WantsStrand> {
    using base = handler_operation<Operation, WaitsOn, Handler, WantsStrand>;

public:
    using signature = Signature;
    using arguments = typename detail::completion<Signature>::arguments;
    using typename base::handler_allocator;

    // --- turns whose memory is the handler's; the driver itself takes all other turns

    struct own_turn {
        operation_turn what;
    };
    template <typename>
    using turn_allocator = handler_allocator;
    handler_allocator get_turn_allocator(own_turn) const noexcept { return this->get_handler_allocator(); }
    void on_turn(own_turn turn) { Operation::on_turn(turn.what); }
    void on_turn_dropped(own_turn turn) noexcept { Operation::on_turn_dropped(turn.what); }

protected:
    template <typename... Args>
    driver_shell(Handler&& given_handler, WaitsOn const& waits_on, Membership&& membership, Args&&... args)
        : base(std::move(given_handler), waits_on, std::forward<Args>(args)...)
        , part_(*this, std::move(membership)) {}
    ~driver_shell() = default;

    template <typename... Prepare>
    void start(Prepare... prepare) {
        bool can_be_cancelled = false;
        try {
            (prepare(), ...); // first, so that observers hear of the end if there is no memory
            can_be_cancelled = this->connect_slot();
        } catch (...) {
            return this->go_on_after_failure();
        }
        Operation::start(Membership::is_scoped, can_be_cancelled);
    }

    /// Frees the memory. Destroys the handler if it was not moved out.
    void free_all() noexcept {
        [[maybe_unused]] auto const presence = part_.take_presence();
        take_handler();
    }

private:
    using immediate = immediate_executor<Handler, typename base::executors::io_executor>;
    static constexpr bool has_immediate =
        has_immediate_executor<Handler, typename base::executors::io_executor>;

    /// Moves the handler out and destroys the operation, so that the handler may reuse the memory.
    virtual Handler take_handler() = 0;

    virtual arguments take_arguments() = 0;

    arguments arguments_or_end() {
        try {
            return take_arguments();
        } catch (...) {
            take_handler();
            throw;
        }
    }

    // --- the end; the scope counts the operation until the handler has run

    void deliver() final {
        if (this->keeps_memory())
            return deliver_and_stay();
        [[maybe_unused]] auto const presence = part_.take_presence();
        arguments result = arguments_or_end();
        detail::unpack(take_handler(), std::move(result), places_of<arguments>);
    }

    void deliver_later() final {
        if constexpr (has_immediate)
            if (!this->keeps_memory())
                return hand_over(arguments_or_end());
        try {
            this->post(operation_turn::delivery);
        } catch (...) { // the operation has no other owner
            this->dissolve();
            throw;
        }
    }

    /// Calls the handler on its immediate executor, in a turn of its own or at once.
    void hand_over(arguments&& result) {
        // Without work the context could stop before the completion is queued.
        [[maybe_unused]] auto const keep_running = this->get_executors().keep_running();
        auto presence = part_.take_presence();
        auto const executor = this->get_executors().waits_on();
        Handler to_call = take_handler();
        auto const on = immediate::get(to_call, executor);
        asio::dispatch(on, late_completion<Handler, arguments, decltype(presence)>(
                               std::move(to_call), std::move(result), std::move(presence)));
    }

    /// The operation stays until its last attempt has ended; until then its scope counts it.
    void deliver_and_stay() final {
        struct on_exit {
            driver_shell* self;
            ~on_exit() noexcept(false) { self->on_handler_gone(); } // an emission may throw
        } const guard{this};
        auto const or_leave = [this](auto take) {
            try {
                return take();
            } catch (...) {
                this->let_others_in();
                throw;
            }
        };
        Handler to_call = or_leave([this] { return Handler(std::move(this->handler())); });
        arguments result = or_leave([this] { return take_arguments(); });
        this->let_others_in();
        detail::unpack(std::move(to_call), std::move(result), places_of<arguments>);
    }

    void dissolve() noexcept final {
        if (!this->keeps_memory())
            return free_all();
        {
            [[maybe_unused]] Handler const destroyed(std::move(this->handler()));
        }
        this->on_handler_gone();
    }

    // --- for the driver

    void post(operation_turn turn) final {
        auto const& on = this->get_executors();
        if constexpr (base::executors::waits_elsewhere) {
            if (turn == operation_turn::delivery) {
                // Queueing needs the context of the waits, which may be gone when the turn comes.
                [[maybe_unused]] auto const keep_running = on.keep_running();
                auto const through = on.waits_on();
                this->release_io_work();
                return queue(turn, on.get(), through);
            }
        }
        queue(turn, on.get(), on.waits_on());
    }
    void queue(operation_turn turn, typename base::operation_executor const& on,
               [[maybe_unused]] typename base::executors::io_executor const& through) {
        if constexpr (base::has_memory_of_its_own) {
            if (!comes_from_any_thread(turn))
                return post_turn(on, through, *this, own_turn{turn});
        }
        if constexpr (has_turns_in_the_library<Operation, typename base::operation_executor>)
            post_turn_of(*this, turn, on);
        else
            post_turn(on, through, static_cast<Operation&>(*this), turn);
    }
    asio::execution_context& context() const final {
        return asio::query(this->get_executors().waits_on(), asio::execution::context);
    }
    asio::io_context* own_context() const noexcept final {
        return detail::own_context(this->get_operation_executor());
    }
    basic_membership<Operation>* membership() noexcept final { return part_.get(); }
    void forget_caller() noexcept final { this->disconnect_slot(); }
    void forget_waiting_place() noexcept final { this->release_io_work(); }

    ASIO_RETRY_NO_UNIQUE_ADDRESS typename Membership::template part<Operation> part_;
};

/// Whether the operation's handler is still in place when there is no memory for the operation.
template <typename Handler, typename Callable>
inline constexpr bool leaves_handler =
    std::is_nothrow_move_constructible_v<Handler> && std::is_nothrow_move_constructible_v<Callable>;

/// Returns the operation that `create` makes. Without memory returns null, and completes the handler in a turn.
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
