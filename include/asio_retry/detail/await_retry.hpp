#pragma once

#include <asio_retry/detail/asio.hpp>
#include <asio_retry/detail/completion.hpp>
#include <asio_retry/detail/operation_form.hpp>
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
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/query.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

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

    auto async_wait(time_point expiry) {
        return asio::async_initiate<asio::deferred_t const, void()>(
            [this, expiry](auto handler) {
                asio::any_completion_handler<void()>(std::move(handler))
                    .swap(resume_);                                          // 1.81 cannot move-assign it
                auto slot = asio::get_associated_cancellation_slot(resume_); // it took the handler's own
                if (slot.is_connected())
                    slot.template emplace<slot_handler>(slot_handler{this});
                if (!scheduler_.schedule(*this, expiry))
                    on_shutdown();
            },
            asio::deferred);
    }

private:
    struct slot_handler {
        coroutine_wait* self;
        void operator()(asio::cancellation_type_t) const {
            if (self->scheduler_.cancel(*self))
                self->on_expiry();
        }
    };

    void on_expiry() override {
        asio::post(executor_, [resume = std::exchange(resume_, nullptr)]() mutable { std::move(resume)(); });
    }

    // The frame is destroyed with the handler that holds it, and this object with the frame.
    void on_shutdown() noexcept override { auto const destroyed = std::exchange(resume_, nullptr); }

    retry_scheduler& scheduler_;
    Executor executor_;
    asio::any_completion_handler<void()> resume_;
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

    retry_scheduler* scheduler = nullptr;
    std::optional<random> source;
    auto const get_scheduler = [&]() -> retry_scheduler& {
        if (!scheduler)
            scheduler = &asio_retry::scheduler(
                asio::query(wait_executor ? *wait_executor : executor, asio::execution::context));
        return *scheduler;
    };
    if (retry_scheduler::any_seeded())
        source.emplace(get_scheduler().next_random());

    std::optional<tracked_executor<WaitExecutor>> work; // where waits hang, if elsewhere
    if (wait_executor)
        work.emplace(asio::prefer(*wait_executor, asio::execution::outstanding_work.tracked));

    retry_machine machine(std::move(policy));
    machine.watch(cancellation);
    retry_action action =
        machine.start(machine.policy().settings().measures_time() ? get_scheduler().now() : time_point());
    std::optional<arguments> result;
    while (action.what == retry_action::kind::attempt) {
        // A cancellation that the machine ignores must not make the next co_await throw.
        if (cancellation.requested())
            co_await asio::this_coro::throw_if_cancelled(false);
        try {
            if constexpr (std::is_void_v<value_type>) {
                co_await form::call(callable, machine.current_attempt());
                result.emplace();
            } else {
                result.emplace(
                    awaited<value_type>::arguments(co_await form::call(callable, machine.current_attempt())));
            }
        } catch (...) {
            result.emplace(completion::from_exception(std::current_exception()));
        }

        auto attempt_state = co_await asio::this_coro::cancellation_state;
        cancellation.refresh(attempt_state);
        time_point now{};
        try {
            verdict const v = completion::template judge<form>(callable, *result);
            if (v.succeeded()) {
                action = machine.on_success();
            } else {
                now = get_scheduler().now();
                if (!source)
                    source.emplace(get_scheduler().next_random());
                action = machine.on_failure(v, now, *source);
            }
        } catch (...) {
            action = machine.on_callback_exception(error::predicate_threw, std::current_exception());
        }
        if (action.what == retry_action::kind::complete)
            break;

        result.reset(); // gone before the wait begins
        if (!machine.cancelled()) {
            if (cancellation.requested())
                co_await asio::this_coro::throw_if_cancelled(false);
            if (action.delay == duration::zero()) {
                co_await asio::post(executor, asio::deferred);
            } else {
                coroutine_wait wait(get_scheduler(), executor);
                for (time_point const expiry = saturating_add(now, action.delay);;) {
                    co_await wait.async_wait(expiry);
                    if (machine.cancelled() || get_scheduler().now() >= expiry)
                        break; // else a cancellation that the machine ignores cut the wait short
                    co_await asio::this_coro::throw_if_cancelled(false);
                }
            }
        }
        action = machine.on_wait_over(get_scheduler().now());
    }
    if (!result)
        result.emplace(completion::failed(error_code(), nullptr));
    completion::amend(*result, action);
    co_await asio::this_coro::throw_if_cancelled(throws_if_cancelled);
    co_return Style::yield(std::move(*result));
}

} // namespace asio_retry::detail
