// How long a context stands still for its other handlers while very many waits are pending.
#include "turns.hpp"
#include "workload.hpp"

#include <cstdio>
#include <functional>
#include <string>

namespace asio_retry::bench {
namespace {

using namespace std::chrono_literals;

std::string text(duration d) {
    char result[32];
    std::snprintf(result, sizeof result, "%g s", std::chrono::duration<double>(d).count());
    return result;
}

std::string name_of(turn_shape const& shape) {
    std::string result = std::to_string(shape.waits) + " over " + text(shape.over);
    if (shape.idle != duration::zero())
        result += ", after " + text(shape.idle) + " idle";
    return result;
}

template <typename Contender>
contender in_turns(turn_shape const& shape, std::string const& suffix = "") {
    return {std::string(Contender::name) + suffix + ", " + name_of(shape),
            [shape] { return turn_run<Contender>(shape).lateness_and_turns(); }};
}

/// What the machine alone does to a thread: interrupts, and other users of the processor.
figures turns_without_waits(duration over) {
    asio::io_context io(1);
    longest_turns turns;
    auto const end = std::chrono::steady_clock::now() + over;
    std::function<void()> const beat = [&] {
        turns.end();
        if (std::chrono::steady_clock::now() < end)
            asio::post(io, [&] { beat(); });
        turns.begin();
    };
    asio::post(io, [&] { beat(); });
    turns.begin();
    io.run();
    return {{"turn_max_us", turns.first_us()}, {"turn_10th_us", turns.tenth_us()}};
}

void add(workload& to, turn_shape const& shape) {
    to.contenders.push_back(in_turns<hand_callbacks>(shape));
    to.contenders.push_back(in_turns<retry_callback_io>(shape));
}

void add_with_slack_0(workload& to, turn_shape shape) {
    add(to, shape);
    shape.slack = 0s;
    to.contenders.push_back(in_turns<retry_callback_io>(shape, ", slack 0"));
}

} // namespace

workload longest_turn(scale size) {
    workload result{
        "longest_turn",
        "the longest CPU time of a thread between two runs of a handler that posts itself; waits begin, "
        "and the first of them ends when the clock reads a multiple of 2^34 ns",
        1,
        {}};
    auto const nothing = [](duration over) {
        return contender{"nothing waits, over " + text(over), [over] { return turns_without_waits(over); }};
    };
    if (size.quick) {
        result.contenders.push_back(nothing(200ms));
        duration const soon(1 << 28);
        add_with_slack_0(result, {1'000, 100ms, 200ms, {}, {}, soon});
        add(result, {1'000, 100ms, 200ms, {}, 300ms, soon});
        return result;
    }
    result.contenders.push_back(nothing(8s));
    for (std::size_t const waits : {100'000, 1'000'000}) {
        duration const lead = waits == 100'000 ? 1s : 4s; // to begin them all
        add_with_slack_0(result, {waits, lead, 1s});
        add_with_slack_0(result, {waits, lead, 8s});
        add(result, {waits, lead, 8s, {}, 60s});
    }
    return result;
}

} // namespace asio_retry::bench
