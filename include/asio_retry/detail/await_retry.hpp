#pragma once

#include <asio_retry/detail/asio.hpp>
#include <asio_retry/detail/attempt_health.hpp>
#include <asio_retry/detail/completion.hpp>
#include <asio_retry/detail/decide.hpp>
#include <asio_retry/detail/operation_form.hpp>
#include <asio_retry/detail/queued_turn.hpp>
#include <asio_retry/detail/wait_node.hpp>
#include <asio_retry/retry_machine.hpp>
#include <asio_retry/retry_scheduler.hpp>

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/execution/context.hpp>
#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/query.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>

#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <tuple>
#include <utility>

namespace asio_retry::detail {

/// A wait of a coroutine, inside its frame.
template <typename Executor>
class coroutine_wait final : wait_node {
public:
    coroutine_wait(retry_scheduler& scheduler, Executor const& executor)
        : scheduler_(scheduler)
        , executor_(executor) {}

    /// Lets other handlers run first.
    auto async_post() {
        return suspend([this] { post(); });
    }

    /// Waits, or ends early because the coroutine is cancelled.
    auto async_wait(time_point expiry) {
        return suspend([this, expiry] {
            auto slot = asio::get_associated_cancellation_slot(resume_); // it took the handler's own
            if (slot.is_connected())
                slot.template emplace<slot_handler>(slot_handler{this});
            if (!scheduler_.schedule(*this, expiry))
                on_shutdown();
        });
    }

    /// Why it was not possible to wait: for want of memory, or because the executor threw.
    std::exception_ptr const& failure() const noexcept { return failure_; }

    struct turn {};
    template <typename>
    using turn_allocator = std::allocator<void>;
    turn_allocator<turn> get_turn_allocator(turn) const noexcept { return {}; }
    void on_turn(turn) { std::exchange(resume_, nullptr)(); }
    void on_turn_dropped(turn) noexcept { on_shutdown(); }

private:
    struct slot_handler {
        coroutine_wait* self;
        void operator()(asio::cancellation_type_t) const {
            if (!self->scheduler_.cancel(*self))
                return;
            try {
                self->post();
            } catch (...) {
                self->on_turn(turn());
            }
        }
    };

    /// The coroutine goes on, with a failure, if it cannot be suspended: an exception would lose it.
    template <typename Begin>
    auto suspend(Begin begin) {
        return asio::async_initiate<asio::deferred_t const, void()>(
            [this, begin](auto handler) {
                try {
                    asio::any_completion_handler<void()>(std::move(handler))
                        .swap(resume_); // 1.81 cannot assign it
                } catch (...) {
                    failure_ = std::current_exception();
                    return std::move(handler)();
                }
                try {
                    begin();
                } catch (...) {
                    failure_ = std::current_exception();
                    on_turn(turn());
                }
            },
            asio::deferred);
    }

    void post() { post_turn<turn>(executor_, executor_, *this); }

    bool on_expiry() override {
        try {
            post();
        } catch (std::bad_alloc const&) {
            return false;
        } catch (...) {
            failure_ = std::current_exception();
            on_turn(turn());
        }
        return true;
    }

    // The frame is destroyed with the handler that holds it, and this object with the frame.
    void on_shutdown() noexcept override { auto const destroyed = std::exchange(resume_, nullptr); }

    retry_scheduler& scheduler_;
    Executor executor_;
    asio::any_completion_handler<void()> resume_;
    std::exception_ptr failure_;
};

/// The cancellation of a coroutine, which only says so when asked.
class coroutine_cancellation final : public cancellation_probe {
public:
    explicit coroutine_cancellation(asio::cancellation_state const& state)
        : state_(state) {}

    /// An attempt may have put another state in place of the coroutine's.
    void refresh(asio::cancellation_state const& state) { state_ = state; }

    bool stops(bool total_counts) const noexcept override {
        constexpr auto stopping = asio::cancellation_type::terminal | asio::cancellation_type::partial;
        auto const type = state_.cancelled();
        return (type & stopping) != asio::cancellation_type::none ||
               (total_counts && type != asio::cancellation_type::none);
    }

    bool requested() const noexcept { return state_.cancelled() != asio::cancellation_type::none; }

private:
    asio::cancellation_state state_;
};

/// What awaiting a completion yields: as use_awaitable does it, or as a tuple.
template <typename Arguments>
struct thrown_failure;

template <typename Failure, typename... Values>
struct thrown_failure<std::tuple<Failure, Values...>> {
    static auto yield(std::tuple<Failure, Values...>&& result) {
        if constexpr (std::is_same_v<Failure, error_code>) {
            if (std::get<0>(result))
                throw boost::system::system_error(std::get<0>(result));
        } else {
            if (std::get<0>(result))
                std::rethrow_exception(std::get<0>(result));
        }
        if constexpr (sizeof...(Values) == 1)
            return std::get<1>(std::move(result));
        else if constexpr (sizeof...(Values) > 1)
            return std::apply(
                [](auto&&, auto&&... values) { return std::tuple<Values...>(std::move(values)...); },
                std::move(result));
    }
};

struct as_values {
    template <typename Arguments>
    using yields = decltype(thrown_failure<Arguments>::yield(std::declval<Arguments>()));
    template <typename Arguments>
    static yields<Arguments> yield(Arguments&& result) {
        return thrown_failure<Arguments>::yield(std::move(result));
    }
};

struct as_arguments {
    template <typename Arguments>
    using yields = Arguments;
    template <typename Arguments>
    static Arguments yield(Arguments&& result) {
        return std::move(result);
    }
};

/// Tokens that make an awaitable of an operation.
template <typename Token>
struct awaiting_token {
    using executor_type = void;
};
template <typename Executor>
struct awaiting_token<asio::use_awaitable_t<Executor>> {
    using executor_type = Executor;
    using style = as_values;
};
template <typename Executor>
struct awaiting_token<asio::as_tuple_t<asio::use_awaitable_t<Executor>>> {
    using executor_type = Executor;
    using style = as_arguments;
};

/// The retry of an awaitable operation inside the coroutine that awaits it: each attempt is awaited directly,
/// so there is nothing to allocate and nothing to spawn, and nothing but the caller's own cancellation can
/// interrupt an attempt.
template <typename Style, typename Callable, typename WaitExecutor>
auto await_retry(Callable callable, retry_policy policy, std::optional<WaitExecutor> wait_executor)
    -> asio::awaitable<
        typename Style::template yields<
            typename completion<typename operation_form<Callable>::signature>::arguments>,
        typename awaitable_traits<typename operation_form<Callable>::result_type>::executor_type> {
    using form = operation_form<Callable>;
    using completion = detail::completion<typename form::signature>;
    using arguments = typename completion::arguments;
    using value_type = typename awaitable_traits<typename form::result_type>::value_type;

    auto executor = co_await asio::this_coro::executor;
    auto state = co_await asio::this_coro::cancellation_state;
    bool const throws_if_cancelled = co_await asio::this_coro::throw_if_cancelled();
    coroutine_cancellation cancellation(state);

    lazy_scheduler scheduler(wait_executor ? *wait_executor : executor);
    std::optional<tracked_executor<WaitExecutor>> work; // where waits hang, if elsewhere
    if (wait_executor)
        work.emplace(asio::prefer(*wait_executor, asio::execution::outstanding_work.tracked));

    retry_machine machine(std::move(policy));
    machine.watch(cancellation);
    attempt_health_of<form, decltype(scheduler)> health(machine, scheduler);
    retry_action action;
    auto const fail = [&] {
        action = machine.on_exception(code_of(std::current_exception()), std::current_exception());
    };
    try {
        form::prepare(callable, machine);
        scheduler.take_seeded_stream();
        action = machine.start(scheduler.time_for(machine));
    } catch (...) {
        fail();
    }
    std::optional<arguments> result;
    while (action.what == retry_action::kind::attempt) {
        // A cancellation that the machine ignores must not make the next co_await throw.
        if (cancellation.requested())
            co_await asio::this_coro::throw_if_cancelled(false);
        try {
            if constexpr (std::is_void_v<value_type>) {
                co_await form::call(callable, health.monitored(machine.current_attempt()));
                result.emplace();
            } else {
                result.emplace(awaited<value_type>::arguments(
                    co_await form::call(callable, health.monitored(machine.current_attempt()))));
            }
        } catch (...) {
            result.emplace(completion::from_exception(std::current_exception()));
        }

        auto attempt_state = co_await asio::this_coro::cancellation_state;
        cancellation.refresh(attempt_state);
        time_point now{};
        try {
            action = decide<completion, form>(machine, callable, *result, scheduler, now);
        } catch (...) {
            fail();
        }
        if (action.what == retry_action::kind::complete)
            break;

        result.reset(); // gone before the wait begins
        if (!machine.cancelled()) {
            if (cancellation.requested())
                co_await asio::this_coro::throw_if_cancelled(false);
            coroutine_wait wait(scheduler.get(), executor);
            if (action.delay == duration::zero()) {
                co_await wait.async_post();
            } else {
                for (time_point const expiry = saturating_add(now, action.delay);;) {
                    co_await wait.async_wait(expiry);
                    if (machine.cancelled() || wait.failure() || scheduler.get().now() >= expiry)
                        break; // else a cancellation that the machine ignores cut the wait short
                    co_await asio::this_coro::throw_if_cancelled(false);
                }
            }
            if (wait.failure()) {
                action = machine.on_exception(code_of(wait.failure()), wait.failure());
                break;
            }
        }
        action = machine.on_wait_over(scheduler.get().now());
    }
    if (!result)
        result.emplace(completion::failed(error_code(), nullptr));
    completion::amend(*result, action);
    co_await asio::this_coro::throw_if_cancelled(throws_if_cancelled);
    co_return Style::yield(std::move(*result));
}

} // namespace asio_retry::detail
