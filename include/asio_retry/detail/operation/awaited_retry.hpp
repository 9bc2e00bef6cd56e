#pragma once

#include <asio_retry/detail/attempt/attempt_health.hpp>
#include <asio_retry/detail/attempt/completion.hpp>
#include <asio_retry/detail/attempt/operation_form.hpp>
#include <asio_retry/detail/operation/await_driver.hpp>
#include <asio_retry/detail/policy/config.hpp>
#include <asio_retry/retry_machine.hpp>

#include <exception>
#include <optional>
#include <utility>

namespace asio_retry::detail {

/// The result of an attempt that a coroutine awaits. One type for all operations with these parameters.
template <typename Signature, typename Executor, typename WaitsOn>
class awaited_result : public await_driver<Executor, WaitsOn> {
    using driver = await_driver<Executor, WaitsOn>;

public:
    using completion = detail::completion<Signature>;
    using arguments = typename completion::arguments;

    /// If no result can be made, there is nothing to decide on. The operation still ends, and restores the
    /// coroutine's cancellation.
    void on_exception(std::exception_ptr const& thrown) noexcept {
        put_result([&] { return completion::from_exception(thrown); });
    }

    /// The attempt has ended, and its result is kept.
    void on_attempt_ended() {
        bool const is_success = !judges_results_ && result_ && !completion::is_failure(*result_);
        if (!this->has_to_move_back(is_success && !this->machine().hears_success()))
            end_attempt();
    }

    /// Throws the exception that making a result has thrown, if there is one.
    arguments take_result() {
        if (thrown_)
            std::rethrow_exception(thrown_);
        return std::move(*result_);
    }

protected:
    template <typename... Args>
    explicit awaited_result(retry_policy&& given_policy, bool judges_results, Args&&... args)
        : driver(std::move(given_policy), judges_results, std::forward<Args>(args)...)
        , judges_results_(judges_results) {}
    ~awaited_result() = default;

    /// The attempt has ended, and the coroutine is on its executor.
    void end_attempt() {
        if (this->failure() && !thrown_)
            return this->end_with(this->failure());
        thrown_ ? this->on_last_result_kept() : this->on_result_kept(completion::is_failure(*result_));
    }

    arguments const& result() const noexcept { return *result_; }

    template <typename Make>
    void put_result(Make make) noexcept {
        try {
            result_.emplace(make());
        } catch (...) {
            result_.reset();
            thrown_ = std::current_exception();
        }
    }

    template <bool JudgesResults>
    void amend_result_as(retry_action const& action) {
        if (result_)
            completion::template amend<JudgesResults>(*result_, action);
    }

private:
    bool has_failed() noexcept final { return completion::is_failure(*result_); }
    verdict verdict_on_result() final { return completion::verdict_on(*result_); }
    retry_action conclude_failed() final {
        return result_ ? completion::on_exception(this->machine(), *result_)
                       : this->machine().on_exception(code_of(thrown_), thrown_);
    }
    void put_failure(error_code const& code, std::exception_ptr const& thrown) final {
        put_result([&] { return last_.failed(code, thrown); });
    }
    void amend_result(retry_action const& action) override { amend_result_as<false>(action); }
    void drop_result() noexcept final {
        last_.keep(result_);
        result_.reset();
        this->keep_frame();
    }

    std::optional<arguments> result_; // of the last attempt, until its failure is decided on
    ASIO_RETRY_NO_UNIQUE_ADDRESS last_failure<completion> last_;
    std::exception_ptr thrown_;
    bool const judges_results_;
};

/// Retries `Callable` inside a coroutine. It is no coroutine itself: a frame would keep every temporary, and
/// resuming a large frame is the greatest cost of a wait.
template <typename Callable, typename Executor, typename WaitsOn>
class awaited_retry final
    : public awaited_result<typename operation_form<Callable>::signature, Executor, WaitsOn> {
    using base = awaited_result<typename operation_form<Callable>::signature, Executor, WaitsOn>;
    using form = operation_form<Callable>;
    using typename base::completion;
    using typename base::move;
    using value_type = typename awaitable_traits<typename form::result_type>::value_type;

public:
    using typename base::step;

    /// The referenced objects must outlive it.
    awaited_retry(Callable& callable, retry_policy&& given_policy, coroutine_entry<Executor>& entry,
                  coroutine_home const& home, WaitsOn&& waits_on, awaited_presence<Executor, WaitsOn>& presence)
        : base(std::move(given_policy), form::judges_results, entry, home, std::move(waits_on), presence)
        , callable_(callable)
        , health_(this->machine(), *this) {}
    ~awaited_retry() { this->end_frame(); }

    /// The first step.
    step begin() {
        if (!this->take_over())
            this->start();
        return this->take_next();
    }

    step take_step() {
        switch (this->take_move()) {
        case move::none:
            break;
        case move::to_strand:
            this->start();
            break;
        case move::back:
            this->end_attempt();
            break;
        }
        return this->take_next();
    }

    auto call() { return form::call(callable_, health_.monitored(this->machine().current_attempt())); }

    template <typename... Value>
    void on_result(Value&&... value) {
        this->put_result([&] {
            if constexpr (sizeof...(Value) == 0)
                return typename base::arguments();
            else
                return typename base::arguments(awaited<value_type>::arguments(std::forward<Value>(value)...));
        });
    }

private:
    void prepare(retry_machine& machine) final { form::prepare(callable_, machine); }
    judgement judge_values() final {
        if constexpr (form::judges_results)
            return completion::template rejects<form>(callable_, this->result());
        else
            return {};
    }
    void amend_result(retry_action const& action) final {
        this->template amend_result_as<form::judges_results>(action);
    }

    Callable& callable_;
    ASIO_RETRY_NO_UNIQUE_ADDRESS attempt_health_of<form, awaited_retry> health_;
};

} // namespace asio_retry::detail
