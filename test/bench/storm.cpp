#include "storm_run.hpp"
#include "workload.hpp"

#include <string>
#include <type_traits>

namespace asio_retry::bench {
namespace {

using namespace std::chrono_literals;

template <typename Contender>
contender in_storm(storm_shape const& shape, std::string const& suffix = "") {
    return {Contender::name + suffix, [shape] { return measure_storm<Contender>(shape); },
            [shape] { return percentiles(record_lateness<Contender>(shape)); }};
}

workload storm(std::string const& name, std::size_t operations, unsigned repetitions, bool with_exceptions) {
    workload result{
        name,
        std::to_string(operations) +
            " operations begin together and fail 5 times, full jitter, base 10 ms, cap 1 s; CPU time per wait",
        repetitions,
        {}};
    storm_shape const shape{operations, {5, 10ms, 1s, spread::full}};
    for_each_of(loops_over_tokens(), [&]<typename Contender>() {
        if (with_exceptions || !std::is_same_v<Contender, hand_exceptions>)
            result.contenders.push_back(in_storm<Contender>(shape));
    });
    for_each_of(retries(),
                [&]<typename Contender>() { result.contenders.push_back(in_storm<Contender>(shape)); });
    return result;
}

} // namespace

workload storm_1k(scale) {
    workload result = storm("storm_1k", 1'000, 3, true);
    storm_shape const exact{1'000, {5, 10ms, 1s, spread::full}, 0s};
    result.contenders.push_back(in_storm<retry_callback_io>(exact, ", slack 0"));
    result.contenders.push_back(in_storm<retry_awaitable_any>(exact, ", slack 0"));
    return result;
}

workload storm_10k(scale) {
    return storm("storm_10k", 10'000, 3, true);
}

workload storm_100k(scale) {
    return storm("storm_100k", 100'000, 3, true);
}

workload storm_1m(scale size) {
    return storm("storm_1m", 1'000'000, 2, size.everything);
}

} // namespace asio_retry::bench
