// What the library wants to reach: mostly a part of what the usual hand-written loop costs in the same run.
#include "targets.hpp"

#include <algorithm>
#include <functional>
#include <string>

namespace asio_retry::bench {
namespace {

struct not_measured {};

std::string const callback = "async_retry: callback, io_context";
std::string const token = "async_retry: token operation in a coroutine";
std::string const awaitable = "async_retry: awaitable, any_io_executor";
std::string const hand_awaitable = "hand: awaitable operation, values";
std::string const hand_callbacks = "hand: callbacks";
std::string const hand_exceptions = "hand: awaitable, exceptions";
std::string const hand_limited = "hand: awaitable operation, a kept steady_timer";
std::string const throwing = "async_retry: throwing awaitable";
std::string const limited = "async_retry: awaitable, two time limits";
std::string const scoped = "async_retry: awaitable, in a scope";
std::string const scope_cancel = "async_retry in a retry_scope: scope.cancel()";
std::string const bare_await = "bare operation: co_await";
std::string const bare_callback = "bare operation: bound callback";
std::string const bare_awaitable = "bare operation: awaitable";

/// The figures to judge by.
class measured {
public:
    explicit measured(rows const& all)
        : all_(all) {}

    double value(std::string const& figure, std::string const& workload, std::string const& contender) const {
        row const* const found = find(all_, workload, contender);
        if (!found || !found->values.contains(figure))
            throw not_measured();
        return found->values.at(figure);
    }

    double cpu(std::string const& workload, std::string const& contender) const {
        return value("cpu_ns", workload, contender);
    }

    double ratio(std::string const& workload, std::string const& contender,
                 std::string const& to = reference_contender) const {
        return cpu(workload, contender) / cpu(workload, to);
    }

    double more(std::string const& figure, std::string const& workload, std::string const& contender,
                std::string const& than) const {
        return value(figure, workload, contender) - value(figure, workload, than);
    }

private:
    rows const& all_;
};

struct target {
    std::string name;
    std::string unit;
    double limit;
    std::function<double(measured const&)> compute;
};

/// Allocations are averages over a run, in which a context, its scheduler and the coroutines of the chains are
/// set up once: a hundredth of one for each operation is nothing that an operation needs.
constexpr double rounding = 0.01;

target of(std::string workload, std::string what, std::string contender, std::string than_what,
          std::string than, double limit) {
    return {workload + ": " + what + ", of " + than_what, "x", limit,
            [=](measured const& m) { return m.ratio(workload, contender, than); }};
}

std::vector<target> first_try_targets() {
    auto const more = [](char const* figure, std::string contender, std::string than) {
        return [=](measured const& m) { return m.more(figure, "first_try", contender, than); };
    };
    return {
        {"first_try: callback, beyond the bare operation", "allocations", rounding,
         more("allocations", callback, bare_callback)},
        {"first_try: in a coroutine, beyond the bare operation", "allocations", rounding,
         more("allocations", token, bare_await)},
        {"first_try: awaitable, beyond the bare operation", "allocations", rounding,
         more("allocations", awaitable, bare_awaitable)},
        {"first_try: callback, over the bare operation", "ns", 25, more("cpu_ns", callback, bare_callback)},
        {"first_try: in a coroutine, over the bare operation", "ns", 10, more("cpu_ns", token, bare_await)},
        of("first_try", "awaitable", awaitable, "the hand-written loop over the same", hand_awaitable, 1.0),
        of("first_try", "callback", callback, "callbacks by hand", hand_callbacks, 1.5),
        of("first_try", "two time limits", limited, "the attempt and a kept timer", hand_limited, 1.0),
        of("first_try", "two time limits, on a strand", limited + ", on a strand", "the same there",
           hand_limited + ", on a strand", 1.0),
        of("first_try", "in a scope", scoped, "the attempt and a kept timer", hand_limited, 1.1),
        of("first_try", "two time limits, in a scope", limited + ", in a scope", "the attempt and a kept timer",
           hand_limited, 1.1),
    };
}

target ratio(std::string workload, std::string what, std::string contender, double limit) {
    return {workload + ": " + what + ", of the reference", "x", limit,
            [=](measured const& m) { return m.ratio(workload, contender); }};
}

target cpu(std::string workload, std::string what, std::string contender, double limit) {
    return {workload + ": " + what, "ns", limit, [=](measured const& m) { return m.cpu(workload, contender); }};
}

/// Asio allocates to queue the completion of an attempt, for a retry as for anyone: each attempt counts, in the
/// run itself, what its own post has allocated, and that is not the retry's.
target storm_allocations(std::string workload) {
    return {workload + ": callback, beyond the posts of its attempts", "allocations", 1 + rounding,
            [=](measured const& m) {
                return m.value("allocations", workload, callback) -
                       m.value("post_allocations", workload, callback);
            }};
}

target storm_bytes(std::string workload) {
    constexpr double handler = sizeof(void*);
    return {workload + ": callback, held while it waits", "bytes", 200 + handler,
            [=](measured const& m) { return m.value("bytes", workload, callback); }};
}

target second_thread(std::string what, std::string contender) {
    return {"two_threads: " + what + ", of its CPU time on one thread", "x", 1.6,
            [=](measured const& m) { return m.ratio("two_threads", contender, contender + ", one thread"); }};
}

target gate(std::string what, double limit) {
    return {"gates: " + what + ", over an operation without", "ns", limit,
            [=](measured const& m) { return m.more("cpu_ns", "gates", callback + ", " + what, callback); }};
}

/// Of the same gateway without retries, and with the same refusals.
target gateway(std::string what, std::string with, std::string refusals, double limit) {
    return {"gateway: " + what, "x", limit, [=](measured const& m) {
                return m.ratio("gateway", "gateway: async_retry, " + with + refusals,
                               "gateway: no retry" + refusals);
            }};
}

target punctual(std::string what, std::string contender, double limit_us) {
    return {"lateness: " + what + ", p99", "us", limit_us,
            [=](measured const& m) { return m.value("late_p99_us", "lateness", contender); }};
}

/// From the first wait that begins to the last one that ends.
std::vector<target> turns() {
    std::vector<target> result;
    auto const add = [&](std::string const& what, std::string const& contender, std::string const& shape) {
        std::string const name = contender + ", " + shape;
        result.push_back({"longest_turn: " + what + ", " + shape, "us", 500, [=](measured const& m) {
                              return std::max(m.value("turn_max_us", "longest_turn", name),
                                              m.value("begin_turn_max_us", "longest_turn", name));
                          }});
    };
    for (std::string const waits : {"100000", "1000000"}) {
        for (char const* const over : {" over 1 s", " over 8 s", " over 8 s, after 60 s idle"})
            add("callback", callback, waits + over);
        for (char const* const over : {" over 1 s", " over 8 s"})
            add("callback, slack 0", callback + ", slack 0", waits + over);
    }
    return result;
}

target growth(std::string what, std::string contender) {
    return {"storm_1m: " + what + ", CPU time per wait of that in storm_10k", "x", 1.5,
            [=](measured const& m) { return m.cpu("storm_1m", contender) / m.cpu("storm_10k", contender); }};
}

std::vector<target> all_targets() {
    std::vector<target> result = first_try_targets();
    std::vector<target> const others{
        gateway("two time limits, in a scope", "two time limits, in a scope", "", 1.03),
        gateway("the same, 1 % refused", "two time limits, in a scope", ", 1 % refused", 1.05),
        gateway("two time limits", "two time limits", "", 1.03),
        ratio("zero_delay_1", "callback", callback, 1.0 / 150),
        ratio("zero_delay_1", "awaitable", awaitable, 1.0 / 150),
        cpu("zero_delay_64", "callback", callback, 350),
        cpu("zero_delay_64", "awaitable", awaitable, 350),
        ratio("storm_1k", "callback", callback, 0.2),
        ratio("storm_1k", "awaitable", awaitable, 0.2),
        ratio("storm_1k", "callback, slack 0", callback + ", slack 0", 1.05),
        ratio("storm_1k", "awaitable, slack 0", awaitable + ", slack 0", 1.0),
        ratio("storm_100k", "callback", callback, 0.25),
        ratio("storm_100k", "awaitable", awaitable, 0.85),
        of("storm_100k", "callback", callback, "callbacks by hand", hand_callbacks, 0.6),
        of("storm_100k", "attempts that throw", throwing, "the hand-written loop with exceptions",
           hand_exceptions, 0.8),
        storm_allocations("storm_100k"),
        storm_bytes("storm_100k"),
        ratio("storm_1m", "callback", callback, 0.25),
        ratio("storm_1m", "awaitable", awaitable, 0.85),
        storm_allocations("storm_1m"),
        storm_bytes("storm_1m"),
        growth("callback", callback),
        growth("awaitable", awaitable),
        ratio("one_wait", "callback", callback, 1.0),
        ratio("one_wait", "awaitable", awaitable, 1.0),
        of("cancel_100k", "callback", callback, "callbacks by hand", hand_callbacks, 1.0),
        ratio("cancel_100k", "awaitable", awaitable, 0.9),
        of("cancel_100k", "in a scope", scope_cancel, "callbacks by hand", hand_callbacks, 1.5),
        ratio("cancel_1m", "callback", callback, 0.1),
        cpu("cancel_1m", "callback", callback, 60),
        ratio("cancel_1m", "awaitable", awaitable, 1.1),
        gate("retry_budget", 30),
        gate("circuit_breaker", 140),
        second_thread("callback", callback),
        second_thread("awaitable", awaitable),
        of("two_threads", "callback", callback, "callbacks by hand", hand_callbacks, 0.9),
        ratio("two_threads", "awaitable", awaitable, 0.7),
        punctual("callback", callback, 1'300),
        punctual("callback, slack 0", callback + ", slack 0", 300),
        punctual("awaitable", awaitable, 1'300),
    };
    result.insert(result.end(), others.begin(), others.end());
    std::vector<target> const of_turns = turns();
    result.insert(result.end(), of_turns.begin(), of_turns.end());
    return result;
}

} // namespace

std::vector<judged_target> judge_targets(rows const& results) {
    std::vector<judged_target> judged;
    measured const m(results);
    for (target const& each : all_targets()) {
        judged.push_back({each.name, each.unit, each.limit, std::nullopt});
        try {
            judged.back().value = each.compute(m);
        } catch (not_measured) {
        }
    }
    return judged;
}

} // namespace asio_retry::bench
