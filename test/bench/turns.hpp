#pragma once

// How long waits keep a context from its other handlers.

#include "contenders.hpp"
#include "meter.hpp"
#include "plan.hpp"
#include "result.hpp"
#include "storm_run.hpp"
#include "tally.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

namespace asio_retry::bench {

struct turn_shape {
    std::size_t waits;
    duration lead; ///< the first wait ends so long after the first operation has begun
    duration over; ///< from the end of the first wait to the end of the last one, evenly spread
    std::optional<duration> slack = {};
    duration idle = {}; ///< before, while only one long wait is pending
    /// The first wait ends when the clock reads a multiple of this. At a multiple of 2^34 ns, which comes every
    /// 17 s, slots of several levels of a timing wheel begin at once, and all waits may be in one of them.
    duration boundary = duration(std::int64_t(1) << 34);
};

/// Turns by the CPU time of the thread, so that it does not matter what else the machine does.
class longest_turns {
public:
    void begin() noexcept { began_ns_ = thread_cpu_ns(); }
    void end() noexcept {
        double const turn_ns = thread_cpu_ns() - began_ns_;
        if (turn_ns <= longest_ns_.back())
            return;
        longest_ns_.back() = turn_ns;
        for (std::size_t i = longest_ns_.size() - 1; i != 0 && longest_ns_[i - 1] < longest_ns_[i]; --i)
            std::swap(longest_ns_[i - 1], longest_ns_[i]);
    }

    double first_us() const noexcept { return longest_ns_.front() / 1'000; }
    double tenth_us() const noexcept { return longest_ns_.back() / 1'000; }

private:
    double began_ns_ = 0;
    std::array<double, 10> longest_ns_{}; ///< the longest one first
};

/// Operations that fail once and wait, while a handler posts itself: a turn is what the context does between
/// two of its runs. It begins the operations too, some in each run, which is no part of a turn.
template <typename Contender>
class turn_run {
public:
    explicit turn_run(turn_shape const& shape)
        : shape_(shape) {}

    /// How late the waits ended, too.
    figures lateness_and_turns() {
        figures result = turns();
        std::sort(late_us_.begin(), late_us_.end());
        result.merge(percentiles(late_us_));
        return result;
    }

    figures turns() {
        trim_heap();
        late_us_.reserve(shape_.waits);
        prepare();
        asio::io_context io(1);
        asio::steady_timer const makes_the_reactor(io);
        if (shape_.slack)
            scheduler(io).slack(*shape_.slack);
        io_ = &io;
        auto const soonest = std::chrono::steady_clock::now().time_since_epoch() + shape_.idle + shape_.lead;
        first_end_ = time_point((soonest / shape_.boundary + 1) * shape_.boundary);
        if (shape_.idle != duration::zero()) {
            begin_wait(first_end_ + shape_.over);
            io.run_until(first_end_ - shape_.lead);
        } else {
            std::this_thread::sleep_until(first_end_ - shape_.lead);
        }
        asio::post(io, [this] { beat(); });
        beginning_.begin();
        io.run();
        ended_.expect(shape_.waits, 0);
        if (late_us_.size() != shape_.waits || ending_.first_us() <= 0)
            throw std::logic_error("some waits or turns were not recorded");
        return {{"turn_max_us", ending_.first_us()},
                {"turn_10th_us", ending_.tenth_us()},
                {"begin_turn_max_us", beginning_.first_us()}};
    }

private:
    struct own_record {
        late_record late;
        plan how;
        time_point end{};
        std::unique_ptr<std::byte[]> buffer{}; ///< such as a request has beside its operation

        duration delay() const {
            return std::max<duration>(end - std::chrono::steady_clock::now(), duration(1));
        }
    };

    /// What would take long while operations begin: then the first waits would end before the last begin.
    void prepare() {
        own_.resize(shape_.waits);
        for (own_record& own : own_) {
            own.late.late_us = &late_us_;
            if constexpr (!retries_by_hand<Contender>)
                own.late.policy =
                    retry_policy().max_attempts(2).jitter(no_jitter()).backoff([&own](std::uint64_t) {
                        duration const delay = own.delay();
                        own.late.due = std::chrono::steady_clock::now() + delay;
                        return delay;
                    });
        }
    }

    void beat() {
        turns_of_now().end();
        constexpr std::size_t portion = 64;
        for (std::size_t i = 0; i != portion && begun_ != shape_.waits; ++i) {
            begin_wait(first_end_ + end_of(begun_));
        }
        if (ended_.succeeded + ended_.failed != shape_.waits)
            asio::post(*io_, [this] { beat(); });
        turns_of_now().begin();
    }

    /// Those that follow one another in memory end far apart, as in a program that has run for long. Powers of
    /// ten and the step have no common factor, so that each part of the time has its wait.
    duration end_of(std::size_t wait) const {
        constexpr std::size_t step = 618'033;
        std::size_t const place = wait * step % shape_.waits;
        return shape_.over * static_cast<std::int64_t>(place) / static_cast<std::int64_t>(shape_.waits);
    }

    longest_turns& turns_of_now() noexcept { return begun_ == shape_.waits ? ending_ : beginning_; }

    void begin_wait(time_point end) {
        own_record& own = own_[begun_++];
        own.end = end;
        own.buffer = std::make_unique<std::byte[]>(512);
        own.late.due = time_point(); // a policy asks its backoff when it is made, too
        duration const by_hand = own.delay();
        own.how = {1, by_hand, by_hand, spread::none};
        Contender::start(*io_, own.how, own.late.policy, late_observer{&own.late}, count_end<tally<>>{&ended_});
    }

    turn_shape shape_;
    asio::io_context* io_ = nullptr;
    std::vector<own_record> own_;
    std::vector<float> late_us_;
    std::size_t begun_ = 0;
    time_point first_end_{};
    tally<> ended_;
    longest_turns beginning_; ///< while not all have begun
    longest_turns ending_;
};

} // namespace asio_retry::bench
