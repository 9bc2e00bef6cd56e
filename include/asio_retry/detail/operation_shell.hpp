#pragma once

#include <asio_retry/detail/asio.hpp>
#include <asio_retry/detail/completion.hpp>
#include <asio_retry/detail/late_value.hpp>
#include <asio_retry/detail/operation_block.hpp>
#include <asio_retry/detail/operation_core.hpp>
#include <asio_retry/detail/operation_executors.hpp>
#include <asio_retry/detail/queued_turn.hpp>
#include <asio_retry/detail/runs_here.hpp>
#include <asio_retry/detail/scope_membership.hpp>

#include <boost/asio/append.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/execution/context.hpp>
#include <boost/asio/query.hpp>

#include <exception>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

namespace asio_retry::detail {

/// A retrying operation, but for what it retries: its handler, executors and result. One for all operations of
/// these types.
template <typename Signature, typename WaitsOn, typename Handler, typename Membership, bool WantsStrand>
class operation_shell : public operation_core {
    using completion = detail::completion<Signature>;
    using executors = operation_executors<WaitsOn, Handler, WantsStrand>;

public:
    using signature = Signature;
    using handler_type = Handler;
    using arguments = typename completion::arguments;
    using operation_executor = typename executors::executor_type;
    using handler_allocator = typename operation_block<operation_shell, Handler>::handler_allocator;

    operation_executor get_operation_executor() const noexcept { return executors_.get(); }
    handler_allocator get_handler_allocator() const noexcept {
        return operation_block<operation_shell, Handler>::handler_allocator_of(handler_);
    }

    template <typename... Args>
    void on_attempt_completed(Args&&... args) {
        try {
            result_.emplace(std::forward<Args>(args)...);
        } catch (...) {
            try {
                result_.emplace(completion::from_exception(std::current_exception()));
            } catch (...) { // there are no values to complete with
                drop();
                throw;
            }
        }
        operation_core::on_attempt_completed(!judges_results_ && !completion::is_failure(*result_));
    }

    // --- its turns on the executor

    struct own_turn {
        operation_turn what;
    };
    struct notice {
        operation_turn what;
    };
    template <typename Turn>
    using turn_allocator =
        std::conditional_t<std::is_same_v<Turn, notice>, std::allocator<void>, handler_allocator>;

    handler_allocator get_turn_allocator(own_turn) const noexcept { return get_handler_allocator(); }
    std::allocator<void> get_turn_allocator(notice) const noexcept { return {}; }
    void on_turn(own_turn turn) { operation_core::on_turn(turn.what); }
    void on_turn(notice turn) { operation_core::on_turn(turn.what); }
    void on_turn_dropped(own_turn turn) noexcept { operation_core::on_turn_dropped(turn.what); }
    void on_turn_dropped(notice turn) noexcept { operation_core::on_turn_dropped(turn.what); }

protected:
    operation_shell(Handler&& handler, retry_policy&& policy, WaitsOn const& waits_on, Membership&& membership,
                    bool judges_results)
        : operation_core(std::move(policy))
        , judges_results_(judges_results)
        , handler_(std::move(handler))
        , executors_(handler_, waits_on)
        , part_(*this, std::move(membership)) {}

    ~operation_shell() = default;

    /// In the initiating function. `prepare` may ask something of the machine.
    template <typename Prepare>
    void start(Prepare prepare) {
        bool can_be_cancelled = false;
        try {
            auto slot = asio::get_associated_cancellation_slot(handler_);
            can_be_cancelled = slot.is_connected();
            if (can_be_cancelled)
                slot.template emplace<slot_handler>(this);
            prepare();
        } catch (...) {
            return fail();
        }
        operation_core::start(Membership::is_scoped, can_be_cancelled);
    }

    Handler& handler() noexcept { return handler_; }
    arguments const& result() noexcept { return *result_; }

private:
    /// Lives in the slot of the caller's handler, until the operation or the caller's signal ends.
    struct slot_handler {
        operation_shell* self;
        explicit slot_handler(operation_shell* s) noexcept
            : self(s) {
            self->slot_connected_ = true;
        }
        slot_handler(slot_handler const&) = delete;
        slot_handler& operator=(slot_handler const&) = delete;
        ~slot_handler() { self->slot_connected_ = false; }
        void operator()(asio::cancellation_type_t type) { self->on_cancelled(type); }
    };

    /// Destroys the operation after its handler has been moved out, so that the handler may reuse the memory.
    virtual Handler take_handler() = 0;

    bool has_failed() noexcept final { return completion::is_failure(*result_); }
    verdict judge() final { return completion::verdict_on(*result_); }
    retry_action conclude_failed() final { return completion::on_exception(machine(), *result_); }
    void put_failure(error_code const& code, std::exception_ptr const& thrown) final {
        result_.emplace(completion::failed(code, thrown));
    }
    void amend_result(retry_action const& action) final { completion::amend(*result_, action); }
    void drop_result() noexcept final { result_.reset(); }

    void post(operation_turn turn) final {
        if (is_notice(turn))
            post_turn(executors_.get(), executors_.waits_on(), *this, notice{turn});
        else
            post_turn(executors_.get(), executors_.waits_on(), *this, own_turn{turn});
    }
    asio::execution_context& context() const final {
        return asio::query(executors_.waits_on(), asio::execution::context);
    }
    asio::io_context* own_context() const noexcept final { return detail::own_context(executors_.get()); }
    operation_membership* membership() noexcept final { return part_.get(); }
    void disconnect_slot() noexcept final { asio::get_associated_cancellation_slot(handler_).clear(); }

    void dissolve() noexcept final {
        [[maybe_unused]] auto const presence = part_.take_presence();
        take_handler();
    }

    void deliver() final {
        [[maybe_unused]] auto const presence =
            part_.take_presence(); // counted in the scope until the handler has run
        arguments result = take_result();
        std::apply(take_handler(), std::move(result));
    }

    arguments take_result() {
        try {
            return std::move(*result_);
        } catch (...) {
            take_handler();
            throw;
        }
    }

    void deliver_later() final {
        // Until the completion is queued: a context without work would stop.
        [[maybe_unused]] auto const keep_running = executors_.keep_running();
        auto presence = part_.take_presence();
        auto const executor = executors_.waits_on();
        arguments result = take_result();
        Handler handler = take_handler();
        immediate_delivery<typename executors::io_executor, Handler> delivery(handler, executor);
        std::apply(
            [&](auto&&... values) {
                delivery(asio::append(presence.until_called(std::move(handler)), std::move(values)...));
            },
            std::move(result));
    }

    bool const judges_results_;
    Handler handler_;
    executors executors_;
    [[no_unique_address]] typename Membership::part part_;
    late_value<arguments> result_; // of the attempt that ended last, until its failure is decided on
};

} // namespace asio_retry::detail
