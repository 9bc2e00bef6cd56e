#pragma once

#include <asio_retry/detail/attempt/completion.hpp>
#include <asio_retry/detail/handler/unpack.hpp>
#include <asio_retry/detail/hedge/hedge_core.hpp>
#include <asio_retry/detail/operation/turning_operation.hpp>
#include <asio_retry/hedge_policy.hpp>

#include <span>
#include <tuple>
#include <utility>

namespace asio_retry::detail {

/// A hedged operation without its callable: its handler, executors and delivery. One type for all operations
/// with these parameters.
template <typename Signature, typename WaitsOn, typename Handler, typename Membership, bool WantsStrand>
class hedge_shell
    : public turning_operation<hedge_core, hedge_turn, WaitsOn, Handler, Membership, WantsStrand> {
    using base = turning_operation<hedge_core, hedge_turn, WaitsOn, Handler, Membership, WantsStrand>;
    using completion = detail::completion<Signature>;

public:
    using arguments = typename completion::arguments;

protected:
    hedge_shell(Handler&& given_handler, hedge_policy const& given_policy, std::span<hedged_attempt> attempts,
                WaitsOn const& waits_on, Membership&& membership)
        : base(std::move(given_handler), waits_on, std::move(membership), given_policy, attempts) {}
    ~hedge_shell() = default;

    /// Called by the initiating function.
    void start() {
        try {
            this->connect_slot();
        } catch (...) {
            return this->fail();
        }
        hedge_core::start(Membership::is_scoped);
    }

private:
    /// Moves the handler out and destroys the operation, so that the handler may reuse the memory.
    virtual Handler take_handler() = 0;

    virtual arguments& result_of(std::uint64_t attempt) noexcept = 0;

    void dissolve() noexcept final {
        [[maybe_unused]] auto const presence = this->take_presence();
        take_handler();
    }

    void deliver(hedge_action const& action) final {
        [[maybe_unused]] auto const presence =
            this->take_presence(); // the scope counts it until the handler has run
        arguments result = take_result(action);
        detail::unpack(take_handler(), std::move(result), places_of<arguments>);
    }

    void deliver_later() final {
        if constexpr (base::has_immediate)
            this->hand_over(take_result(this->machine().delivery()), [this] { return take_handler(); });
        else
            hedge_core::deliver_later();
    }

    /// The operation stays until its last attempt has ended; until then its scope counts it.
    void deliver_and_stay(hedge_action const& action) final {
        struct on_exit {
            hedge_shell* self;
            ~on_exit() { self->on_handler_returned(); }
        } const guard{this};
        auto const or_leave = [this](auto take) {
            try {
                return take();
            } catch (...) {
                this->leave();
                throw;
            }
        };
        Handler to_call = or_leave([this] { return Handler(std::move(this->handler())); });
        arguments result = or_leave([&] { return result_for(action); });
        this->leave();
        detail::unpack(std::move(to_call), std::move(result), places_of<arguments>);
    }

    arguments take_result(hedge_action const& action) {
        try {
            return result_for(action);
        } catch (...) {
            take_handler();
            throw;
        }
    }

    arguments result_for(hedge_action const& action) {
        if (action.attempt == 0)
            return completion::failed(action.error, action.thrown);
        arguments result = std::move(result_of(action.attempt));
        if (action.error || action.thrown)
            set_failure(std::get<0>(result), action.error, action.thrown);
        return result;
    }
};

} // namespace asio_retry::detail
