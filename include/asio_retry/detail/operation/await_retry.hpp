#pragma once

#include <asio_retry/detail/handler/asio.hpp>
#include <asio_retry/detail/handler/coroutine_entry.hpp>
#include <asio_retry/detail/handler/operation_executors.hpp>
#include <asio_retry/detail/operation/attempt_runner.hpp>
#include <asio_retry/detail/operation/awaited_presence.hpp>
#include <asio_retry/detail/operation/awaited_retry.hpp>
#include <asio_retry/detail/operation/awaiting_token.hpp>
#include <asio_retry/detail/operation/retry_elsewhere.hpp>
#include <asio_retry/detail/policy/config.hpp>

#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>

#include <exception>
#include <type_traits>
#include <utility>

namespace asio_retry::detail {

/// The operation to retry, together with its presence in its scope.
template <typename Token, typename Callable, typename Source>
struct counted_callable {
    ASIO_RETRY_NO_UNIQUE_ADDRESS
    awaited_presence<typename awaiting_token<Token>::executor_type, typename Source::waits_on>
        presence;
    Callable callable;

    template <typename Operation>
    counted_callable(std::in_place_t, Operation&& given_operation)
        : callable(std::forward<Operation>(given_operation)) {}
};

/// Retries in a coroutine of its own, for an operation that leaves attempts behind. A function of its own,
/// because a frame keeps every temporary. For the same reason it takes what `source` has: the context where the
/// operation waits may be destroyed before the frame.
template <typename Token, typename Callable, typename Source>
auto retry_elsewhere(Source& source, Callable&& callable, retry_policy&& policy) {
    using form = operation_form<Callable>;
    auto taken = std::move(source);
    if constexpr (can_lose_type<form, typename Source::waits_on>) {
        return retry_untyped<typename awaiting_token<Token>::style, form>(
            untyped_operation(value_keeping(std::move(callable))), std::move(policy), taken.where_to_wait());
    } else {
        Token token;
        return asio::async_initiate<Token, typename form::signature>(
            taken.template initiation<typename form::signature>(), token, std::move(callable),
            std::move(policy));
    }
}

/// Whether the coroutine may move to a strand, so that an emission never reaches an attempt while it runs.
/// Coroutine and attempts share the strand until the retry ends. It may not if the awaitable's executor is
/// typed, because a strand does not fit in it. It may not if the caller can cancel the coroutine, because the
/// caller does not know of the strand.
template <typename Executor>
bool may_move_to_strand(coroutine_entry<Executor> const& entry) {
    return attempts_want_strand<asio::awaitable<void, Executor>> && !entry.state().slot().is_connected();
}
template <typename Executor>
void move_to_strand(coroutine_entry<Executor>& entry) {
    if constexpr (attempts_want_strand<asio::awaitable<void, Executor>>)
        entry.move_to(strand_of<Executor>::make(entry.executor()));
}

/// Retries an awaitable operation inside the coroutine that awaits it. It spawns nothing, and allocates nothing
/// but the frame of the attempt.
template <typename Token, typename Callable, typename Source>
auto await_retry(counted_callable<Token, Callable, Source> kept, retry_policy policy, Source source)
    -> asio::awaitable<typename awaiting_token<Token>::style::template yields<
                           typename completion<typename operation_form<Callable>::signature>::arguments>,
                       typename awaiting_token<Token>::executor_type> {
    using executor_type = typename awaiting_token<Token>::executor_type;
    using form = operation_form<Callable>;
    using value_type = typename awaitable_traits<typename form::result_type>::value_type;

    coroutine_entry<executor_type> entry;
    co_await entry.find();
    coroutine_home home;
    bool const wants_strand = (Source::is_scoped || policy.settings().limits_attempts()) &&
                              !runs_one_at_a_time(entry.executor(), home);
    if (policy.settings().deliver_at_once || (wants_strand && !may_move_to_strand(entry)))
        co_return co_await retry_elsewhere<Token>(source, std::move(kept.callable), std::move(policy));

    awaited_retry<Callable, executor_type, typename Source::waits_on> retry(
        kept.callable, std::move(policy), entry, home, source.where_to_wait(), kept.presence);
    using step = typename decltype(retry)::step;
    if (wants_strand)
        move_to_strand(entry);
    for (step next = retry.begin(); next != step::complete; next = retry.take_step()) {
        if (next == step::rest) {
            co_await retry.async_rest();
            continue;
        }
        try {
            quiet_awaitable<value_type, executor_type> attempt(retry.call());
            entry.throw_if_cancelled(); // by the callable itself, most likely
            co_await attempt.run();
            if (auto const thrown = attempt.take_exception()) {
                retry.on_exception(thrown);
            } else if constexpr (std::is_void_v<value_type>) {
                attempt.take_value();
                retry.on_result();
            } else {
                retry.on_result(attempt.take_value());
            }
        } catch (...) {
            retry.on_exception(std::current_exception());
        }
        retry.on_attempt_ended();
    }
    co_return awaiting_token<Token>::style::yield(retry.take_result());
}

} // namespace asio_retry::detail
