#pragma once

#include <asio_retry/detail/attempt/completion.hpp>
#include <asio_retry/detail/handler/asio.hpp>
#include <asio_retry/detail/handler/late_value.hpp>
#include <asio_retry/detail/handler/unpack.hpp>
#include <asio_retry/detail/operation/detached_attempt.hpp>
#include <asio_retry/detail/operation/operation_core.hpp>
#include <asio_retry/detail/operation/turning_operation.hpp>

#include <exception>
#include <tuple>
#include <utility>

namespace asio_retry::detail {

/// A retrying operation without its callable: its handler, executors and result. One type for all operations
/// with these parameters.
template <typename Signature, typename WaitsOn, typename Handler, membership Membership, bool WantsStrand>
class operation_shell
    : public turning_operation<operation_core, operation_turn, WaitsOn, Handler, Membership, WantsStrand> {
    using base = turning_operation<operation_core, operation_turn, WaitsOn, Handler, Membership, WantsStrand>;
    using completion = detail::completion<Signature>;

public:
    using signature = Signature;
    using arguments = typename completion::arguments;
    using typename base::handler_allocator;
    using handler_link = attempt_link<operation_shell>;

    template <typename... Args>
    void on_attempt_completed(Args&&... args) {
        try {
            result_.emplace(std::forward<Args>(args)...);
        } catch (...) {
            try {
                result_.emplace(completion::from_exception(std::current_exception()));
            } catch (...) { // there are no values to complete with
                this->release_coroutine();
                this->drop();
                throw;
            }
        }
        operation_core::on_result_kept(completion::is_failure(*result_));
    }

protected:
    operation_shell(Handler&& given_handler, retry_policy&& given_policy, WaitsOn const& waits_on,
                    Membership&& membership, bool judges_results)
        : base(std::move(given_handler), waits_on, std::move(membership), std::move(given_policy),
               judges_results) {}

    ~operation_shell() = default;

    /// Called by the initiating function. `prepare`, if given, may prepare the machine.
    template <typename... Prepare>
    void start(Prepare... prepare) {
        bool can_be_cancelled = false;
        try {
            (prepare(), ...); // first: observers must also see an end for want of memory
            can_be_cancelled = this->connect_slot();
        } catch (...) {
            return this->fail();
        }
        operation_core::start(Membership::is_scoped, can_be_cancelled);
    }

    arguments const& result() noexcept { return *result_; }

    /// Makes an attempt that may be left behind. Without memory the attempt is lost before it begins.
    template <typename Attempt>
    Attempt* make_detached(typename Attempt::operation_type& operation) {
        try {
            return new Attempt(operation);
        } catch (...) {
            this->drop();
            throw;
        }
    }

    /// For the handler of an attempt.
    handler_link link() {
        return this->leaves_attempts() ? handler_link(make_detached<detached_attempt>(*this))
                                       : handler_link(this);
    }

    template <bool JudgesResults>
    void amend_result_as(retry_action const& action) {
        completion::template amend<JudgesResults>(*result_, action);
    }

private:
    /// Moves the handler out and destroys the operation, so that the handler may reuse the memory.
    virtual Handler take_handler() = 0;

    bool has_failed() noexcept final { return completion::is_failure(*result_); }
    verdict judge() final { return completion::verdict_on(*result_); }
    retry_action conclude_failed() final { return completion::on_exception(this->machine(), *result_); }
    void put_failure(error_code const& code, std::exception_ptr const& thrown) final {
        result_.emplace(completion::failed(code, thrown));
    }
    void amend_result(retry_action const& action) override { amend_result_as<false>(action); }
    void drop_result() noexcept final { result_.reset(); }

    void on_attempt_left() final {
        this->machine().on_sent(); // it still may
        try {
            result_.emplace(completion::failed(aborted_error(), nullptr));
        } catch (...) { // there are no values to complete with
            this->drop();
            throw;
        }
        operation_core::on_result_kept(true);
    }

    void free() noexcept final {
        [[maybe_unused]] auto const presence = this->take_presence();
        take_handler();
    }

    void dissolve() noexcept final {
        if (!this->has_left_attempts())
            return free();
        {
            [[maybe_unused]] Handler const destroyed(std::move(this->handler()));
        }
        this->let_go();
    }

    void deliver() final {
        if (this->has_left_attempts())
            return deliver_and_let_go();
        [[maybe_unused]] auto const presence =
            this->take_presence(); // the scope counts it until the handler has run
        arguments result = take_result();
        detail::unpack(take_handler(), std::move(result), places_of<arguments>);
    }

    /// Its scope counts it until the last attempt that was left behind has ended.
    void deliver_and_let_go() {
        struct on_exit {
            operation_shell* self;
            ~on_exit() { self->let_go(); }
        } const guard{this};
        arguments result = std::move(*result_);
        Handler to_call(std::move(this->handler()));
        detail::unpack(std::move(to_call), std::move(result), places_of<arguments>);
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
        if constexpr (base::has_immediate)
            if (!this->has_left_attempts())
                return this->hand_over(take_result(), [this] { return take_handler(); });
        operation_core::deliver_later();
    }

    late_value<arguments> result_; // of the last attempt, until its failure is decided on
};

} // namespace asio_retry::detail
