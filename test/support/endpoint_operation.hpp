#pragma once

#include <asio_retry/detail/traffic/endpoint_choice.hpp>
#include <asio_retry/traffic/endpoint_set.hpp>

#include "support/attempt_ends.hpp"

#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <vector>

namespace asio_retry::test {

/// The endpoints 0 to count - 1.
inline std::vector<int> first_endpoints(int count) {
    std::vector<int> all(static_cast<std::size_t>(count));
    std::iota(all.begin(), all.end(), 0);
    return all;
}

/// What a set says of each endpoint.
inline std::map<int, endpoint_status> statuses(endpoint_set<int> const& set, time_point now) {
    std::map<int, endpoint_status> all;
    set.for_each([&](int endpoint, endpoint_status const& status) { all.emplace(endpoint, status); }, now);
    return all;
}

/// An operation that asks a set, without the machine of retries.
class endpoint_operation {
public:
    endpoint_operation(endpoint_set<int> const& set, random& dice)
        : choice(detail::endpoint_access::table(set)) {
        choice.draw_from(dice);
    }

    /// The endpoint of the next attempt, unless it is refused.
    std::optional<int> begin(time_point now) {
        answer = choice.choose(number + 1, now);
        if (answer.until > now)
            return std::nullopt;
        return at(++number);
    }

    int at(std::uint64_t attempt) const { return detail::endpoint_access::value<int>(*choice.at(attempt)); }

    /// Ends the last attempt, or an earlier one.
    void succeed(time_point now, duration took = {}, std::uint64_t attempt = 0) {
        end(success(now, took), attempt);
    }
    void fail(time_point now, duration took = {}, std::uint64_t attempt = 0) {
        end(failure(failure_kind::transient, now, took), attempt);
    }
    void abandon(time_point began, std::uint64_t attempt = 0) { end(abandoned_since(began), attempt); }

    void end(attempt_end how, std::uint64_t attempt) {
        how.number = attempt ? attempt : number;
        choice.on_end(how);
    }

    detail::endpoint_choice choice;
    admission answer{time_point()};
    std::uint64_t number = 0;
};

} // namespace asio_retry::test
