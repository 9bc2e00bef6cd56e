#include "exhaustion/scenarios.hpp"

#include <asio_retry/retry_scheduler.hpp>

#include <gmock/gmock.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <sstream>
#include <tuple>

namespace asio_retry::test {
namespace {

std::vector<scenario> all_scenarios() {
    std::vector<scenario> all;
    for (auto const& some : {plain(), forms(), futures(), limits(), cancellations(), scopes(), coroutines(),
                             executors(), tickers(), hedges(), faults()})
        all.insert(all.end(), some.begin(), some.end());
    return all;
}

/// What is wrong with the end of an operation; null if nothing is.
char const* complaint_about(fate const& f, bool may_lose_work) {
    if (f.kept_by_refusal && !f.asio_may_lose_it)
        return "its initiating function threw, and its handler was kept or called";
    if (f.handlers != 0)
        return "its handler was not destroyed";
    if (f.refused && !f.asio_may_lose_it)
        return f.calls == 0 ? nullptr : "its initiating function threw, and its handler was called later";
    if (f.calls == 0 && may_lose_work)
        return nullptr;
    if (f.calls == 0)
        return f.asio_may_lose_it ? nullptr : "its handler was never called";
    if (f.calls != 1)
        return "its handler was called again";
    if (!f.no_memory && f.error != f.expected)
        return "it completed with another error than the scenario's";
    return nullptr;
}

struct ending {
    std::array<fate, 8> fates;
    std::size_t started = 0;
    bool short_of_memory = false;
    bool ran_dry = false;
    std::size_t waits = 0;
    std::size_t blocks = 0;
};

/// Plays a scenario while the n-th allocation fails, and then to its end with memory.
template <typename Trial>
void play(std::function<void(Trial&)> const& scene, clock_kind clock, memory source, shortage kind,
          std::uint64_t nth, ending& end) {
    block_census const census;
    {
        Trial t(end.fates, clock);
        {
            failing_allocation const failing(source, kind, nth);
            scene(t);
            t.run();
            end.short_of_memory = failing.happened();
        }
        t.patience = 10s;
        if (t.with_memory_again)
            t.with_memory_again();
        t.run();
        if (t.at_the_end)
            t.at_the_end();
        end.started = t.started;
        end.ran_dry = t.io.stopped();
        end.waits = scheduler(t.io).pending();
    }
    for (fate& f : end.fates)
        f.signal.slot().clear(); // where a coroutine leaves what it put there
    end.blocks = census.live();
}

std::string complaints_about(ending const& end, bool may_lose_work) {
    std::ostringstream all;
    for (std::size_t i = 0; i < end.started; ++i)
        if (char const* const complaint = complaint_about(end.fates[i], may_lose_work))
            all << "operation " << i << ": " << complaint << " (" << end.fates[i].error << ")\n";
    if (!end.ran_dry && !may_lose_work)
        all << "the context has work left\n";
    if (end.waits && !may_lose_work)
        all << end.waits << " waits are left\n";
    if (end.blocks)
        all << end.blocks << " blocks are left\n";
    return all.str();
}

class exhaustion : public testing::TestWithParam<std::tuple<scenario, memory, shortage>> {
protected:
    void play(std::uint64_t nth, ending& end) const {
        auto const& [scene, source, kind] = GetParam();
        if (source == memory::associated)
            test::play(scene.associated, scene.clock, source, kind, nth, end);
        else
            test::play(scene.global, scene.clock, source, kind, nth, end);
    }
};

// No handler is lost, called twice or leaked, whichever allocation fails.
TEST_P(exhaustion, is_survived) {
    constexpr std::uint64_t never = 1'000'000;
    ending calm;
    play(never, calm);
    ASSERT_EQ(complaints_about(calm, false), "");
    for (std::size_t i = 0; i < calm.started; ++i) {
        ASSERT_EQ(calm.fates[i].error, calm.fates[i].expected);
        ASSERT_EQ(calm.fates[i].calls, 1);
    }

    static std::uint64_t nth;
    nth = 0;
    std::set_terminate([] {
        std::fprintf(stderr, "terminated when allocation %ju failed\n", std::uintmax_t(nth));
        std::abort();
    });
    for (bool short_of_memory = true; short_of_memory;) {
        ASSERT_LT(++nth, 1000U);
        ending end;
        play(nth, end);
        EXPECT_EQ(complaints_about(end, std::get<scenario>(GetParam()).may_lose_work), "")
            << "allocation " << nth << " failed";
        short_of_memory = end.short_of_memory;
    }
    if (std::get<memory>(GetParam()) == memory::global) {
        EXPECT_GT(nth, 1U) << "nothing was ever allocated";
    }
}

std::string name_of(testing::TestParamInfo<exhaustion::ParamType> const& info) {
    auto const& [scene, source, kind] = info.param;
    return scene.name + '_' + testing::PrintToString(source) + '_' + testing::PrintToString(kind);
}

std::vector<exhaustion::ParamType> all_trials() {
    std::vector<exhaustion::ParamType> all;
    for (scenario const& scene : all_scenarios())
        for (memory const source : {memory::global, memory::associated})
            for (shortage const kind : {shortage::once, shortage::lasting})
                if (kind == shortage::once || !scene.once_only)
                    all.emplace_back(scene, source, kind);
    return all;
}

INSTANTIATE_TEST_SUITE_P(scenarios, exhaustion, testing::ValuesIn(all_trials()), name_of);

} // namespace
} // namespace asio_retry::test
