// Operations that succeed at once: what a retry costs where there is nothing to retry.
#include "chains.hpp"

namespace asio_retry::bench {

workload first_try(scale size) {
    using namespace std::chrono_literals;
    workload result{
        "first_try", "64 chains of calls that succeed at the first attempt; CPU time per call", 7, {}};
    chain_shape const shape{64, size.quick ? 1'000u : 3'125u, {0, 10ms, 1s, spread::full}};
    add_chains(result, std::tuple<bare_await, bare_deferred, bare_callback, bare_awaitable>(), shape);
    add_chains(result, loops_over_tokens(), shape);
    add_chains(result, loops_over_awaitables(), shape);
    add_chains(result, retries(), shape);
    add_chains(result, std::tuple<retry_token_deferred>(), shape);
    add_chains(result,
               std::tuple<hand_new_timer, hand_limited, hand_stopped, retry_limited, hand_limited_on_strand,
                          retry_limited_on_strand, retry_scoped, retry_scoped_limited>(),
               shape);
    add_chains(result, limits_of_asio(), shape);
    add_chains(result, std::tuple<retry_token_limited>(), shape);
    add_chains(result, std::tuple<hand_nested, retry_nested>(), shape);
    return result;
}

} // namespace asio_retry::bench
