#pragma once

#include <asio_retry/attempt.hpp>
#include <asio_retry/detail/attempt/attempt_handler.hpp>
#include <asio_retry/detail/attempt/completion.hpp>
#include <asio_retry/detail/attempt/operation_form.hpp>
#include <asio_retry/detail/handler/late_value.hpp>
#include <asio_retry/detail/hedge/hedge_core.hpp>
#include <asio_retry/detail/operation/attempt_runner.hpp>
#include <asio_retry/detail/policy/config.hpp>
#include <asio_retry/pushback.hpp>

#include <atomic>
#include <exception>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

namespace asio_retry::detail {

/// Receives what an attempt reports to its hedge: what its server said, and that it has sent.
class hedge_monitor final : health_monitor {
public:
    /// The operation may refer to it until the attempt ends.
    attempt const& monitored(hedge_machine& machine, unsigned number) noexcept {
        machine_ = &machine;
        current_ = machine.attempt_at(number);
        current_.monitor = this;
        return current_;
    }

private:
    void on_healthy() noexcept override {}
    void on_sent() noexcept override { machine_->on_sent(); }
    void on_pushback(pushback said) noexcept override { machine_->heed(current_.number, said); }
    shared_value<nested_marks> marks() override { return machine_->marks_of_nested(current_.number); }

    hedge_machine* machine_ = nullptr;
    attempt current_;
};

/// An operation that takes no attempt reports nothing, and counts as having sent from its beginning.
struct no_hedge_monitor {
    static attempt monitored(hedge_machine& machine, unsigned number) noexcept {
        machine.on_sent();
        return machine.attempt_at(number);
    }
};

/// An attempt: its result, and what its handler needs of the operation.
template <typename Shell, typename Form>
class typed_slot : public hedge_slot {
    using completion = detail::completion<typename Form::signature>;

public:
    using arguments = typename completion::arguments;
    using operation_executor = typename Shell::operation_executor;
    using handler_allocator = typename Shell::handler_allocator;

    static constexpr bool ignores_second_completion = true;

    explicit typed_slot(Shell& given_operation) noexcept
        : operation_(given_operation) {}
    typed_slot(typed_slot const&) = delete;
    typed_slot& operator=(typed_slot const&) = delete;
    ~typed_slot() = default;

    // --- for its handler

    operation_executor get_operation_executor() const noexcept { return operation_.get_operation_executor(); }
    handler_allocator get_handler_allocator() const noexcept { return operation_.get_handler_allocator(); }
    asio::cancellation_slot attempt_slot() noexcept { return signal.slot(); }
    void on_attempt_dropped() noexcept { operation_.on_attempt_dropped(*this); }

    template <typename... Args>
    void on_attempt_completed(Args&&... args) {
        try {
            kept.emplace(std::forward<Args>(args)...);
        } catch (...) {
            try {
                kept.emplace(completion::from_exception(std::current_exception()));
            } catch (...) { // no result can be made, so the attempt is dropped
                on_attempt_dropped();
                throw;
            }
        }
        is_success = !completion::is_failure(*kept) && !Form::judges_results;
        operation_.on_attempt_ended(*this);
    }

    late_value<arguments> kept; // the attempt's result
    ASIO_RETRY_NO_UNIQUE_ADDRESS std::conditional_t<Form::takes_attempt, hedge_monitor, no_hedge_monitor>
        monitor;

protected:
    Shell& operation_;
};

/// An attempt of a token or deferred operation or a plain callable.
template <typename Operation, typename Shell, typename Form, bool = Form::returns_awaitable>
class hedge_attempt final : public typed_slot<Shell, Form> {
    using base = typed_slot<Shell, Form>;

public:
    using base::base;

    void start(Operation& operation) {
        attempt_handler<base> handler(this);
        if constexpr (Form::takes_token) {
            operation.call(*this, std::move(handler));
        } else if constexpr (Form::returns_operation) {
            operation.call (*this)(std::move(handler));
        } else if constexpr (std::is_void_v<typename Form::result_type>) {
            operation.call(*this);
            std::move(handler)(std::exception_ptr());
        } else {
            using result_type = typename Form::result_type;
            std::move(handler)(returned<result_type>::arguments(result_type(operation.call(*this))));
        }
    }
    void tell(asio::cancellation_type_t type) { this->signal.emit(type); }
    void be_over() noexcept { this->signal.slot().clear(); }
};

/// An attempt that is an awaitable, in a coroutine of its own.
template <typename Operation, typename Shell, typename Form>
class hedge_attempt<Operation, Shell, Form, true> final
    : public typed_slot<Shell, Form>,
      attempt_runner<typename Form::result_type, typename Form::signature> {
    using base = typed_slot<Shell, Form>;

public:
    using base::base;

    void start(Operation& operation) {
        callable_ = &operation;
        this->run(operation.get_operation_executor(), this->attempt_slot());
    }
    void tell(asio::cancellation_type_t type) {
        if (!this->stop_at_begin())
            this->signal.emit(type);
    }
    void be_over() noexcept { this->end(); }

private:
    typename Form::result_type call() final { return callable_->call(*this); }
    bool is_cancelled() noexcept final { return false; }
    void on_completed(typename base::arguments&& result) final {
        this->on_attempt_completed(std::move(result));
    }
    void on_dropped() noexcept final { this->on_attempt_dropped(); }
    void on_lost() noexcept final { this->operation_.on_attempt_lost(*this); }

    Operation* callable_ = nullptr;
};

} // namespace asio_retry::detail
