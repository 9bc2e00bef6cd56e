#pragma once

#include <asio_retry/attempt.hpp>
#include <asio_retry/detail/attempt/attempt_handler.hpp>
#include <asio_retry/detail/attempt/attempt_health.hpp>
#include <asio_retry/detail/attempt/completion.hpp>
#include <asio_retry/detail/attempt/erased_operation.hpp>
#include <asio_retry/detail/attempt/operation_form.hpp>
#include <asio_retry/detail/handler/operation_block.hpp>
#include <asio_retry/detail/operation/attempt_runner.hpp>
#include <asio_retry/detail/operation/operation_shell.hpp>
#include <asio_retry/detail/operation/turning_operation.hpp>
#include <asio_retry/detail/policy/config.hpp>
#include <asio_retry/retry_policy.hpp>

#include <exception>
#include <tuple>
#include <type_traits>
#include <utility>

namespace asio_retry::detail {

/// Whether the attempts of this form need a strand.
template <typename Form>
inline constexpr bool wants_strand = [] {
    if constexpr (Form::returns_awaitable)
        return attempts_want_strand<typename Form::result_type>;
    else
        return false;
}();

/// A retrying operation without its callable.
template <typename Form, typename WaitsOn, typename Handler, typename Membership,
          bool HasStrand = wants_strand<Form>, bool = Form::returns_awaitable>
struct shell_of {
    using type = operation_shell<typename Form::signature, WaitsOn, Handler, Membership, false>;
};
template <typename Form, typename WaitsOn, typename Handler, typename Membership, bool HasStrand>
struct shell_of<Form, WaitsOn, Handler, Membership, HasStrand, true> {
    using type = awaiting_shell<typename Form::result_type, typename Form::signature, WaitsOn, Handler,
                                Membership, HasStrand>;
};

/// A retrying operation with its callable.
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
        if constexpr (form::takes_attempt)
            if (apart)
                return form::call(callable_, apart->current(), std::forward<Token>(token)...);
        return form::call(callable_, health_.monitored(this->machine().current_attempt()),
                          std::forward<Token>(token)...);
    }

    Callable& callable() noexcept { return callable_; }

private:
    Callable callable_;
    ASIO_RETRY_NO_UNIQUE_ADDRESS attempt_health_of<form, operation_core> health_;
};

/// The same for an operation whose results are judged.
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

/// Starts the attempts of token and deferred operations and plain callables. The shell starts attempts that are
/// awaitables.
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
                                 waits_on, std::move(membership));
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
