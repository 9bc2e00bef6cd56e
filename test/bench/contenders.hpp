#pragma once

// Everyone who is compared. A contender has a name and
//  - `start(io, how, policy, observer, handler)`, which begins one operation, and
//  - if it is for coroutines, `call(...)`: what a coroutine of `executor_type` awaits.
// What `policy` and `how` refer to lives until the operation has ended.

#include "contenders_by_hand.hpp"
#include "contenders_of_library.hpp"

#include <tuple>

namespace asio_retry::bench {

using loops_over_tokens = std::tuple<hand_as_tuple, hand_exceptions, hand_callbacks>;
using loops_over_awaitables = std::tuple<hand_awaitable_values, hand_awaitable_exceptions>;
using retries = std::tuple<retry_callback_io, retry_callback_any, retry_token_in_coroutine, retry_awaitable_any,
                           retry_awaitable_io, retry_throwing_awaitable_any>;

template <typename... Contenders, typename Visit>
void for_each_of(std::tuple<Contenders...>, Visit visit) {
    (visit.template operator()<Contenders>(), ...);
}

} // namespace asio_retry::bench
