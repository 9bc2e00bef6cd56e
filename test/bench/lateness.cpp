// How late waits end that are spread evenly over a second. They begin a second before, so that the attempts
// before them keep none waiting.
#include "storm_run.hpp"
#include "turns.hpp"
#include "workload.hpp"

#include <array>
#include <string>

namespace asio_retry::bench {
namespace {

using namespace std::chrono_literals;

struct bucket {
    float from_us;
    char const* name; ///< in alphabetical order
};

constexpr std::array<bucket, 9> buckets{{{-1e9f, "(early)"},
                                         {0, "0.00-0.25"},
                                         {250, "0.25-0.50"},
                                         {500, "0.50-0.75"},
                                         {750, "0.75-1.00"},
                                         {1'000, "1.00-1.25"},
                                         {1'250, "1.25-2.50"},
                                         {2'500, "2.50-5.00"},
                                         {5'000, "5.00-"}}};

figures histogram(std::vector<float> const& late_us) {
    figures result = percentiles(late_us);
    std::array<std::size_t, buckets.size()> counts{};
    for (float const late : late_us) {
        std::size_t i = buckets.size() - 1;
        while (late < buckets[i].from_us)
            --i;
        ++counts[i];
    }
    for (std::size_t i = 0; i != buckets.size(); ++i)
        result[std::string(bucket_prefix) + buckets[i].name] =
            100 * static_cast<double>(counts[i]) / static_cast<double>(late_us.size());
    return result;
}

template <typename Contender>
contender with_histogram(storm_shape const& shape, std::string const& suffix = "") {
    turn_shape const even{shape.operations, 1s, 1s, shape.slack};
    return {Contender::name + suffix, [shape] { return histogram(record_lateness<Contender>(shape)); },
            [even] { return turn_run<Contender>(even).turns(); }};
}

} // namespace

workload lateness(scale) {
    storm_shape const usual{100'000, {1, 2s, 2s, spread::half}};
    storm_shape const exact{100'000, {1, 2s, 2s, spread::half}, 0s};
    return {"lateness",
            "100000 waits, evenly spread over a second; how late the next attempt begins, and in a run apart "
            "the longest turns, as in longest_turn",
            1,
            {with_histogram<hand_as_tuple>(usual), with_histogram<hand_callbacks>(usual),
             with_histogram<retry_callback_io>(usual), with_histogram<retry_callback_io>(exact, ", slack 0"),
             with_histogram<retry_awaitable_any>(usual)}};
}

} // namespace asio_retry::bench
