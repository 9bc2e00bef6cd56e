// One operation at a time: nothing to share a wake-up with.
#include "chains.hpp"

namespace asio_retry::bench {

workload one_wait(scale size) {
    using namespace std::chrono_literals;
    workload result{"one_wait", "one call at a time, one failure, a delay of 1 ms; CPU time per call", 5, {}};
    chain_shape const shape{1, size.quick ? 100u : 300u, {1, 1ms, 1ms, spread::none}};
    add_chains(result, loops_over_tokens(), shape);
    add_chains(result, loops_over_awaitables(), shape);
    add_chains(result, retries(), shape);
    return result;
}

} // namespace asio_retry::bench
