#include <asio_retry/retry_scheduler.hpp>

#include <asio_retry/detail/check.hpp>

#include "timing_wheel.hpp"
#include "wake_up_timer.hpp"

#include <boost/asio/bind_allocator.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/recycling_allocator.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <mutex>
#include <new>
#include <optional>
#include <stdexcept>
#include <utility>

namespace asio_retry {

std::atomic<std::size_t> retry_scheduler::seeded_ = 0;

class retry_scheduler::impl {
public:
    explicit impl(boost::asio::execution_context& context)
        : waits_(std::chrono::steady_clock::now())
        , timer_(context, *this)
        , seed_(entropy_seed()) {}

    time_point now() const noexcept { return manual_now_ ? *manual_now_ : std::chrono::steady_clock::now(); }

    std::size_t pending() const noexcept {
        std::lock_guard const lock(mutex_);
        return waits_.size();
    }

    bool schedule(detail::wait_node& node, time_point expiry) {
        std::lock_guard const lock(mutex_);
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

    bool cancel(detail::wait_node& node) noexcept {
        std::lock_guard const lock(mutex_);
        if (!node.is_linked())
            return false;
        take_back(node);
        return true;
    }

    bool end_early(detail::wait_node& node, boost::asio::io_context& here) noexcept {
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
        detail::wait_node* const node = take_due(limit);
        return node ? end(*node) : due::none;
    }

    detail::wait_node* shut_down() noexcept {
        std::lock_guard const lock(mutex_);
        shut_down_ = true;
        timer_.destroy(); // its own service is destroyed before this one
        detail::wait_node* const ended = take_ended_early();
        return ended ? ended : waits_.take_any();
    }

    ~impl() {
        if (is_seeded_)
            seeded_.fetch_sub(1, std::memory_order_relaxed);
    }

    void reseed(std::uint64_t value) noexcept {
        seed_ = value;
        if (!std::exchange(is_seeded_, true))
            seeded_.fetch_add(1, std::memory_order_relaxed);
        next_stream_.store(0, std::memory_order_relaxed);
    }

    void on_fork() {
        if (!is_seeded_)
            seed_ = entropy_seed();
    }

    random next_random() noexcept {
        return random(seed_, next_stream_.fetch_add(1, std::memory_order_relaxed));
    }

    void stop_clock() {
        std::lock_guard const lock(mutex_);
        if (manual_now_)
            throw std::logic_error("virtual_time: the context has a virtual_time already");
        if (!waits_.empty())
            throw std::logic_error("virtual_time: construct it before the first wait on the context");
        manual_now_ = std::chrono::steady_clock::now();
        before_manual_ = {slack, seed_, next_stream_.load(std::memory_order_relaxed), is_seeded_};
    }

    void restart_clock() {
        std::lock_guard const lock(mutex_);
        manual_now_.reset();
        waits_.restart(now());
        slack = before_manual_.slack;
        seed_ = before_manual_.seed;
        next_stream_.store(before_manual_.next_stream, std::memory_order_relaxed);
        if (std::exchange(is_seeded_, before_manual_.seeded) && !is_seeded_)
            seeded_.fetch_sub(1, std::memory_order_relaxed);
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
    // Where waits are few, to share wake-ups saves nothing.
    static constexpr std::size_t few = 16;

    static constexpr time_point at_once{};

    static constexpr duration pause_without_memory = std::chrono::milliseconds(1);

    // A turn that takes longer is not the only one any more.
    static constexpr duration hand_over = std::chrono::milliseconds(1);

    // Other handlers of the context run in between.
    static constexpr int waits_per_turn = 64;

    detail::wait_node* take_due(time_point limit) noexcept {
        std::lock_guard const lock(mutex_);
        return first_due(limit);
    }

    due end(detail::wait_node& node) {
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
    void end_early(detail::wait_node& node) noexcept {
        detail::timing_wheel::set_early(node);
        ended_early_.push_back(node);
    }

    detail::wait_node* take_ended_early() noexcept {
        if (ended_early_.empty())
            return nullptr;
        detail::wait_node& node = ended_early_.front();
        ended_early_.pop_front();
        return &node;
    }

    void take_back(detail::wait_node& node) noexcept {
        if (node.was_ended_early()) {
            ended_early_.erase(detail::timing_wheel::list::s_iterator_to(node));
            return;
        }
        waits_.erase(node);
        if (waits_.empty())
            timer_.disarm();
        else if (waits_.size() == few)
            arm(); // from here on they are exact
    }

    detail::wait_node* first_due(time_point limit) noexcept {
        detail::wait_node* const node = take_ended_early();
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

    void on_posted_turn() {
        {
            std::lock_guard const lock(mutex_);
            turn_posted_ = false;
        }
        take_turn();
    }

    friend detail::wake_up_timer<impl>;
    void on_timer() {
        {
            std::lock_guard const lock(mutex_);
            timer_.on_fired();
        }
        take_turn();
    }

    void take_turn() {
        time_point const begin = now();
        detail::wait_node* node = begin_turn(begin);
        for (int ended = 1; node; ++ended) {
            if (end(*node) == due::no_memory)
                return pause();
            if (ended == waits_per_turn && !manual_now_)
                return go_on(begin); // when others have had their turn
            node = take_due(begin);
        }
        end_turn();
    }

    detail::wait_node* begin_turn(time_point begin) {
        std::lock_guard const lock(mutex_);
        detail::wait_node* const first = timer_.is_held(begin) ? nullptr : first_due(begin);
        arm_ahead(begin);
        return first;
    }

    void end_turn() {
        std::lock_guard const lock(mutex_);
        arm_for_rest();
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
    detail::timing_wheel waits_;
    detail::timing_wheel::list ended_early_;
    detail::wake_up_timer<impl> timer_;
    bool turn_posted_ = false;
    std::optional<time_point> manual_now_;
    struct settings {
        duration slack{};
        std::uint64_t seed = 0;
        std::uint64_t next_stream = 0;
        bool seeded = false;
    };
    settings before_manual_;
    bool shut_down_ = false;
    bool is_seeded_ = false;
    std::uint64_t seed_;
    std::atomic<std::uint64_t> next_stream_ = 0;
};

boost::asio::execution_context::id retry_scheduler::id;

retry_scheduler::retry_scheduler(boost::asio::execution_context& context)
    : boost::asio::execution_context::service(context)
    , impl_(std::make_unique<impl>(context)) {}

retry_scheduler::~retry_scheduler() = default;

retry_scheduler& retry_scheduler::slack(duration greatest) {
    impl_->set_slack(detail::non_negative("slack", greatest));
    return *this;
}

duration retry_scheduler::slack() const noexcept {
    return impl_->slack;
}

retry_scheduler& retry_scheduler::seed(std::uint64_t value) noexcept {
    impl_->reseed(value);
    return *this;
}

std::size_t retry_scheduler::pending() const noexcept {
    return impl_->pending();
}

time_point retry_scheduler::now() const noexcept {
    return impl_->now();
}

bool retry_scheduler::schedule(detail::wait_node& node, time_point expiry) {
    return impl_->schedule(node, expiry);
}

bool retry_scheduler::cancel(detail::wait_node& node) noexcept {
    return impl_->cancel(node);
}

bool retry_scheduler::end_early(detail::wait_node& node, boost::asio::io_context& here) noexcept {
    return impl_->end_early(node, here);
}

random retry_scheduler::next_random() noexcept {
    return impl_->next_random();
}

void retry_scheduler::shutdown() {
    while (detail::wait_node* const node = impl_->shut_down())
        node->on_shutdown();
}

void retry_scheduler::notify_fork(boost::asio::execution_context::fork_event event) {
    if (event == boost::asio::execution_context::fork_child)
        impl_->on_fork();
}

void retry_scheduler::stop_clock() {
    impl_->stop_clock();
}

void retry_scheduler::restart_clock() {
    impl_->restart_clock();
}

bool retry_scheduler::advance_to_next_expiry(time_point limit) {
    auto const next = impl_->next_expiry();
    if (!next || *next > limit)
        return false;
    impl_->advance_clock(*next);
    impl::due const first = impl_->end_due(*next);
    if (first == impl::due::no_memory)
        throw std::bad_alloc();
    return first == impl::due::ended;
}

void retry_scheduler::advance_clock(time_point to) noexcept {
    impl_->advance_clock(to);
}

void retry_scheduler::set_clock(time_point to) noexcept {
    impl_->set_clock(to);
}

retry_scheduler& scheduler(boost::asio::execution_context& context) {
    return boost::asio::use_service<retry_scheduler>(context);
}

} // namespace asio_retry
