#pragma once

#include <asio_retry/attempt.hpp>
#include <asio_retry/detail/attempt/attempt_handler.hpp>
#include <asio_retry/detail/attempt/completion.hpp>
#include <asio_retry/detail/attempt/erased_operation.hpp>
#include <asio_retry/detail/attempt/operation_form.hpp>
#include <asio_retry/detail/handler/handler_memory.hpp>
#include <asio_retry/detail/operation/attempt_runner.hpp>
#include <asio_retry/detail/operation/detached_attempt.hpp>
#include <asio_retry/detail/operation/driver.hpp>
#include <asio_retry/detail/operation/driver_shell.hpp>
#include <asio_retry/detail/policy/config.hpp>
#include <asio_retry/retry_policy.hpp>

#include <boost/asio/cancellation_type.hpp>

#include <exception>
#include <tuple>
#include <type_traits>
#include <utility>

namespace asio_retry::detail {

// --- without the callable

/// A retrying operation without its callable: its shell, and the result of its attempt.
template <typename Signature, typename WaitsOn, typename Handler, typename Membership, bool WantsStrand>
class retry_shell : public driver_shell<retry_driver, Signature, WaitsOn, Handler, Membership, WantsStrand> {
    using base = driver_shell<retry_driver, Signature, WaitsOn, Handler, Membership, WantsStrand>;
    using completion = detail::completion<Signature>;

public:
    using typename base::arguments;
    using handler_link = attempt_link<retry_shell>;

    template <typename... Args>
    void on_attempt_completed(Args&&... args) {
        try {
            result_.emplace(std::forward<Args>(args)...);
        } catch (...) {
            try {
                result_.emplace(completion::from_exception(std::current_exception()));
            } catch (...) { // there are no values to complete with
                this->end_attempts();
                this->on_attempt_dropped();
                throw;
            }
        }
        this->on_result_kept(completion::is_failure(*result_));
    }

protected:
    retry_shell(Handler&& given_handler, retry_policy&& given_policy, WaitsOn const& waits_on,
                Membership&& membership, bool judges_results)
        : base(std::move(given_handler), waits_on, std::move(membership), std::move(given_policy),
               judges_results) {}
    ~retry_shell() = default;

    arguments const& result() noexcept { return *result_; }

    /// Makes an attempt that may be left behind. Without memory the attempt is lost before it begins.
    template <typename Attempt>
    Attempt* make_detached(typename Attempt::operation_type& operation) {
        try {
            return new Attempt(operation);
        } catch (...) {
            this->on_attempt_dropped();
            throw;
        }
    }

    handler_link link() {
        return this->leaves_attempts() ? handler_link(detached_attempt::make(*this)) : handler_link(this);
    }

    template <bool JudgesResults>
    void amend_result_as(retry_action const& action) {
        completion::template amend<JudgesResults>(*result_, action);
    }

private:
    arguments take_arguments() final { return std::move(*result_); }

    bool has_failed() noexcept final { return completion::is_failure(*result_); }
    verdict verdict_on_result() final { return completion::verdict_on(*result_); }
    retry_action conclude_failed() final { return completion::on_exception(this->machine(), *result_); }
    void put_failure(error_code const& code, std::exception_ptr const& thrown) final {
        result_.emplace(last_.failed(code, thrown));
    }
    void amend_result(retry_action const& action) override { amend_result_as<false>(action); }
    void drop_result() noexcept final {
        last_.keep(result_);
        result_.reset();
    }

    void on_attempt_left() final {
        this->machine().on_sent(); // the attempt that is left behind may still send
        try {
            result_.emplace(completion::failed(aborted_error(), nullptr));
        } catch (...) { // there are no values to complete with
            this->on_attempt_dropped();
            throw;
        }
        this->on_result_kept(true);
    }

    void free() noexcept final { this->free_all(); }

    kept_result<completion> result_; // of the last attempt; removed before a wait begins
    ASIO_RETRY_NO_UNIQUE_ADDRESS last_failure<completion> last_;
};

/// An attempt that is an awaitable and may be left behind, in a coroutine of its own.
template <typename Shell, typename Awaitable, typename Signature>
class detached_awaitable final : public detached_attempt, attempt_runner<Awaitable, Signature> {
    using runner = attempt_runner<Awaitable, Signature>;

public:
    using operation_type = Shell;

    explicit detached_awaitable(Shell& operation)
        : detached_attempt(operation)
        , shell_(operation) {}

    void start() { this->run(shell_.get_operation_executor(), this->slot()); }

private:
    ~detached_awaitable() = default;

    void tell(asio::cancellation_type_t type) override {
        if (!this->stop_at_begin())
            detached_attempt::tell(type);
    }

    Awaitable call() override { return shell_.call_apart(this); }
    bool is_cancelled() noexcept override { return this->is_left(); }
    void on_completed(typename runner::arguments&& result) override {
        runner::end();
        Shell& of = shell_;
        detached_attempt::end([&] { of.on_attempt_completed(std::move(result)); });
    }
    void on_dropped() noexcept override {
        Shell& of = shell_;
        detached_attempt::end([&] { of.on_attempt_dropped(); });
    }
    void on_lost() noexcept override {
        Shell& of = shell_;
        detached_attempt::end([&] { of.on_coroutine_lost(); });
    }

    Shell& shell_;
};

template <typename Awaitable, typename Signature, typename WaitsOn, typename Handler, typename Membership,
          bool HasStrand>
class awaiting_shell : public retry_shell<Signature, WaitsOn, Handler, Membership, HasStrand>,
                       protected attempt_runner<Awaitable, Signature> {
    using shell = retry_shell<Signature, WaitsOn, Handler, Membership, HasStrand>;

    using detached = detached_awaitable<awaiting_shell, Awaitable, Signature>;
    friend detached;

protected:
    using shell::shell;
    ~awaiting_shell() = default;

private:
    /// Calls the operation. `apart` is not null if the attempt may be left behind.
    virtual Awaitable call_apart(detached_attempt* apart) = 0;
    Awaitable call() final { return call_apart(nullptr); }

    void start_attempt() final {
        if (this->leaves_attempts())
            return this->template make_detached<detached>(*this)->start();
        this->run(this->get_operation_executor(), this->attempt_slot());
    }

    void signal_attempt(asio::cancellation_type_t type) final {
        if (this->leaves_attempts() || !this->stop_at_begin())
            this->emit(type);
    }

    void clear_slot() noexcept final {
        if (this->leaves_attempts()) // otherwise the coroutine of the attempt stays in the slot
            shell::clear_slot();
    }
    void end_attempts() noexcept final { this->end(); }

    bool is_cancelled() noexcept final { return this->machine().cancelled(); }
    void on_completed(typename shell::arguments&& result) final {
        this->on_attempt_completed(std::move(result));
    }
    void on_dropped() noexcept final { this->on_attempt_dropped(); }
    void on_lost() noexcept final { this->on_coroutine_lost(); }
};

// --- with the callable

template <typename Form>
inline constexpr bool wants_strand = [] {
    if constexpr (Form::returns_awaitable)
        return attempts_need_strand<typename Form::result_type>;
    else
        return false;
}();

template <typename Form, typename WaitsOn, typename Handler, typename Membership,
          bool HasStrand = wants_strand<Form>, bool = Form::returns_awaitable>
struct shell_of {
    using type = retry_shell<typename Form::signature, WaitsOn, Handler, Membership, false>;
};
template <typename Form, typename WaitsOn, typename Handler, typename Membership, bool HasStrand>
struct shell_of<Form, WaitsOn, Handler, Membership, HasStrand, true> {
    using type = awaiting_shell<typename Form::result_type, typename Form::signature, WaitsOn, Handler,
                                Membership, HasStrand>;
};

template <typename Callable, typename Shell>
class operation_with_callable : public Shell {
protected:
    using form = operation_form<Callable>;
    using handler_type = typename Shell::handler_type;

    template <typename... Args>
    operation_with_callable(handler_type&& given_handler, Callable&& callable, Args&&... args)
        : Shell(std::move(given_handler), std::forward<Args>(args)..., form::judges_results)
        , callable_(std::move(callable))
        , health_(this->machine(), *this) {}
    ~operation_with_callable() = default;

    void start() {
        if constexpr (form::prepares)
            Shell::start([this] { form::prepare(callable_, this->machine()); });
        else
            Shell::start();
    }

    /// `apart` is not null if the attempt may be left behind.
    template <typename... Token>
    decltype(auto) call_operation([[maybe_unused]] detached_attempt* apart, Token&&... token) {
        if constexpr (form::chooses)
            if (apart)
                apart->own_choice_of(form::chooser_of(callable_));
        if constexpr (form::takes_attempt)
            if (apart)
                return form::call(callable_, apart->current(), std::forward<Token>(token)...);
        return form::call(callable_, health_.monitored(this->machine().current_attempt()),
                          std::forward<Token>(token)...);
    }

    Callable& callable() noexcept { return callable_; }

private:
    Callable callable_;
    ASIO_RETRY_NO_UNIQUE_ADDRESS attempt_health_of<form, retry_driver> health_;
};

/// A retrying operation with its callable, whose results `fail_if` judges.
template <typename Callable, typename Shell>
class judging_operation : public operation_with_callable<Callable, Shell> {
    using base = operation_with_callable<Callable, Shell>;

protected:
    using base::base;
    using typename base::form;
    ~judging_operation() = default;

private:
    judgement judge_values() final {
        return completion<typename form::signature>::template rejects<form>(this->callable(), this->result());
    }
    void amend_result(retry_action const& action) final { this->template amend_result_as<true>(action); }
};

template <typename Callable, typename Shell>
using operation_for =
    std::conditional_t<operation_form<Callable>::judges_results, judging_operation<Callable, Shell>,
                       operation_with_callable<Callable, Shell>>;

/// Starts the attempts of plain callables and of token and deferred operations. The shell starts awaitables.
template <typename Callable, typename Shell, bool = operation_form<Callable>::returns_awaitable>
class operation_with_attempts : public operation_for<Callable, Shell> {
    using base = operation_for<Callable, Shell>;
    using form = typename base::form;

protected:
    using base::base;
    ~operation_with_attempts() = default;

private:
    void start_attempt() final {
        constexpr bool may_last = form::takes_token || form::returns_operation;
        auto const link = may_last ? this->link() : typename Shell::handler_link(this);
        attempt_handler<Shell> handler(link);
        if constexpr (form::takes_token) {
            this->call_operation(link.detached(), std::move(handler));
        } else if constexpr (form::returns_operation) {
            this->call_operation(link.detached())(std::move(handler));
        } else if constexpr (std::is_void_v<typename form::result_type>) {
            this->call_operation(nullptr);
            std::move(handler)(std::exception_ptr());
        } else {
            using result_type = typename form::result_type;
            std::move(handler)(returned<result_type>::arguments(result_type(this->call_operation(nullptr))));
        }
    }
};

template <typename Callable, typename Shell>
class operation_with_attempts<Callable, Shell, true> : public operation_for<Callable, Shell> {
    using base = operation_for<Callable, Shell>;

protected:
    using base::base;
    ~operation_with_attempts() = default;

private:
    typename base::form::result_type call_apart(detached_attempt* apart) final {
        return this->call_operation(apart);
    }
};

/// One block of memory from the handler's allocator, at one address until it completes.
template <typename Callable, typename Shell>
class retry_operation final : public operation_with_attempts<Callable, Shell> {
    using base = operation_with_attempts<Callable, Shell>;
    using handler_type = typename Shell::handler_type;
    using block = operation_block<retry_operation, handler_type>;
    friend block;

public:
    template <typename WaitsOn, typename Membership>
    static void launch(handler_type&& handler, Callable&& callable, retry_policy&& policy,
                       WaitsOn const& waits_on, Membership&& membership) {
        auto const create = [&] {
            return block::create(block::alone, std::move(handler), std::move(callable), std::move(policy),
                                 waits_on, std::forward<Membership>(membership));
        };
        if constexpr (is_erased<Callable>) { // a coroutine awaits it; an exception would lose the coroutine
            auto* const operation =
                create_or_complete<completion<typename base::form::signature>,
                                   leaves_handler<handler_type, Callable>>(handler, waits_on, create);
            if (operation)
                operation->start();
        } else {
            create()->start();
        }
    }

private:
    using base::base;
    ~retry_operation() = default;

    handler_type take_handler() override { return block::dissolve(this, this->handler()); }
};

} // namespace asio_retry::detail
