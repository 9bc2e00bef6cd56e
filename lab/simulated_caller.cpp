#include "simulated_caller.hpp"

#include "draw.hpp"

#include <asio_retry/error.hpp>
#include <asio_retry/retry_machine.hpp>

#include <cmath>
#include <utility>

namespace asio_retry::lab {

class simulated_call : public std::enable_shared_from_this<simulated_call> {
public:
    simulated_call(simulated_caller& caller, std::function<void(bool)> done)
        : caller_(caller)
        , machine_(caller.policy_)
        , done_(std::move(done)) {}

    void start() {
        if (caller_.chooser_) {
            machine_.choose_with(*caller_.chooser_);
            machine_.draw_from(caller_.source_);
        }
        act(machine_.start(now(), caller_.source_));
    }

    void succeed(std::uint64_t number) {
        if (number != running_)
            return;
        running_ = 0;
        machine_.on_success(now());
        done_(true);
    }

    void fail(std::uint64_t number, verdict const& why) {
        if (number != running_)
            return;
        running_ = 0;
        act(machine_.on_failure(why, now(), caller_.source_));
    }

private:
    time_point now() const { return caller_.events_.now(); }

    void act(retry_action const& action) {
        switch (action.what) {
        case retry_action::kind::attempt:
            return begin_attempt();
        case retry_action::kind::wait:
            return caller_.events_.after(action.delay, [self = shared_from_this()] {
                self->act(self->machine_.on_wait_over(self->now(), self->caller_.source_));
            });
        case retry_action::kind::complete:
            return done_(false);
        }
    }

    void begin_attempt() {
        running_ = machine_.current_attempt().number;
        time_point const limit = machine_.attempt_limit(now());
        if (limit != time_point::max())
            caller_.events_.at(
                limit, [self = shared_from_this(), number = running_, limit] { self->expire(number, limit); });
        caller_.attempt_({shared_from_this(), running_, machine_.current_attempt().deadline});
    }

    void expire(std::uint64_t number, time_point limit) {
        static verdict const stopped = verdict::failure(detail::aborted_error());
        if (number != running_)
            return;
        machine_.on_attempt_limit(limit);
        fail(number, stopped);
    }

    simulated_caller& caller_;
    retry_machine machine_;
    std::function<void(bool)> done_;
    std::uint64_t running_ = 0; // number of the running attempt; 0 between attempts
};

void running_attempt::succeed() const {
    call_->succeed(number_);
}

void running_attempt::fail(verdict const& why) const {
    call_->fail(number_, why);
}

void simulated_caller::call(std::function<void(bool)> done) {
    std::make_shared<simulated_call>(*this, std::move(done))->start();
}

namespace {

struct random_times : std::enable_shared_from_this<random_times> {
    random_times(event_queue& queue, double per_second, time_point until, random own, std::function<void()> f)
        : events(queue)
        , mean_ns(1e9 / per_second)
        , end(until)
        , source(own)
        , what(std::move(f)) {}

    void go_on() {
        time_point const next = events.now() + duration(std::llround(-std::log(drawn_share(source)) * mean_ns));
        if (next < end)
            events.at(next, [self = shared_from_this()] {
                self->what();
                self->go_on();
            });
    }

    event_queue& events;
    double mean_ns;
    time_point end;
    random source;
    std::function<void()> what;
};

} // namespace

void at_random_times(event_queue& events, double per_second, time_point end, random source,
                     std::function<void()> what) {
    std::make_shared<random_times>(events, per_second, end, source, std::move(what))->go_on();
}

} // namespace asio_retry::lab
