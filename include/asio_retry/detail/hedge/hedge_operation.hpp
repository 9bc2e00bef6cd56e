#pragma once

#include <asio_retry/detail/attempt/completion.hpp>
#include <asio_retry/detail/attempt/operation_form.hpp>
#include <asio_retry/detail/handler/operation_block.hpp>
#include <asio_retry/detail/handler/own_memory.hpp>
#include <asio_retry/detail/hedge/hedge_shell.hpp>
#include <asio_retry/detail/hedge/hedge_slots.hpp>
#include <asio_retry/detail/operation/initiate_retry.hpp>
#include <asio_retry/detail/operation/turning_operation.hpp>
#include <asio_retry/hedge_policy.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

namespace asio_retry::detail {

/// The memory behind a hedged operation, in the same block: the machine's records of attempts, and the
/// attempts.
template <typename Slot>
struct hedge_room {
    static constexpr std::size_t alignment = (std::max)(alignof(Slot), alignof(hedged_attempt));

    std::byte* memory;
    std::size_t count;

    static constexpr std::size_t records(std::size_t count) noexcept {
        return (count * sizeof(hedged_attempt) + alignment - 1) / alignment * alignment;
    }
    static constexpr std::size_t size(std::size_t count) noexcept {
        return records(count) + count * sizeof(Slot);
    }
    hedged_attempt* attempts() const noexcept { return reinterpret_cast<hedged_attempt*>(memory); }
    Slot* slots() const noexcept { return reinterpret_cast<Slot*>(memory + records(count)); }
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

    template <typename... Token>
    decltype(auto) call(attempt_type& which, Token&&... token) {
        return form::call(callable_, which.monitor.monitored(this->machine(), which.number),
                          std::forward<Token>(token)...);
    }

private:
    template <typename... Args>
    hedge_operation(handler_type&& given_handler, Callable&& callable, hedge_policy const& given_policy,
                    Args&&... args)
        : Shell(std::move(given_handler), given_policy, make_records(this, given_policy),
                std::forward<Args>(args)...)
        , callable_(std::move(callable)) {
        room const in = own_room();
        for (std::size_t i = 0; i < in.count; ++i)
            (::new (static_cast<void*>(in.slots() + i)) attempt_type(*this))->number =
                static_cast<unsigned char>(i + 1);
    }
    ~hedge_operation() { std::destroy_n(own_room().slots(), own_room().count); }

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

    static attempt_type& typed(hedge_slot& one) noexcept { return static_cast<attempt_type&>(one); }

    hedge_slot& slot(unsigned number) noexcept override { return own_room().slots()[number - 1]; }
    void start_attempt(hedge_slot& one) override { typed(one).start(*this); }
    void signal_attempt(hedge_slot& one, asio::cancellation_type_t type) override { typed(one).tell(type); }
    void on_attempt_over(hedge_slot& one) noexcept override { typed(one).be_over(); }

    judgement judge_values([[maybe_unused]] hedge_slot& one) override {
        if constexpr (form::judges_results)
            return completion<typename form::signature>::template rejects<form>(callable_, *typed(one).kept);
        else
            return {};
    }
    bool has_failed(hedge_slot& one) noexcept override {
        return completion<typename form::signature>::is_failure(*typed(one).kept);
    }
    verdict judge(hedge_slot& one) override {
        return completion<typename form::signature>::verdict_on(*typed(one).kept);
    }
    void put_failure(hedge_slot& one, error_code const& code, std::exception_ptr const& thrown) override {
        typed(one).kept.emplace(completion<typename form::signature>::failed(code, thrown));
        one.is_success = false;
    }
    void drop_result(hedge_slot& one) noexcept override { typed(one).kept.reset(); }

    typename Shell::arguments& result_of(std::uint64_t attempt) noexcept override {
        return *own_room().slots()[attempt - 1].kept;
    }
    handler_type take_handler() override {
        return block::dissolve(this, this->handler(), more_for(this->machine().policy()));
    }

    alignas(room::alignment) alignas(Callable) Callable callable_; // so is the memory behind it
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
        static_assert(provides_executor<Token> || is_token_for<Token, Signature>,
                      "async_hedge: the handler must take the operation's completion: (error_code, T...) "
                      "if the operation takes a completion token or returns an error_code or a result, "
                      "or else (std::exception_ptr[, T])");
    }

    template <typename Executor>
    static consteval void assert_executor() {
        static_assert(has_context_to_wait_on<Executor>,
                      "async_hedge: this completion token has no executor to wait on; pass one: "
                      "async_hedge(executor, operation, policy, token)");
    }

    /// The operation may outlive its completion, and then must not use memory from the handler's allocator,
    /// which may end with the handler.
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
        using shell = hedge_shell<typename form::signature, WaitsOn, Handler, Membership, HasStrand>;
        hedge_operation<Callable, shell>::launch(std::move(handler), std::move(callable), policy, waits_on,
                                                 std::move(membership));
    }
};

} // namespace asio_retry::detail
