#include "upstream_pool.hpp"

#include <asio_retry/retry_gate.hpp>

namespace gateway {

using asio_retry::time_point;

upstream_pool::upstream_pool(std::vector<boost::asio::ip::tcp::endpoint> const& endpoints)
    : upstreams_(endpoints.begin(), endpoints.end()) {}

/// Open after three failures in a row: requests that have to be tried again are what the budget pays for.
asio_retry::circuit_breaker_options upstream_pool::upstream::options() {
    asio_retry::circuit_breaker_options result;
    result.consecutive = 3;
    result.open_for = std::chrono::milliseconds(500); // which is how late its return may be noticed
    result.growth = 1;
    result.probes = 1; // with more, clients who come together are refused by servers that are all back
    return result;
}

upstream_pool::place::~place() {
    asio_retry::attempt_end end;
    time_point const now = std::chrono::steady_clock::now();
    if (kind_) {
        end.outcome = *kind_ == asio_retry::failure_kind::none ? asio_retry::attempt_end::how::succeeded
                                                               : asio_retry::attempt_end::how::failed;
        end.kind = *kind_;
        end.now = now;
        end.took = now - began_;
    } else {
        end.outcome = asio_retry::attempt_end::how::abandoned;
        end.now = began_;
    }
    pool_->upstreams_[index_].breaker.on_end(end);
}

bool upstream_pool::admits(std::size_t index, time_point now) {
    return upstreams_[index].breaker.admit(1, now).until <= now;
}

std::optional<std::size_t> upstream_pool::choose(std::vector<bool> const& has_failed, time_point now) {
    std::size_t const first = turn_.fetch_add(1, std::memory_order_relaxed);
    for (bool const failed : {false, true})
        for (std::size_t i = 0; i != size(); ++i)
            if (std::size_t const index = (first + i) % size();
                has_failed[index] == failed && admits(index, now))
                return index;
    return std::nullopt;
}

} // namespace gateway
