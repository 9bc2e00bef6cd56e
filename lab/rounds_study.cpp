#include "rounds_study.hpp"

#include "simulated_client.hpp"

#include <boost/system/errc.hpp>

#include <algorithm>
#include <chrono>
#include <deque>
#include <map>
#include <utility>

namespace asio_retry::lab {
namespace {

using namespace std::chrono_literals;

constexpr duration round_length = 1s;

/// A client that would come later has given up.
constexpr duration end_of_time = duration::max() / round_length * round_length;

std::uint64_t round_at(time_point when) {
    return static_cast<std::uint64_t>(when.time_since_epoch() / round_length);
}

time_point start_of(std::uint64_t round) {
    return time_point(round_length * static_cast<duration::rep>(round));
}

} // namespace

rounds_result study_rounds(retry_policy const& policy, unsigned clients, unsigned capacity,
                           std::uint64_t seed) {
    static verdict const turned_away =
        verdict::failure(make_error_code(boost::system::errc::resource_unavailable_try_again));
    std::deque<simulated_client> all;
    std::map<std::pair<time_point, std::size_t>, simulated_client*>
        coming; // clients of one time keep their order
    for (std::size_t i = 0; i != clients; ++i)
        coming.emplace(std::pair(time_point(), i), &all.emplace_back(policy, random(seed, i)));

    rounds_result result;
    while (!coming.empty()) {
        auto const [arrival, who] = *coming.begin();
        auto const [now, number] = arrival;
        coming.erase(coming.begin());
        round_result& round = result.rounds[round_at(now)];
        ++round.attempts;
        ++result.attempts;
        if (round.served < capacity) {
            ++round.served;
            who->machine.on_success(now);
            continue;
        }
        retry_action const action = who->machine.on_failure(turned_away, now, who->source);
        time_point next = saturating_add(now, action.delay);
        if (action.what != retry_action::kind::wait || next.time_since_epoch() >= end_of_time) {
            ++result.gave_up;
            continue;
        }
        next = std::max(next, start_of(round_at(now) + 1));
        who->machine.on_wait_over(next);
        coming.emplace(std::pair(next, number), who);
    }
    return result;
}

} // namespace asio_retry::lab
