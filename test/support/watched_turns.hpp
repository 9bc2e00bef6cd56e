#pragma once

#include "time/scheduled_waits.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>

namespace asio_retry::test {

/// Waits on a context, and the most that is done for them between two runs of a handler that posts itself.
class watched_turns {
public:
    explicit watched_turns(std::size_t count) {
        for (std::size_t i = 0; i != count; ++i)
            waits_.emplace_back(ended_);
    }
    ~watched_turns() { scheduler_.shut_down(); }

    /// They begin now, and end evenly over a time.
    void run(duration first, duration over) {
        scheduler_.set_context(io_);
        time_point const begin = scheduler_.now() + first;
        auto const count = static_cast<duration::rep>(waits_.size());
        for (duration::rep i = 0; i != count; ++i)
            scheduler_.schedule(waits_[static_cast<std::size_t>(i)], begin + over / count * i);
        seen_moved_ = scheduler_.moved();
        watch();
        io_.run();
    }

    /// Nothing happens for so long.
    void idle(duration time) {
        time_point const end = scheduler_.now() + time;
        while (scheduler_.now() < end)
            io_.poll();
    }

    std::size_t ended() const { return ended_; }
    std::size_t most_ended() const { return most_ended_; }
    std::uint64_t most_moved() const { return most_moved_; }
    std::uint64_t moved() { return scheduler_.moved(); }
    std::uint64_t moved_ahead() const { return moved_ahead_; } ///< before the first ended

private:
    class wait final : public detail::wait_node {
    public:
        explicit wait(std::size_t& ended) noexcept
            : ended_(ended) {}

    private:
        bool on_expiry() override {
            ++ended_;
            return true;
        }
        void on_shutdown() noexcept override {}

        std::size_t& ended_;
    };

    void watch() {
        std::uint64_t const moved = scheduler_.moved();
        most_moved_ = std::max(most_moved_, moved - seen_moved_);
        most_ended_ = std::max(most_ended_, ended_ - seen_ended_);
        seen_moved_ = moved;
        if (ended_ == 0)
            moved_ahead_ = moved;
        seen_ended_ = ended_;
        if (ended_ != waits_.size())
            boost::asio::post(io_, [this] { watch(); });
    }

    boost::asio::io_context io_{1};
    std::deque<wait> waits_;
    detail::scheduled_waits scheduler_{io_, true};
    std::size_t ended_ = 0;
    std::size_t seen_ended_ = 0;
    std::size_t most_ended_ = 0;
    std::uint64_t seen_moved_ = 0;
    std::uint64_t most_moved_ = 0;
    std::uint64_t moved_ahead_ = 0;
};

} // namespace asio_retry::test
