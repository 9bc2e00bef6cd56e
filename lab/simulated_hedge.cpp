#include "simulated_hedge.hpp"

#include <asio_retry/error.hpp>
#include <asio_retry/traffic/hedge_machine.hpp>

#include <array>
#include <memory>
#include <utility>

namespace asio_retry::lab {
namespace {

class hedged_call : public std::enable_shared_from_this<hedged_call> {
public:
    hedged_call(event_queue& events, hedge_policy const& policy, std::function<duration()> draw,
                std::function<void(hedge_end const&)> done)
        : events_(events)
        , draw_(std::move(draw))
        , done_(std::move(done))
        , began_(events.now())
        , machine_(policy, attempts_) {
        machine_.start(began_);
    }

    void act() {
        for (;;) {
            hedge_action const action = machine_.next(events_.now());
            switch (action.what) {
            case hedge_action::kind::begin:
                begin(action.attempt);
                continue;
            case hedge_action::kind::stop:
                stop_all();
                continue;
            case hedge_action::kind::deliver:
                done_({events_.now() - began_, events_.now() - attempts_[action.attempt - 1].began,
                       machine_.begun()});
                continue;
            case hedge_action::kind::wait:
                return wake(action.until);
            case hedge_action::kind::done:
            case hedge_action::kind::abandon:
                return;
            }
        }
    }

private:
    void begin(std::uint64_t number) {
        events_.after(draw_(), [self = shared_from_this(), number] {
            if (!self->machine_.is_running(number))
                return; // the attempt was stopped
            self->machine_.on_success(number, self->events_.now());
            self->act();
        });
    }

    void stop_all() {
        static verdict const stopped = verdict::failure(detail::aborted_error());
        for (std::uint64_t number = 1; number <= machine_.begun(); ++number)
            if (machine_.is_running(number))
                machine_.on_failure(number, stopped, events_.now());
    }

    void wake(time_point when) {
        if (when == time_point::max() || when == std::exchange(wakes_at_, when))
            return;
        events_.at(when, [self = shared_from_this(), when] {
            if (self->wakes_at_ == when && self->machine_.running() > 0)
                self->act();
        });
    }

    event_queue& events_;
    std::function<duration()> draw_;
    std::function<void(hedge_end const&)> done_;
    time_point const began_;
    time_point wakes_at_ = time_point::max();
    std::array<hedged_attempt, 16> attempts_;
    hedge_machine machine_;
};

} // namespace

void simulate_hedge(event_queue& events, hedge_policy const& policy, std::function<duration()> draw,
                    std::function<void(hedge_end const&)> done) {
    std::make_shared<hedged_call>(events, policy, std::move(draw), std::move(done))->act();
}

} // namespace asio_retry::lab
