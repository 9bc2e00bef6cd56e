// Three failures, and no delays. A loop written by hand lets its timer expire at once, with all that costs.
#include "chains.hpp"

namespace asio_retry::bench {
namespace {

void add_all(workload& result, std::size_t chains, std::size_t slow_calls, std::size_t fast_calls) {
    plan const how{3, {}, {}, spread::none};
    add_chains(result, loops_over_tokens(), {chains, slow_calls / chains, how});
    add_chains(result, loops_over_awaitables(), {chains, slow_calls / chains, how});
    add_chains(result, retries(), {chains, fast_calls / chains, how});
    add_chains(result, std::tuple<retry_token_deferred>(), {chains, fast_calls / chains, how});
}

} // namespace

workload zero_delay_1(scale size) {
    workload result{"zero_delay_1",
                    "one call at a time, 3 failures without delays; CPU time per call",
                    size.quick ? 3u : 5u,
                    {}};
    add_all(result, 1, size.quick ? 500 : 5'000, size.quick ? 20'000 : 200'000);
    return result;
}

workload zero_delay_64(scale size) {
    workload result{"zero_delay_64",
                    "64 chains of calls, 3 failures without delays; CPU time per call",
                    size.quick ? 3u : 5u,
                    {}};
    add_all(result, 64, size.quick ? 6'400 : 64'000, size.quick ? 20'000 : 200'000);
    return result;
}

} // namespace asio_retry::bench
