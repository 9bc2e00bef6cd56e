#pragma once

#include <asio_retry/detail/time/brief_mutex.hpp>
#include <asio_retry/detail/time/wait_node.hpp>
#include <asio_retry/duration.hpp>

#include "time/manual_time.hpp"
#include "time/pending_waits.hpp"
#include "time/posted_turn.hpp"
#include "time/wake_up_timer.hpp"

#include <boost/asio/execution_context.hpp>
#include <boost/asio/io_context.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <mutex>
#include <optional>
#include <stdexcept>

namespace asio_retry::detail {

/// All waits of a context, on one timer. The timer begins turns, and a turn ends the waits that are over. A
/// manual clock may replace the steady clock. A mutex guards everything except the clock.
///
/// If several threads run the context and the timer fires early enough, a wait begins without the mutex. It
/// arrives, and the next thread that takes the mutex puts it into the wheel. No arrival is overlooked: the
/// thread that adds it checks the timer afterwards, and the handler of a disarmed timer checks for arrivals at
/// once.
class scheduled_waits {
public:
    scheduled_waits(boost::asio::execution_context& context, bool has_one_thread)
        : has_one_thread_(has_one_thread)
        , waits_(std::chrono::steady_clock::now())
        , timer_(context, *this)
        , turn_(*this) {}

    time_point now() const noexcept { return manual_now_ ? *manual_now_ : std::chrono::steady_clock::now(); }

    std::size_t pending() noexcept {
        auto const in = enter();
        return waits_.size();
    }

    /// How many waits have ever been moved within the wheel.
    std::uint64_t moved() noexcept {
        std::lock_guard const lock(mutex_);
        return waits_.moved();
    }

    /// @name The limits of one turn, between two other handlers of the context
    /// @{
    static constexpr unsigned waits_per_turn = 64;
    static constexpr unsigned moves_per_turn = 128; // from one level of the wheel to another
    /// @}

    bool schedule(wait_node& node, time_point expiry) {
        if (!has_one_thread_ && timer_.fires_by(expiry)) {
            arrive(node, expiry);
            return true;
        }
        auto const in = enter();
        if (shut_down_)
            return false;
        waits_.insert(node, expiry);
        try {
            arm_for(wake_up_for(expiry));
        } catch (...) {
            waits_.erase(node);
            throw;
        }
        count_begun(1);
        return true;
    }

    bool cancel(wait_node& node) noexcept {
        auto const in = enter();
        if (!node.is_linked())
            return false;
        take_back(node);
        return true;
    }

    bool end_early(wait_node& node, boost::asio::io_context& here) noexcept {
        auto const in = enter();
        if (!node.is_linked())
            return false;
        take_back(node);
        waits_.end_early(node);
        set_context(here);
        if (!turn_.post())
            arm_for(at_once);
        return true;
    }

    /// Begins a wait that is over already. It ends in the next turns, with the waits that were ended early.
    bool schedule_early(wait_node& node) {
        auto const in = enter();
        if (shut_down_)
            return false;
        waits_.end_early(node);
        try {
            if (!manual_now_)
                timer_.make(); // the turn arms it, with a wait in hand
            if (!turn_.post())
                arm_for(at_once);
        } catch (...) {
            waits_.erase(node);
            throw;
        }
        return true;
    }

    /// Does not change a wait that ends earlier or was ended early.
    bool end_by(wait_node& node, time_point latest) noexcept {
        auto const in = enter();
        if (!node.is_linked())
            return false;
        if (node.expiry() > latest) { // an early end has time_point::min()
            waits_.erase(node);
            waits_.insert(node, latest);
            arm_for(wake_up_for(latest));
        }
        return true;
    }

    /// Stores the io_context of these waits, so that turns can be posted. Thread safety: needs no mutex.
    void set_context(boost::asio::io_context& own) noexcept { turn_.set_context(own); }

    enum class due { none, ended, no_memory };

    /// Ends the first wait that is over at `limit`. Without memory to end it, the wait goes on.
    due end_due(time_point limit) {
        unsigned moves = unlimited;
        wait_node* const node = take_due(limit, moves);
        return node ? end(*node) : due::none;
    }

    /// The context is being destroyed.
    void shut_down() noexcept {
        while (wait_node* const node = take_at_shutdown())
            node->on_shutdown();
    }

    void stop_clock() {
        auto const in = enter();
        if (manual_now_)
            throw std::logic_error("asio_retry: virtual_time: the context has a virtual_time already");
        if (!waits_.empty())
            throw std::logic_error("asio_retry: virtual_time: construct it before any wait on the context");
        manual_now_ = std::chrono::steady_clock::now();
        slack_before_ = slack;
    }

    void restart_clock() {
        auto const in = enter();
        manual_now_.reset();
        waits_.restart(now());
        slack = slack_before_;
        timer_.hold_until(time_point::min());
        try {
            arm_for_rest(); // waits may be left, because a handler has thrown
        } catch (...) {     // the timer could not be created
            timer_.fire();
        }
    }

    void set_slack(duration greatest) {
        auto const in = enter();
        slack = greatest;
        arm();
    }

    std::optional<time_point> next_expiry() noexcept {
        auto const in = enter();
        return waits_.any_ended_early() ? manual_now_ : waits_.next_expiry(waits_.size());
    }

    void advance_clock(time_point to) noexcept { manual_now_ = std::max(*manual_now_, to); }

    void set_clock(time_point to) noexcept {
        auto const in = enter();
        if (to < *manual_now_)
            waits_.restart(to);
        manual_now_ = to;
    }

    std::atomic<duration> slack = duration(std::chrono::milliseconds(1));

private:
    static constexpr time_point at_once{};
    static constexpr unsigned unlimited = std::numeric_limits<unsigned>::max();
    static constexpr std::size_t most_exact_waits = 16; // up to so many waits end exactly
    static constexpr unsigned portion = 64;             // waits that begin before the wheel follows the clock
    static constexpr unsigned most_arrivals = 256; // after so many a thread waits for the mutex to admit them
    static constexpr duration pause_without_memory = std::chrono::milliseconds(1);
    static constexpr duration takeover_delay = std::chrono::milliseconds(1); // then the timer takes over a turn

    /// Holds the mutex, and has put all arrivals into the wheel. It has no std::unique_lock, whose destructor
    /// g++ calls out of line.
    struct [[nodiscard]] entered {
        explicit entered(scheduled_waits& in)
            : lock(in.mutex_) {
            if (in.waits_.any_arrived())
                in.admit();
        }
        std::lock_guard<brief_mutex> const lock;
    };
    entered enter() noexcept { return entered(*this); }

    /// Precondition: the timer fires early enough.
    void arrive(wait_node& node, time_point expiry) {
        unsigned const arrived = waits_.arrive(node, expiry);
        if (!timer_.fires_by(expiry)) { // any more
            auto const in = enter();
            if (!waits_.empty())
                arm_for(wake_up_for(expiry));
        } else if (arrived % portion == 0) {
            std::unique_lock lock(mutex_, std::defer_lock);
            if (arrived >= most_arrivals)
                lock.lock();
            if (!lock && !lock.try_lock())
                return;
            admit(); // while the waits are still in a cache
        }
    }

    wait_node* take_at_shutdown() noexcept {
        auto const in = enter();
        shut_down_ = true;
        timer_.destroy(); // its own service is destroyed before this one
        return waits_.take_any();
    }

    wait_node* take_due(time_point limit, unsigned& moves) noexcept {
        std::lock_guard const lock(mutex_);
        return waits_.take_due(limit, tolerance(), moves);
    }

    due end(wait_node& node) {
        if (node.on_expiry())
            return due::ended;
        std::lock_guard const lock(mutex_);
        waits_.put_back(node);
        return due::no_memory;
    }

    // Precondition of the functions up to `arm_for`: the mutex is held.

    void take_back(wait_node& node) noexcept {
        waits_.erase(node);
        if (waits_.empty() && !waits_.any_ended_early())
            timer_.disarm();
        else if (waits_.size() == most_exact_waits)
            arm(); // a few waits end exactly
    }

    /// How late a wait may end for the sake of others. A manual clock is exact.
    duration tolerance() const noexcept {
        return manual_now_ || waits_.size() <= most_exact_waits ? duration::zero() : slack.load();
    }

    time_point wake_up_for(time_point expiry) const noexcept { return saturating_add(expiry, tolerance()); }

    /// Arms the timer for the first wait or for the next preparation.
    void arm() {
        if (auto const expiry = waits_.next_expiry(most_exact_waits))
            arm_for(std::min(wake_up_for(*expiry), next_preparation()));
    }

    /// When waits have to be moved down in the wheel. A few waits move only when their time comes. The
    /// preparation is late by the tolerance: then earlier slots that need no move are over.
    time_point next_preparation() const noexcept {
        if (manual_now_ || waits_.size() <= portion)
            return time_point::max();
        auto const next = waits_.next_preparation(tolerance());
        return next ? wake_up_for(*next) : time_point::max();
    }

#if defined(__GNUC__)
    [[gnu::noinline]] // inlined, it would slow down each use of the mutex
#endif
    void
    admit() noexcept {
        count_begun(waits_.admit());
    }

    /// Moves the wheel to the clock after each portion of waits: many may begin before the timer fires.
    void count_begun(unsigned count) noexcept {
        begun_ += count;
        if (begun_ >= portion)
            follow_clock();
    }

#if defined(__GNUC__)
    [[gnu::noinline]] // inlined, it would slow down each wait
#endif
    void
    follow_clock() noexcept {
        begun_ = 0;
        if (manual_now_)
            return;
        unsigned moves = portion;
        waits_.prepare(now(), tolerance(), moves);
        arm_for(next_preparation());
    }

    /// Arms the timer before a turn ends waits. If a handler throws or blocks during the turn, the timer ends
    /// the other waits a little later. Most turns are over by then, and need not arm the timer again.
    void arm_ahead(time_point begin) {
        auto const expiry = waits_.any_ended_early() ? begin : waits_.next_expiry(most_exact_waits);
        if (!expiry)
            return;
        time_point const preparation = next_preparation();
        arm_for(
            std::min(*expiry, preparation) <= begin
                ? saturating_add(begin, std::clamp(slack.load() / 4 * 3, takeover_delay / 2, takeover_delay))
                : std::min(wake_up_for(*expiry), preparation));
    }

    void arm_for(time_point wake_up) {
        if (!timer_.fires_by(wake_up) && !manual_now_ && !shut_down_ && !turn_.is_posted())
            timer_.arm(wake_up);
    }

    friend wake_up_timer<scheduled_waits>;
    friend posted_turn<scheduled_waits>;
    void on_timer() {
        take_turn([this] { timer_.on_fired(); });
    }
    void on_posted_turn() {
        take_turn([this] { turn_.on_begun(); });
    }

    template <typename Note>
    void take_turn(Note note_why) {
        time_point const begin = now();
        unsigned moves = manual_now_ ? unlimited : moves_per_turn;
        wait_node* node = begin_turn(begin, moves, note_why);
        for (unsigned ended = 1; node; ++ended) {
            if (end(*node) == due::no_memory)
                return pause();
            if (ended == waits_per_turn && !manual_now_)
                break;
            node = take_due(begin, moves);
        }
        end_turn(begin, moves, node != nullptr);
    }

    template <typename Note>
    wait_node* begin_turn(time_point begin, unsigned& moves, Note note_why) {
        std::lock_guard const lock(mutex_);
        note_why();
        waits_.admit(); // what has arrived before this turn
        bool const may_end = !timer_.is_held(begin) && !turn_.is_posted();
        wait_node* const first = may_end ? waits_.take_due(begin, tolerance(), moves) : nullptr;
        arm_ahead(begin);
        return first;
    }

    void end_turn(time_point begin, unsigned moves, bool has_more) {
        auto const in = enter();
        if (!manual_now_ && waits_.size() > portion)
            waits_.prepare(begin, tolerance(), moves);
        bool const is_behind =
            !timer_.is_held(begin) && (has_more || moves == 0 || next_preparation() <= begin);
        if (is_behind && (!waits_.empty() || waits_.any_ended_early())) {
            if (!turn_.post()) // the turn goes on after other handlers
                arm_for(begin);
        } else {
            arm_for_rest();
        }
    }

    void arm_for_rest() {
        if (waits_.any_ended_early())
            arm_for(at_once);
        else if (waits_.empty())
            timer_.disarm();
        else
            arm();
    }

    /// Stops until there may be memory again.
    void pause() {
        auto const in = enter();
        timer_.hold_until(saturating_add(now(), pause_without_memory));
        arm_for_rest();
    }

    bool const has_one_thread_;
    unsigned begun_ = 0;
    brief_mutex mutex_;
    pending_waits waits_;
    wake_up_timer<scheduled_waits> timer_;
    posted_turn<scheduled_waits> turn_;
    manual_time manual_now_;
    duration slack_before_{}; // the slack before the manual clock, to be restored
    bool shut_down_ = false;
};

} // namespace asio_retry::detail
