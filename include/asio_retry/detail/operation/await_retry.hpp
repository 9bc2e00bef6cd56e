#pragma once

#include <asio_retry/detail/attempt/operation_form.hpp>
#include <asio_retry/detail/operation/await_driver.hpp>
#include <asio_retry/detail/operation/retry_elsewhere.hpp>

#include <boost/asio/awaitable.hpp>

#include <cstddef>
#include <exception>
#include <type_traits>
#include <utility>

namespace asio_retry::detail {

/// The part of an awaited retry that depends on the type of the result. It is a class and no coroutine: a frame
/// would keep every temporary, and resuming a large frame is the greatest cost of a wait.
template <typename Callable>
class awaited_retry final : public await_driver {
    using form = operation_form<Callable>;
    using completion = detail::completion<typename form::signature>;
    using arguments = typename completion::arguments;
    using value_type = typename awaitable_traits<typename form::result_type>::value_type;

public:
    static constexpr bool is_void = std::is_void_v<value_type>;

    /// The callable and the other referenced objects must outlive this object.
    template <typename... Args>
    explicit awaited_retry(Callable& callable, retry_policy&& given_policy, Args&&... args)
        : await_driver(std::move(given_policy), form::judges_results, std::forward<Args>(args)...)
        , callable_(callable)
        , health_(machine(), *this) {}
    ~awaited_retry() { end_frame(); }

    auto call() { return form::call(callable_, health_.monitored(machine().current_attempt())); }

    template <typename... Value>
    void on_result(Value&&... value) {
        put_result([&] {
            if constexpr (sizeof...(Value) == 0)
                return arguments();
            else
                return arguments(awaited<value_type>::arguments(std::forward<Value>(value)...));
        });
    }

    /// If no result can be made, the operation still ends, and restores the coroutine's cancellation.
    void on_exception(std::exception_ptr const& thrown) noexcept {
        put_result([&] { return completion::from_exception(thrown); });
    }

    void on_attempt_ended() {
        bool const is_success = !form::judges_results && result_ && !completion::is_failure(*result_);
        end_attempt_here(is_success && !machine().hears_success());
    }

    arguments take_result() {
        if (thrown_)
            std::rethrow_exception(thrown_);
        return std::move(*result_);
    }

private:
    template <typename Make>
    void put_result(Make make) noexcept {
        try {
            result_.emplace(make());
        } catch (...) {
            result_.reset();
            thrown_ = std::current_exception();
        }
    }

    void prepare(retry_machine& machine) final { form::prepare(callable_, machine); }
    bool has_failed() noexcept final { return completion::is_failure(*result_); }
    judgement judge_values() final {
        if constexpr (form::judges_results)
            return completion::template rejects<form>(callable_, *result_);
        else
            return {};
    }
    verdict verdict_on_result() final { return completion::verdict_on(*result_); }
    retry_action conclude_failed() final {
        return result_ ? completion::on_exception(machine(), *result_)
                       : machine().on_exception(code_of(thrown_), thrown_);
    }
    void put_failure(error_code const& code, std::exception_ptr const& thrown) final {
        put_result([&] { return last_.failed(code, thrown); });
    }
    void amend_result(retry_action const& action) final {
        if (result_)
            completion::template amend<form::judges_results>(*result_, action);
    }
    void drop_result() noexcept final {
        last_.keep(result_);
        result_.reset();
        keep_frame();
    }

    Callable& callable_;
    ASIO_RETRY_NO_UNIQUE_ADDRESS attempt_health_of<form, awaited_retry> health_;
    maybe<arguments> result_; // of the last attempt; removed before a wait begins
    ASIO_RETRY_NO_UNIQUE_ADDRESS last_failure<completion> last_;
};

/// The operation to retry, together with its presence in its scope.
template <typename Callable, bool IsScoped>
struct counted_callable {
    struct nowhere {};
    ASIO_RETRY_NO_UNIQUE_ADDRESS std::conditional_t<IsScoped, awaited_presence, nowhere> presence;
    Callable callable;

    template <typename Operation>
    counted_callable(std::in_place_t, Operation&& given_operation)
        : callable(std::forward<Operation>(given_operation)) {}

    awaited_presence* place() noexcept {
        if constexpr (IsScoped)
            return &presence;
        else
            return nullptr;
    }
};

/// Retries an awaitable operation inside the coroutine that awaits it. Only the frame of each attempt is
/// allocated, and nothing is spawned. Where that is impossible, the attempts get a coroutine of their own.
template <typename Token, typename Callable, typename Source>
auto await_retry(counted_callable<Callable, Source::is_scoped> kept, retry_policy policy, Source source)
    -> retry_awaitable<Token, Callable> {
    using token = awaiting_token<Token>;
    using executor = typename token::executor_type;

    constexpr bool may_enter = has_coroutine_entry<executor>;
    [[maybe_unused]] std::conditional_t<may_enter, coroutine_entry<executor>, std::nullptr_t> entry;
    if constexpr (may_enter) {
        co_await entry.find();
        awaited_course const course(entry, policy, Source::is_scoped);
        if (!course.is_elsewhere) {
            using retry_type = awaited_retry<Callable>;
            retry_type retry(kept.callable, std::move(policy), entry, course,
                             source.where_to_wait(entry.executor()), kept.place());
            using step = typename retry_type::step;
            for (step next = retry.begin(); next != step::complete; next = retry.take_step()) {
                if (next == step::rest) {
                    co_await retry.async_rest();
                    continue;
                }
                try {
                    auto attempt = retry.call();
                    entry.throw_if_cancelled(); // the callable may have cancelled the operation
                    co_await entry.run(attempt);
                    if (auto const thrown = entry.exception_of(attempt)) {
                        retry.on_exception(thrown);
                    } else if constexpr (retry_type::is_void) {
                        attempt.await_resume();
                        retry.on_result();
                    } else {
                        retry.on_result(attempt.await_resume());
                    }
                } catch (...) {
                    retry.on_exception(std::current_exception());
                }
                retry.on_attempt_ended();
            }
            co_return token::yield(retry.take_result());
        }
    }
    if constexpr (can_lose_type<operation_form<Callable>, Source>) {
        untyped_result result;
        co_await retry_without_type(result, source, std::move(kept.callable), std::move(policy));
        co_return token::yield(typed_result<operation_form<Callable>>(std::move(result)));
    } else {
        co_return co_await retry_with_type<Token>(source, std::move(kept.callable), std::move(policy));
    }
}

} // namespace asio_retry::detail
