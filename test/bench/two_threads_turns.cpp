// How late waits end on a context that two threads run, and how long one of its threads stands still for
// others.
#include "contenders.hpp"
#include "meter.hpp"
#include "storm_run.hpp"
#include "tally.hpp"
#include "turns.hpp"
#include "workload.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

namespace asio_retry::bench {
namespace {

using namespace std::chrono_literals;

struct own_wait {
    time_point due{};
    float late_us = -1;
    retry_policy policy; ///< the library tells when a wait is due through a hook of its own for each operation
};

/// One wait each: no two threads write to one.
struct own_wait_observer {
    own_wait* wait;

    void attempt_begins(unsigned) const {
        if (wait->due != time_point())
            wait->late_us =
                std::chrono::duration<float, std::micro>(std::chrono::steady_clock::now() - wait->due).count();
    }
    void posted(std::uint64_t) const noexcept {}
    void waits_until(time_point due) const noexcept { wait->due = due; }
};

template <typename Contender>
class threaded_turns {
public:
    threaded_turns(std::size_t operations, int threads)
        : how_{1, 4s, 4s, spread::half}
        , threads_(threads)
        , io_(threads)
        , waits_(operations) {
        for (own_wait& each : waits_)
            if constexpr (!retries_by_hand<Contender>)
                each.policy = how_.policy().on_retry([&each](retry_event const& failed) {
                    each.due = std::chrono::steady_clock::now() + failed.delay;
                });
    }

    figures measure() {
        for (own_wait& each : waits_)
            Contender::start(io_, how_, each.policy, own_wait_observer{&each}, count_end<counts>{&ended_});
        io_.poll(); // all wait now
        for (int i = 0; i != 2 * threads_; ++i)
            asio::post(io_, [this] { beat(); });
        std::vector<std::thread> others;
        for (int i = 1; i != threads_; ++i)
            others.emplace_back([this] { run(); });
        run();
        for (std::thread& other : others)
            other.join();
        ended_.expect(waits_.size(), 0);
        std::vector<float> late;
        for (own_wait const& each : waits_)
            late.push_back(each.late_us);
        std::sort(late.begin(), late.end());
        figures result = percentiles(late);
        result["turn_max_us"] = turn_max_us_;
        result["turn_10th_us"] = turn_10th_us_;
        return result;
    }

private:
    using counts = tally<std::atomic<std::size_t>>;

    void run() {
        longest_turns of_this_thread;
        turns_here = &of_this_thread;
        of_this_thread.begin();
        io_.run();
        std::lock_guard const lock(mutex_);
        turn_max_us_ = (std::max)(turn_max_us_, of_this_thread.first_us());
        turn_10th_us_ = (std::max)(turn_10th_us_, of_this_thread.tenth_us());
    }

    void beat() {
        turns_here->end();
        if (ended_.succeeded + ended_.failed != waits_.size())
            asio::post(io_, [this] { beat(); });
        turns_here->begin();
    }

    static inline thread_local longest_turns* turns_here = nullptr;

    plan const how_;
    int const threads_;
    asio::io_context io_;
    asio::steady_timer const makes_the_reactor_{io_};
    std::vector<own_wait> waits_;
    counts ended_;
    std::mutex mutex_;
    double turn_max_us_ = 0;
    double turn_10th_us_ = 0;
};

} // namespace

workload two_threads_turns(scale) {
    workload result{
        "two_threads_turns",
        "100 000 waits that end within two seconds, on a context of one thread or of two; how late the "
        "next attempt begins, and the longest CPU time of a thread between two handlers that post "
        "themselves",
        3,
        {}};
    for_each_of(std::tuple<hand_as_tuple, hand_callbacks, retry_callback_io, retry_awaitable_any>(),
                [&]<typename Contender>() {
                    for (int const threads : {1, 2})
                        result.contenders.push_back(
                            {Contender::name + std::string(threads == 1 ? ", one thread" : ", two threads"),
                             [threads] { return threaded_turns<Contender>(100'000, threads).measure(); }});
                });
    return result;
}

} // namespace asio_retry::bench
