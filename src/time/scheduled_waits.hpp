#pragma once

#include <asio_retry/detail/time/wait_node.hpp>
#include <asio_retry/duration.hpp>

#include "time/timing_wheel.hpp"
#include "time/wake_up_timer.hpp"

#include <boost/asio/bind_allocator.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/recycling_allocator.hpp>

#include <algorithm>
#include <atomic>
#include <cassert>
#include <chrono>
#include <cstddef>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <utility>

namespace asio_retry::detail {

/// The waits of a context: which one ends when, in turns that the one timer begins, on a clock that may be
/// replaced.
class scheduled_waits {
public:
    explicit scheduled_waits(boost::asio::execution_context& context)
        : waits_(std::chrono::steady_clock::now())
        , timer_(context, *this) {}

    time_point now() const noexcept { return manual_now_ ? *manual_now_ : std::chrono::steady_clock::now(); }

    std::size_t pending() const noexcept {
        std::lock_guard const lock(mutex_);
        return waits_.size();
    }

    bool schedule(wait_node& node, time_point expiry) {
        std::lock_guard const lock(mutex_);
        assert(!node.is_linked());
        if (shut_down_)
            return false;
        waits_.insert(node, std::max(expiry, time_point::min() + duration(1))); // that is what early ends have
        try {
            arm_for(wake_up_for(expiry));
        } catch (...) {
            waits_.erase(node);
            throw;
        }
        return true;
    }

    bool cancel(wait_node& node) noexcept {
        std::lock_guard const lock(mutex_);
        if (!node.is_linked())
            return false;
        take_back(node);
        return true;
    }

    bool end_early(wait_node& node, boost::asio::io_context& here) noexcept {
        std::lock_guard const lock(mutex_);
        if (!node.is_linked())
            return false;
        take_back(node);
        end_early(node);
        if (std::exchange(turn_posted_, true))
            return true;
        try {
            boost::asio::post(here, boost::asio::bind_allocator(boost::asio::recycling_allocator<void>(),
                                                                [this] { on_posted_turn(); }));
        } catch (...) { // no memory: as when the timer fires
            turn_posted_ = false;
            arm_for(at_once);
        }
        return true;
    }

    enum class due { none, ended, no_memory };

    /// Ends the first wait that is over at `limit`. Without memory to end it, it goes on.
    due end_due(time_point limit) {
        wait_node* const node = take_due(limit);
        return node ? end(*node) : due::none;
    }

    /// The context is being destroyed.
    void shut_down() noexcept {
        while (wait_node* const node = take_at_shutdown())
            node->on_shutdown();
    }

    void stop_clock() {
        std::lock_guard const lock(mutex_);
        if (manual_now_)
            throw std::logic_error("virtual_time: the context has a virtual_time already");
        if (!waits_.empty())
            throw std::logic_error("virtual_time: construct it before the first wait on the context");
        manual_now_ = std::chrono::steady_clock::now();
        slack_before_ = slack;
    }

    void restart_clock() {
        std::lock_guard const lock(mutex_);
        manual_now_.reset();
        waits_.restart(now());
        slack = slack_before_;
        timer_.hold_until(time_point::min());
        if (ended_early_.empty())
            arm();
        else
            arm_for(at_once); // what was to end them may have thrown
    }

    void set_slack(duration greatest) {
        std::lock_guard const lock(mutex_);
        slack = greatest;
        arm();
    }

    std::optional<time_point> next_expiry() const noexcept {
        std::lock_guard const lock(mutex_);
        return ended_early_.empty() ? waits_.next_expiry(waits_.size()) : manual_now_;
    }

    void advance_clock(time_point to) noexcept { manual_now_ = std::max(*manual_now_, to); }

    void set_clock(time_point to) noexcept {
        std::lock_guard const lock(mutex_);
        if (to < *manual_now_)
            waits_.restart(to);
        manual_now_ = to;
    }

    std::atomic<duration> slack = duration(std::chrono::milliseconds(1));

private:
    static constexpr time_point at_once{};
    static constexpr std::size_t few = 16;    // to share their wake-ups saves nothing
    static constexpr int waits_per_turn = 64; // other handlers of the context run in between
    static constexpr duration pause_without_memory = std::chrono::milliseconds(1);
    static constexpr duration hand_over =
        std::chrono::milliseconds(1); // a turn that takes longer is not the only one

    wait_node* take_at_shutdown() noexcept {
        std::lock_guard const lock(mutex_);
        shut_down_ = true;
        timer_.destroy(); // its own service is destroyed before this one
        wait_node* const ended = take_ended_early();
        return ended ? ended : waits_.take_any();
    }

    wait_node* take_due(time_point limit) noexcept {
        std::lock_guard const lock(mutex_);
        return first_due(limit);
    }

    due end(wait_node& node) {
        bool const was_early = node.was_ended_early();
        if (node.on_expiry())
            return due::ended;
        std::lock_guard const lock(mutex_);
        if (was_early)
            end_early(node);
        else
            waits_.insert(node, node.expiry());
        return due::no_memory;
    }

    // Precondition for the next ones: the mutex is held.

    /// The wait is pending no longer, and has left the wheel.
    void end_early(wait_node& node) noexcept {
        timing_wheel::set_early(node);
        ended_early_.push_back(node);
    }

    wait_node* take_ended_early() noexcept {
        wait_node* const node = ended_early_.empty() ? nullptr : &ended_early_.front();
        if (node)
            ended_early_.pop_front();
        return node;
    }

    void take_back(wait_node& node) noexcept {
        if (node.was_ended_early()) {
            ended_early_.erase(timing_wheel::list::s_iterator_to(node));
            return;
        }
        waits_.erase(node);
        if (waits_.empty())
            timer_.disarm();
        else if (waits_.size() == few)
            arm(); // from here on they are exact
    }

    wait_node* first_due(time_point limit) noexcept {
        wait_node* const node = take_ended_early();
        return node ? node : waits_.take_due(limit, tolerance());
    }

    /// How late a wait may end for the sake of others. A manual clock is exact.
    duration tolerance() const noexcept {
        return manual_now_ || waits_.size() <= few ? duration::zero() : slack.load();
    }

    time_point wake_up_for(time_point expiry) const noexcept { return saturating_add(expiry, tolerance()); }

    /// Makes the timer fire in time for the first wait.
    void arm() {
        if (auto const expiry = waits_.next_expiry(few))
            arm_for(wake_up_for(*expiry));
    }

    /// Before anything runs: if that throws, or blocks, the timer goes on with what is over, a little later.
    /// That is so chosen that it seldom has to be armed again when all that has run.
    void arm_ahead(time_point begin) {
        auto const expiry = ended_early_.empty() ? waits_.next_expiry(few) : begin;
        if (expiry)
            arm_for(*expiry <= begin
                        ? saturating_add(begin, std::clamp(slack.load() / 4 * 3, hand_over / 2, hand_over))
                        : wake_up_for(*expiry));
    }

    void arm_for(time_point wake_up) {
        if (!manual_now_ && !shut_down_)
            timer_.arm(wake_up);
    }

    friend wake_up_timer<scheduled_waits>;
    void on_timer() {
        take_turn([this] { timer_.on_fired(); });
    }
    void on_posted_turn() {
        take_turn([this] { turn_posted_ = false; });
    }

    template <typename Note>
    void take_turn(Note note_why) {
        {
            std::lock_guard const lock(mutex_);
            note_why();
        }
        time_point const begin = now();
        wait_node* node = begin_turn(begin);
        for (int ended = 1; node; ++ended) {
            if (end(*node) == due::no_memory)
                return pause();
            if (ended == waits_per_turn && !manual_now_)
                return go_on(begin); // when others have had their turn
            node = take_due(begin);
        }
        std::lock_guard const lock(mutex_);
        arm_for_rest();
    }

    wait_node* begin_turn(time_point begin) {
        std::lock_guard const lock(mutex_);
        wait_node* const first = timer_.is_held(begin) ? nullptr : first_due(begin);
        arm_ahead(begin);
        return first;
    }

    void arm_for_rest() {
        if (!ended_early_.empty())
            arm_for(at_once);
        else if (waits_.empty())
            timer_.disarm();
        else
            arm();
    }

    /// Goes on when there may be memory again.
    void pause() {
        std::lock_guard const lock(mutex_);
        timer_.hold_until(saturating_add(now(), pause_without_memory));
        arm_for_rest();
    }

    void go_on(time_point at) {
        std::lock_guard const lock(mutex_);
        if (!waits_.empty() || !ended_early_.empty())
            arm_for(at);
    }

    mutable std::mutex mutex_;
    timing_wheel waits_;
    timing_wheel::list ended_early_;
    wake_up_timer<scheduled_waits> timer_;
    bool turn_posted_ = false;
    std::optional<time_point> manual_now_;
    duration slack_before_{}; // the manual clock
    bool shut_down_ = false;
};

} // namespace asio_retry::detail
