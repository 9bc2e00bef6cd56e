#pragma once

#include "support/scripted_operation.hpp"

#include <asio_retry/async_retry.hpp>
#include <asio_retry/detail/handler/coroutine_entry.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <exception>
#include <utility>

namespace asio_retry::test {

/// Whether a coroutine awaits its attempts itself. Otherwise they are spawned: Asio lacks a name that this
/// needs, or ASIO_RETRY_SPAWN_ATTEMPTS is defined.
inline constexpr bool awaits_itself = detail::has_coroutine_entry<asio::any_io_executor>;

/// How often the coroutines of a test have ended, and how the last one did. A fixture derives from it.
struct coroutine_ends {
    int completions = 0;
    error_code result;

    /// A handler for co_spawn.
    auto note_end() {
        return [this](std::exception_ptr e) {
            ++completions;
            result = e ? code_of(e) : error_code();
        };
    }
};

/// Retries the attempts in a coroutine, which ends as a handler is called.
template <typename Executor, typename... Where>
void await_attempts(Executor const& on, pending_attempts& attempts, retry_policy policy,
                    completion_record& record, Where&... where) {
    auto const caller = [](pending_attempts& in, retry_policy how, Where&... place) -> asio::awaitable<int> {
        auto const attempt = [&in] { return in.async_attempt(asio::use_awaitable); };
        co_return co_await async_retry(place..., attempt, std::move(how));
    };
    asio::co_spawn(
        on, caller(attempts, std::move(policy), where...),
        [&record](std::exception_ptr e, int value) { record.handler()(e ? code_of(e) : error_code(), value); });
}

} // namespace asio_retry::test
