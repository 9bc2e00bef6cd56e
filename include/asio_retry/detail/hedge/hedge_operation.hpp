#pragma once

#include <asio_retry/attempt.hpp>
#include <asio_retry/detail/attempt/attempt_handler.hpp>
#include <asio_retry/detail/attempt/completion.hpp>
#include <asio_retry/detail/attempt/operation_form.hpp>
#include <asio_retry/detail/handler/handler_memory.hpp>
#include <asio_retry/detail/hedge/hedge_driver.hpp>
#include <asio_retry/detail/operation/attempt_runner.hpp>
#include <asio_retry/detail/operation/driver_shell.hpp>
#include <asio_retry/detail/operation/initiate_retry.hpp>
#include <asio_retry/detail/policy/config.hpp>
#include <asio_retry/detail/policy/machine_observer.hpp>
#include <asio_retry/hedge_policy.hpp>
#include <asio_retry/pushback.hpp>

#include <boost/asio/cancellation_signal.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <memory>
#include <new>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace asio_retry::detail {

// --- the attempts

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
    void on_sent() noexcept override { machine_->on_sent(current_.number); }
    void on_pushback(pushback said) noexcept override { machine_->heed(current_.number, said); }
    std::uint64_t operation_number() const noexcept override { return machine_->operation_number(); }
    shared_value<nested_marks> marks() override { return machine_->marks_of_nested(current_.number); }

    hedge_machine* machine_ = nullptr;
    attempt current_;
};

/// An operation that takes no attempt reports nothing, and counts as having sent from its beginning.
struct no_hedge_monitor {
    static attempt monitored(hedge_machine& machine, unsigned number) noexcept {
        return machine.attempt_at(number);
    }
};

/// One attempt: its result, and the executor, memory and cancellation slot for its handler.
template <typename Shell, typename Form>
class typed_slot : public attempt_state {
    using completion = detail::completion<typename Form::signature>;

public:
    using arguments = typename completion::arguments;
    using operation_executor = typename Shell::operation_executor;
    using handler_allocator = typename Shell::handler_allocator;

    static constexpr bool ignores_second_completion = true;

    typed_slot(Shell& given_operation, unsigned given_number) noexcept
        : attempt_state(Form::judges_results, given_number)
        , operation_(given_operation) {}
    typed_slot(typed_slot const&) = delete;
    typed_slot& operator=(typed_slot const&) = delete;
    ~typed_slot() = default;

    // --- for its handler

    operation_executor get_operation_executor() const noexcept { return operation_.get_operation_executor(); }
    auto get_io_executor() const noexcept { return operation_.get_io_executor(); }
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
        complete(completion::is_failure(*kept));
        operation_.on_attempt_ended(*this);
    }

    asio::cancellation_signal signal; // stops the attempt while it runs
    kept_result<completion> kept;     // the attempt's result
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

// --- the operation

/// The memory behind a hedged operation, in the same block: the machine's records of attempts, and the
/// attempts.
template <typename Slot>
struct hedge_room {
    static constexpr std::size_t alignment = (std::max)(alignof(Slot), alignof(hedged_attempt));

    std::byte* memory;
    std::size_t count;

    static constexpr std::size_t bytes_of_records(std::size_t count) noexcept {
        return (count * sizeof(hedged_attempt) + alignment - 1) / alignment * alignment;
    }
    static constexpr std::size_t size(std::size_t count) noexcept {
        return bytes_of_records(count) + count * sizeof(Slot);
    }
    hedged_attempt* attempts() const noexcept { return reinterpret_cast<hedged_attempt*>(memory); }
    Slot* slots() const noexcept { return reinterpret_cast<Slot*>(memory + bytes_of_records(count)); }
};

/// A hedged operation with its callable: one block of memory, at one address until its last attempt has ended.
template <typename Callable, typename Shell>
class hedge_operation final : public Shell {
    using form = operation_form<Callable>;
    using handler_type = typename Shell::handler_type;
    using block = operation_block<hedge_operation, handler_type>;
    using attempt_type = hedge_attempt<hedge_operation, Shell, form>;
    using room = hedge_room<attempt_type>;
    friend block;

public:
    template <typename WaitsOn, typename Membership>
    static void launch(handler_type&& handler, Callable&& callable, hedge_policy const& policy,
                       WaitsOn const& waits_on, Membership&& membership) {
        auto* const operation =
            create_or_complete<completion<typename form::signature>, leaves_handler<handler_type, Callable>>(
                handler, waits_on, [&] {
                    return block::create(more_for(policy), std::move(handler), std::move(callable), policy,
                                         waits_on, std::move(membership));
                });
        if (operation)
            operation->start();
    }

    void start() {
        if constexpr (form::chooses)
            Shell::start([this] { choose_with(form::chooser_of(callable_)); });
        else
            Shell::start();
    }

    template <typename... Token>
    decltype(auto) call(attempt_type& which, Token&&... token) {
        return form::call(callable_, which.monitor.monitored(this->machine(), which.number()),
                          std::forward<Token>(token)...);
    }

private:
    template <typename... Args>
    hedge_operation(handler_type&& given_handler, Callable&& callable, hedge_policy const& given_policy,
                    Args&&... args)
        : Shell(std::move(given_handler), std::forward<Args>(args)..., given_policy,
                make_records(this, given_policy))
        , callable_(std::move(callable)) {
        room const in = own_room();
        for (std::size_t i = 0; i < in.count; ++i)
            ::new (static_cast<void*>(in.slots() + i)) attempt_type(*this, static_cast<unsigned>(i + 1));
    }
    ~hedge_operation() {
        std::destroy_n(own_room().slots(), own_room().count);
        if constexpr (form::chooses)
            this->machine().choose_with(nullptr); // the chooser ends with the callable
    }

    void choose_with(machine_observer* chooser) {
        this->machine().choose_with(chooser);
        if (chooser)
            chooser->draw_from(this->get_random());
    }

    static std::size_t count_of(hedge_policy const& policy) noexcept {
        return static_cast<std::size_t>(policy.settings().max_attempts());
    }
    static std::size_t more_for(hedge_policy const& policy) noexcept {
        return block::room_for(room::size(count_of(policy)));
    }
    static room room_for(void* operation, hedge_policy const& policy) noexcept {
        return {static_cast<std::byte*>(operation) + sizeof(hedge_operation), count_of(policy)};
    }
    room own_room() noexcept { return room_for(this, this->machine().policy()); }

    /// Called before the operation is constructed in that memory.
    static std::span<hedged_attempt> make_records(void* operation, hedge_policy const& policy) noexcept {
        room const in = room_for(operation, policy);
        std::uninitialized_default_construct_n(in.attempts(), in.count);
        return {in.attempts(), in.count};
    }

    static attempt_type& typed(attempt_state& one) noexcept { return static_cast<attempt_type&>(one); }

    attempt_state& attempt(unsigned number) noexcept override { return own_room().slots()[number - 1]; }
    void start_attempt(attempt_state& one) override {
        if constexpr (!form::takes_attempt)
            this->machine().on_sent(one.number()); // its coroutine may begin only after the next attempt
        typed(one).start(*this);
    }
    void signal_attempt(attempt_state& one, asio::cancellation_type_t type) override { typed(one).tell(type); }
    void on_attempt_over(attempt_state& one) noexcept override { typed(one).be_over(); }

    judgement judge_values([[maybe_unused]] attempt_state& one) override {
        if constexpr (form::judges_results)
            return completion<typename form::signature>::template rejects<form>(callable_, *typed(one).kept);
        else
            return {};
    }
    bool has_failed(attempt_state& one) noexcept override {
        return completion<typename form::signature>::is_failure(*typed(one).kept);
    }
    verdict verdict_on_result(attempt_state& one) override {
        return completion<typename form::signature>::verdict_on(*typed(one).kept);
    }
    void put_failure(attempt_state& one, error_code const& code, std::exception_ptr const& thrown) override {
        typed(one).kept.emplace(completion<typename form::signature>::failed(code, thrown));
    }
    void drop_result(attempt_state& one) noexcept override {
        last_.keep(typed(one).kept);
        typed(one).kept.reset();
    }

    typename Shell::arguments take_arguments() override {
        hedge_action const action = this->machine().delivery();
        if (action.attempt == 0)
            return last_.failed(action.error, action.thrown);
        typename Shell::arguments result = std::move(*own_room().slots()[action.attempt - 1].kept);
        if (action.error || action.thrown)
            detail::set_failure(std::get<0>(result), action.error, action.thrown);
        return result;
    }
    handler_type take_handler() override {
        return block::dissolve(this, this->handler(), more_for(this->machine().policy()));
    }

    ASIO_RETRY_NO_UNIQUE_ADDRESS last_failure<completion<typename form::signature>> last_;
    alignas(room::alignment) alignas(Callable) Callable callable_; // aligns the memory behind it too
};

template <typename CompletesWith>
struct policy_beside_faulty_token<hedge_policy, token_fault::executor, CompletesWith> : hedge_policy {
    ASIO_RETRY_REFUSES("async_hedge: this completion token has no executor to wait on, and async_hedge needs "
                       "one: async_hedge(executor, operation, policy, token)",
                       std::convertible_to<hedge_policy> Given = hedge_policy)
    policy_beside_faulty_token(Given&& policy) ASIO_RETRY_REFUSED;
};

template <>
struct operation_kind<hedge_policy> {
    static constexpr std::string_view operation_field = "async_hedge.operation";
    static constexpr std::string_view executor_field = "async_hedge.executor";

    template <typename Form>
    static consteval void assert_usable() {
        static_assert(!Form::is_reported, "async_hedge: with_report is for async_retry");
        static_assert(!Form::names_rejected, "async_hedge: or_error is for async_retry");
        static_assert(!Form::has_hooks,
                      "async_hedge: with_hooks is for async_retry; a hedge_policy has on_hedge");
    }

    template <typename Token, typename Signature>
    static consteval auto assert_token() {
        static_assert(!provides_executor<Token>,
                      "async_hedge: the place to wait comes first: async_hedge(scope, operation, policy)");
    }

    template <typename Executor>
    static consteval void assert_executor() {
        static_assert(has_context_to_wait_on<Executor>,
                      "async_hedge: this completion token has no executor to wait on, and async_hedge needs "
                      "one: async_hedge(executor, operation, policy, token)");
    }

    /// With `deliver_at_once` the operation may outlive its handler. So it must not use memory from the
    /// handler's allocator, which may end with the handler.
    template <bool HasStrand, typename Handler, typename Callable, typename WaitsOn, typename Membership>
    static void launch(Handler&& handler, Callable&& callable, hedge_policy const& policy,
                       WaitsOn const& waits_on, Membership&& membership) {
        if constexpr (!has_librarys_memory<Handler>)
            if (policy.settings().deliver_at_once)
                return make<HasStrand>(with_own_memory<Handler>(std::move(handler)), std::move(callable),
                                       policy, waits_on, std::move(membership));
        make<HasStrand>(std::move(handler), std::move(callable), policy, waits_on, std::move(membership));
    }

private:
    template <bool HasStrand, typename Handler, typename Callable, typename WaitsOn, typename Membership>
    static void make(Handler&& handler, Callable&& callable, hedge_policy const& policy,
                     WaitsOn const& waits_on, Membership&& membership) {
        using form = operation_form<Callable>;
        using shell =
            driver_shell<hedge_driver, typename form::signature, WaitsOn, Handler, Membership, HasStrand>;
        hedge_operation<Callable, shell>::launch(std::move(handler), std::move(callable), policy, waits_on,
                                                 std::move(membership));
    }
};

} // namespace asio_retry::detail
