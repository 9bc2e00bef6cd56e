#pragma once

// An operation with the real driver and the real life, in a world of choices: whatever happens to it, and when,
// is chosen by a walk. It has a machine that decides as little as possible, and no types, no Asio and no
// scheduler.

#include "operation/driver_loop.hpp"

#include <asio_retry/detail/scope/scope_state.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

namespace asio_retry::test {

/// What a walk asks: one of `count` alternatives.
using choice = std::function<unsigned(unsigned count)>;

/// What may happen in a walk.
struct walk_shape {
    bool is_scoped = false;
    bool has_limit = false;       ///< each attempt has a time limit
    bool can_be_cancelled = true; ///< by the caller
    bool may_drop = false;        ///< handlers and turns may be destroyed, as by a context that ends
    bool may_lack_memory = false; ///< for turns
    bool may_run_at_once = false; ///< a turn may run, or be destroyed, inside the call that queues it
};

/// What surrounds an operation. It counts what must not be lost.
struct walk_world {
    explicit walk_world(walk_shape const& given_shape, choice given_choice)
        : shape(given_shape)
        , choose(std::move(given_choice)) {}

    walk_shape shape;
    choice choose;

    std::vector<detail::operation_turn> turns; // queued
    int posts = 0;                             // since the last event
    bool has_timer = false;
    bool is_linked = false;
    bool is_being_told = false; // by the scope
    detail::timed_request request;
    int delivered = 0;
    int dissolved = 0;
    bool is_returning = false; // the handler has been called, and attempts still run
    bool lost_something = false;
    std::string faults;

    void fault(std::string const& what) { faults += what + "; "; }
    bool has_ended() const { return delivered + dissolved != 0 && !is_staying; }
    bool is_staying = false;
    bool is_initiating = false;
    bool runs_users_code = true; ///< false in a cancellation and in a context that is destroyed
};

/// As long as it lives, the user's code is not to run.
class without_users_code {
public:
    explicit without_users_code(walk_world& world) noexcept
        : world_(world)
        , before_(std::exchange(world.runs_users_code, false)) {}
    without_users_code(without_users_code const&) = delete;
    without_users_code& operator=(without_users_code const&) = delete;
    ~without_users_code() { world_.runs_users_code = before_; }

private:
    walk_world& world_;
    bool const before_;
};

/// The scope, as a driver sees it.
class walked_scope {
public:
    explicit walked_scope(walk_world& world)
        : world_(world) {}

    bool unlink(bool) noexcept {
        if (world_.is_being_told)
            return false;
        world_.is_linked = false;
        return true;
    }
    detail::timed_request take_request() noexcept {
        if (!std::exchange(world_.is_being_told, false))
            return {};
        return std::exchange(world_.request, {});
    }
    void miss_request() noexcept {
        world_.is_being_told = false;
        world_.request = {};
        world_.lost_something = true;
    }

private:
    walk_world& world_;
};

/// `Most` is 1 for a retry; a hedge delivers its result while the other attempts run.
template <unsigned Most>
class walked_operation final : public detail::driver<walked_operation<Most>, Most> {
    using base = detail::driver<walked_operation, Most>;
    friend base;
    using typename base::plan;
    using typename base::plan_kind;
    using typename base::question;
    using state = detail::attempt_state;

    struct walked_attempt : state {
        explicit walked_attempt(unsigned number)
            : state(false, number) {}
        bool runs = false;
        bool is_owed_a_stop = false; // somebody has asked for it
        bool is_unjudged = false;    // it has completed
    };

public:
    explicit walked_operation(walk_world& world)
        : world_(world)
        , scope_(world) {
        for (unsigned number = 1; number <= Most; ++number)
            attempts_.emplace_back(number);
    }

    // --- what happens to it

    void start() {
        using interrupter = typename base::life::interrupter;
        if (Most == 1)
            this->life_.let_interrupt(world_.shape.is_scoped          ? interrupter::any_scope
                                      : world_.shape.has_limit        ? interrupter::time_limit
                                      : world_.shape.can_be_cancelled ? interrupter::caller
                                                                      : interrupter::nobody);
        if (world_.shape.is_scoped) {
            world_.is_linked = true;
            this->life_.link();
        }
        if (world_.choose(2) == 1) {
            this->life_.ask_for_start();
            return this->go_on();
        }
        this->go_on_with(begin());
    }

    unsigned running() const {
        return static_cast<unsigned>(
            std::count_if(attempts_.begin(), attempts_.end(), [](auto const& one) { return one.runs; }));
    }
    bool runs(unsigned number) const { return attempts_[number - 1].runs; }

    void end(unsigned number, bool has_failed) {
        walked_attempt& one = attempts_[number - 1];
        one.runs = false;
        one.is_unjudged = true;
        one.complete(has_failed);
        this->on_attempt_ended(one);
    }
    void destroy_handler(unsigned number) {
        attempts_[number - 1].runs = false;
        world_.lost_something = true;
        without_users_code const guard(world_);
        this->on_attempt_dropped(attempts_[number - 1]);
    }
    void lose_coroutine(unsigned number) {
        attempts_[number - 1].runs = false;
        without_users_code const guard(world_);
        this->on_attempt_lost(attempts_[number - 1]);
    }
    void cancel_by_caller() {
        owe();
        without_users_code const guard(world_);
        this->on_cancelled(asio::cancellation_type::terminal);
    }
    void ask(detail::scope_request what) {
        world_.request = std::max(world_.request, detail::timed_request{what, duration::zero()});
        if (what == detail::scope_request::cancel)
            owe();
        if (std::exchange(world_.is_being_told, true))
            return;
        try {
            this->post_scope_notice();
        } catch (std::bad_alloc const&) {
            forget_requests();
            this->on_scope_notice_failed();
        }
    }
    void expire() {
        world_.has_timer = false;
        if (running() != 0 && Most == 1)
            owe();
        // What runs on the context of the scheduler is not queued.
        if (this->life_.waits() && world_.choose(2) == 1)
            return this->on_turn(detail::operation_turn::after_wait);
        walk_world& world = world_;
        if (this->on_expiry())
            return;
        world.has_timer = true; // there was no memory: again, later
        forget_requests();
    }
    void return_from_handler() {
        world_.is_returning = false;
        this->on_handler_returned();
    }

    /// The context of the executor ends, or has ended.
    void drop_turn(detail::operation_turn turn) noexcept {
        world_.lost_something = true;
        forget_requests();
        without_users_code const guard(world_);
        this->on_turn_dropped(turn);
    }

    /// Who should have told the attempts is gone, with a context that ends, or for want of memory.
    void forget_requests() {
        for (walked_attempt& one : attempts_)
            one.is_owed_a_stop = false;
    }

    /// Whether an attempt has not been told of a request to stop that came while it ran. Without its executor
    /// the operation asks no machine, and so tells nobody.
    bool owes() const {
        return this->life_.has_executor() &&
               std::any_of(attempts_.begin(), attempts_.end(),
                           [](auto const& one) { return one.runs && one.is_owed_a_stop; });
    }

    /// Whether a wait goes on though it was to end.
    bool waits_in_vain() const {
        return Most == 1 && is_stopping_ && running() == 0 && world_.has_timer && !ends_early_;
    }

    /// All that decides how it goes on.
    std::string fingerprint() const {
        auto const* const bytes = reinterpret_cast<char const*>(&this->life_);
        std::string result(bytes, sizeof this->life_);
        for (walked_attempt const& one : attempts_)
            result += {static_cast<char>(one.runs), static_cast<char>(one.outcome),
                       static_cast<char>(one.is_owed_a_stop)};
        result += {static_cast<char>(begun_),
                   static_cast<char>(has_result_),
                   static_cast<char>(is_stopping_),
                   static_cast<char>(has_to_stop_),
                   static_cast<char>(ends_early_),
                   static_cast<char>(world_.has_timer),
                   static_cast<char>(world_.is_linked),
                   static_cast<char>(world_.is_being_told),
                   static_cast<char>(world_.request.what),
                   static_cast<char>(world_.is_returning),
                   static_cast<char>(world_.delivered)};
        for (auto const turn : world_.turns)
            result += static_cast<char>(turn);
        return result;
    }

private:
    static constexpr bool arms_before_start = Most == 1;
    static constexpr int most_posts = 20; // of one event

    void owe() {
        for (walked_attempt& one : attempts_)
            one.is_owed_a_stop = one.runs;
    }

    // --- for the driver: what a context, a scheduler and a scope do

    void post(detail::operation_turn turn) {
        if (++world_.posts > most_posts) {
            world_.fault("an event queues turns without end");
            return world_.turns.push_back(turn);
        }
        if (world_.shape.may_lack_memory && world_.choose(3) == 2)
            throw std::bad_alloc();
        switch (world_.shape.may_run_at_once ? world_.choose(world_.shape.may_drop ? 3 : 2) : 0) {
        case 1:
            return run_at_once(turn);
        case 2:
            return drop_turn(turn);
        default:
            world_.turns.push_back(turn);
        }
    }
    void run_at_once(detail::operation_turn turn) {
        walk_world& world = world_;
        bool const initiates = std::exchange(world.is_initiating, false);
        bool const runs = std::exchange(world.runs_users_code, true);
        try {
            this->on_turn(turn);
        } catch (...) { // queue_turn keeps it, because the turn has run
        }
        world.is_initiating = initiates;
        world.runs_users_code = runs;
    }
    walked_scope* membership() noexcept { return &scope_; }
    bool schedule_timer(time_point) {
        if (world_.shape.may_drop && world_.choose(2) == 1) { // the context is being destroyed
            world_.lost_something = true;
            return false;
        }
        ends_early_ = false;
        return world_.has_timer = true;
    }
    bool cancel_timer() noexcept { return std::exchange(world_.has_timer, false); }
    bool end_timer_early() { // then it expires at any time
        ends_early_ = world_.has_timer && world_.choose(2) == 1;
        return ends_early_;
    }
    static asio::io_context* own_context() noexcept { return nullptr; }
    static asio::execution_context& context() { throw std::logic_error("there is no context"); }
    static void forget_caller() noexcept {}
    static void forget_waiting_place() noexcept {}
    static void end_attempts() noexcept {}
    static void leave_queue() noexcept {}
    time_point now() { return {}; }

    // --- what types do

    state& attempt(unsigned number) noexcept { return attempts_[Most == 1 ? 0 : number - 1]; }

    void start_attempt(state& which) {
        auto& one = static_cast<walked_attempt&>(which);
        if (one.runs)
            world_.fault("an attempt starts that runs");
        one.runs = true;
        one.is_owed_a_stop = false;
        switch (world_.choose(world_.shape.may_drop ? 6 : 5)) {
        case 1:
            return end(one.number(), true);
        case 2:
            return end(one.number(), false);
        case 3: // it throws, and keeps no handler
            one.runs = false;
            this->on_attempt_dropped(one);
            throw std::runtime_error("initiation");
        case 4:
            if (world_.shape.can_be_cancelled)
                cancel_by_caller();
            return;
        case 5:
            return destroy_handler(one.number());
        default:
            return;
        }
    }
    void signal_attempt(state& which, asio::cancellation_type_t) {
        auto& one = static_cast<walked_attempt&>(which);
        if (!one.runs)
            world_.fault("an attempt is told that has ended");
        one.is_owed_a_stop = false;
        switch (world_.choose(3)) {
        case 1:
            return end(one.number(), true);
        case 2:
            end(one.number(), true);
            throw std::runtime_error("emission");
        default: // it does not hear
            return;
        }
    }
    void put_failure(state& which, error_code const&, std::exception_ptr const&) { which.complete(true); }
    void go_without_result(std::exception_ptr&) noexcept {}
    void drop_attempt(state&) noexcept {}
    bool may_end_here(state const& which) const noexcept { return which.outcome == state::fate::succeeded; }
    bool has_end() const noexcept { return has_result_; }
    bool succeeds_at_once(state const& which) {
        if (Most != 1 || which.outcome != state::fate::succeeded)
            return false;
        if (this->life_.is_linked()) {
            if (!membership()->unlink(true))
                return false;
            this->life_.unlinked();
        }
        attempts_[0].is_unjudged = false;
        forget_caller();
        deliver();
        return true;
    }

    // --- the machine

    plan begin() {
        ++begun_;
        plan result;
        result.what = plan_kind::begin;
        result.attempt = static_cast<unsigned char>(begun_);
        if (Most == 1 ? world_.shape.has_limit : begun_ < Most)
            result.until = time_point();
        return result;
    }
    static plan of(plan_kind what) {
        plan result;
        result.what = what;
        return result;
    }
    plan wait() {
        plan result;
        result.what = Most == 1 && world_.choose(2) == 1 ? plan_kind::turn : plan_kind::wait;
        result.until = time_point();
        return result;
    }
    plan known() {
        has_result_ = true;
        return of(plan_kind::deliver);
    }

    plan next(question why) {
        // The machine runs the user's code. Without memory for a turn the operation goes on as on its executor.
        if (!world_.runs_users_code && !this->life_.is_on_executor())
            world_.fault("the machine is asked in a cancellation");
        if constexpr (Most != 1)
            return next_of_hedge();
        switch (why) {
        case question::none:
        case question::after_event:
            return {};
        case question::start:
            return world_.choose(2) == 1 ? known() : begin();
        case question::failure:
            return known();
        case question::timer:
            break;
        }
        if (this->life_.running() == 0 &&
            (world_.has_timer || this->life_.armed_for() != base::life::timer::none))
            world_.fault("a wait ends twice");
        if (this->life_.running() != 0)
            return of(plan_kind::stop);
        return is_stopping_ || world_.choose(2) == 1 ? known() : begin();
    }
    void on_told_of_limit() noexcept {
        if (Most == 1 && world_.choose(2) == 1) // another limit follows
            this->watch(time_point());
    }

    plan next_of_hedge() {
        if (std::exchange(has_to_stop_, false))
            return of(plan_kind::stop);
        if (has_result_)
            return this->life_.running() == 0 ? plan() : never();
        if (is_successful_ || (this->life_.running() == 0 && (is_stopping_ || begun_ == Most)))
            return known();
        if (begun_ == 0 || (!is_stopping_ && begun_ < Most && world_.choose(2) == 1))
            return begin();
        return is_stopping_ || begun_ == Most ? never() : wait();
    }
    static plan never() { return of(plan_kind::wait); }

    plan judge(state& which, std::exception_ptr&) {
        static_cast<walked_attempt&>(which).is_unjudged = false;
        if (this->life_.is_in_initiation() && !may_end_here(which) && !world_.shape.may_lack_memory)
            world_.fault("a failure is judged in the initiating function");
        if (!world_.runs_users_code && !this->life_.is_on_executor())
            world_.fault("a result is judged in a cancellation, or in a context that is being destroyed");
        if constexpr (Most != 1) {
            is_successful_ = is_successful_ || which.outcome == state::fate::succeeded;
            if (which.outcome == state::fate::dropped && this->life_.running() == 0 && !has_result_)
                return of(plan_kind::abandon);
            has_to_stop_ = has_to_stop_ || (is_successful_ && !has_result_);
            this->life_.end_initiation_here();
            if (this->life_.may_ask())
                return next_of_hedge();
            this->life_.ask();
            return {};
        }
        if (which.outcome == state::fate::dropped)
            return of(plan_kind::abandon);
        return which.outcome == state::fate::succeeded || is_stopping_ || begun_ >= 2 ? known() : wait();
    }
    void fail(error_code const&, std::exception_ptr const&) noexcept {
        is_stopping_ = true;
        is_successful_ = Most != 1;
    }
    detail::interruption_wish cancel(asio::cancellation_type_t) {
        is_stopping_ = true;
        bool const runs = this->life_.running() != 0;
        return {.tells = Most != 1 || runs, .cuts = Most == 1 && !runs, .asks = Most != 1};
    }
    detail::interruption_wish obey(detail::timed_request const& request) {
        using enum detail::scope_request;
        if (request.what == none)
            return {};
        is_stopping_ = is_stopping_ || request.what >= drain;
        bool const runs = this->life_.running() != 0;
        if (Most != 1)
            has_to_stop_ = has_to_stop_ || (request.what == scope_cancel && runs);
        return {.tells = Most == 1 && runs && request.what == scope_cancel, .cuts = Most == 1 && !runs};
    }
    static constexpr auto scope_cancel = detail::scope_request::cancel;

    // --- the end

    void end_life(int& counter) {
        if (this->world_.has_ended())
            world_.fault("it ends twice");
        ++counter;
        if (running() != 0)
            world_.fault("an attempt still runs");
        if (!world_.lost_something &&
            std::any_of(attempts_.begin(), attempts_.end(), [](auto const& one) { return one.is_unjudged; }))
            world_.fault("an attempt has not been judged");
        if (world_.has_timer)
            world_.fault("the timer is still armed");
        if (world_.is_linked)
            world_.fault("the scope still knows it");
        if (!world_.turns.empty() || world_.is_returning)
            world_.fault("a turn may still come");
        world_.is_staying = false;
        delete this;
    }
    void deliver() {
        if (world_.is_initiating)
            world_.fault("the initiating function calls the handler");
        end_life(world_.delivered);
    }
    void deliver_later() {
        try {
            post(detail::operation_turn::delivery);
        } catch (...) { // the caller is told
            world_.lost_something = true;
            dissolve();
            throw;
        }
    }
    void deliver_and_stay() {
        if (std::exchange(world_.is_staying, true))
            world_.fault("it is delivered twice");
        ++world_.delivered;
        world_.is_returning = true;
        this->let_others_in();
    }
    void dissolve() noexcept {
        if (world_.is_staying) {
            int counted = 0;
            return end_life(counted);
        }
        end_life(world_.dissolved);
    }

    walk_world& world_;
    walked_scope scope_;
    std::vector<walked_attempt> attempts_;
    unsigned begun_ = 0;
    bool has_result_ = false;
    bool is_stopping_ = false;
    bool is_successful_ = false;
    bool has_to_stop_ = false;
    bool ends_early_ = false;
};

/// One walk, of up to `events` events.
template <unsigned Most>
class walk {
public:
    walk(walk_shape const& shape, choice choose)
        : world_(shape, std::move(choose))
        , operation_(new walked_operation<Most>(world_)) {}

    /// `is_new` is told what decides how it goes on, and how many events are left; the walk ends unless it
    /// returns true.
    template <typename IsNew>
    std::string run(int events, IsNew is_new) {
        note("start");
        world_.is_initiating = true;
        act([&] { operation_->start(); });
        world_.is_initiating = false;
        check();
        while (events-- > 0 && !world_.has_ended() && is_new(operation_->fingerprint(), events)) {
            happen();
            check();
        }
        finish();
        return faults();
    }

private:
    std::string faults() const { return world_.faults.empty() ? "" : trace_ + world_.faults; }

    void note(std::string const& what) { trace_ += what + ", "; }

    /// What the user's code throws comes out, and changes nothing.
    template <typename Act>
    void act(Act what) {
        world_.posts = 0;
        try {
            what();
        } catch (std::exception const& e) {
            note(std::string("throws ") + e.what());
        }
    }

    void check() {
        if (!world_.has_ended()) {
            note(std::string("[") + (world_.has_timer ? "timer " : "") + std::to_string(world_.turns.size()) +
                 " turns, " + std::to_string(operation_->running()) + " run]");
        }
        bool const is_quiet = world_.turns.empty() && !world_.is_being_told && !world_.is_returning;
        if (!world_.has_ended() && is_quiet && operation_->owes())
            world_.fault("an attempt runs that was not told to stop");
        if (!world_.has_ended() && is_quiet && operation_->waits_in_vain())
            world_.fault("a wait goes on that was to end");
    }

    void run_turn(std::size_t which) {
        auto const turn = world_.turns[which];
        world_.turns.erase(world_.turns.begin() + static_cast<std::ptrdiff_t>(which));
        note("turn " + std::to_string(static_cast<int>(turn)));
        act([&] { operation_->on_turn(turn); });
    }

    void drop_turn(std::size_t which) {
        auto const turn = world_.turns[which];
        world_.turns.erase(world_.turns.begin() + static_cast<std::ptrdiff_t>(which));
        note("drop turn " + std::to_string(static_cast<int>(turn)));
        operation_->drop_turn(turn);
    }

    /// One of the events that may happen now.
    void happen() {
        std::vector<std::function<void()>> may;
        auto const add = [&](std::string const& name, auto what) {
            may.push_back([this, name, what] {
                note(name);
                act(what);
            });
        };
        auto const& shape = world_.shape;
        for (unsigned number = 1; number <= Most; ++number)
            if (operation_->runs(number)) {
                add("fail", [this, number] { operation_->end(number, true); });
                add("succeed", [this, number] { operation_->end(number, false); });
                if (shape.may_drop)
                    add("destroy", [this, number] { operation_->destroy_handler(number); });
                if (shape.may_lack_memory)
                    add("lose", [this, number] { operation_->lose_coroutine(number); });
            }
        for (std::size_t i = 0; i != world_.turns.size(); ++i) {
            may.push_back([this, i] { run_turn(i); });
            if (shape.may_drop)
                may.push_back([this, i] { drop_turn(i); });
        }
        if (world_.has_timer)
            add("expire", [this] { operation_->expire(); });
        if (world_.is_returning)
            add("return", [this] { operation_->return_from_handler(); });
        if (shape.can_be_cancelled && !world_.is_staying)
            add("cancel", [this] { operation_->cancel_by_caller(); });
        if (world_.is_linked)
            for (auto const what : {detail::scope_request::retry_now, detail::scope_request::drain,
                                    detail::scope_request::cancel})
                add("scope " + std::to_string(static_cast<int>(what)), [this, what] { operation_->ask(what); });
        if (!may.empty())
            may[world_.choose(static_cast<unsigned>(may.size()))]();
    }

    /// All that is under way comes, and all attempts end: then the operation has to end.
    void finish() {
        world_.shape.may_lack_memory = false;
        world_.shape.may_drop = false;
        world_.shape.may_run_at_once = false;
        world_.choose = [](unsigned) { return 1u; }; // which leads to an end
        for (int steps = 0; !world_.has_ended(); ++steps) {
            unsigned number = 1;
            while (number <= Most && !operation_->runs(number))
                ++number;
            if (steps > 100) {
                world_.fault("it never ends");
                return;
            }
            if (!world_.turns.empty())
                run_turn(0);
            else if (world_.is_returning)
                act([this] { operation_->return_from_handler(); });
            else if (number <= Most)
                act([&] { operation_->end(number, true); });
            else if (world_.has_timer)
                act([this] { operation_->expire(); });
            else
                return world_.fault("nobody goes on with it");
        }
        if (!world_.lost_something && world_.delivered != 1)
            world_.fault("it is not delivered");
    }

    walk_world world_;
    walked_operation<Most>* operation_; // destroys itself
    std::string trace_;
};

/// Makes choices one after another, such that all are made in the end.
class all_choices {
public:
    unsigned operator()(unsigned count) {
        if (at_ == taken_.size())
            taken_.push_back({0, count});
        return taken_[at_++].which;
    }
    /// Whether the next choice has been made in an earlier walk, and may be another one now.
    bool is_known() const noexcept { return at_ != taken_.size(); }

    /// Goes on to the next walk; returns false after the last one.
    bool advance() {
        taken_.resize(at_);
        at_ = 0;
        while (!taken_.empty() && taken_.back().which + 1 == taken_.back().count)
            taken_.pop_back();
        if (taken_.empty())
            return false;
        ++taken_.back().which;
        return true;
    }

private:
    struct one {
        unsigned which, count;
    };
    std::vector<one> taken_;
    std::size_t at_ = 0;
};

/// Walks through every order of up to `events` events, once for each situation that decides how the operation
/// goes on. Returns the first fault.
template <unsigned Most>
std::string fault_of_every_walk(walk_shape const& shape, int events) {
    all_choices choices;
    std::map<std::string, int> seen; // and how many events were left then
    do {
        auto const is_new = [&](std::string const& situation, int left) {
            if (choices.is_known())
                return true;
            auto const [at, is_inserted] = seen.try_emplace(situation, left);
            bool const has_more_time = at->second < left;
            at->second = std::max(at->second, left);
            return is_inserted || has_more_time;
        };
        std::string fault = walk<Most>(shape, std::ref(choices)).run(events, is_new);
        if (!fault.empty())
            return fault;
    } while (choices.advance());
    return "";
}

/// All shapes of a walk. A hedge has no time limit of an attempt.
template <unsigned Most>
std::vector<walk_shape> walk_shapes() {
    std::vector<walk_shape> result;
    for (bool const is_scoped : {false, true})
        for (bool const can_be_cancelled : {false, true})
            for (auto const& [drops, lacks, at_once] : {std::array{false, false, false},
                                                        {true, true, false},
                                                        {true, false, true},
                                                        {false, true, true}})
                for (bool const has_limit : {false, true})
                    if (Most == 1 || !has_limit)
                        result.push_back({is_scoped, has_limit, can_be_cancelled, drops, lacks, at_once});
    return result;
}

} // namespace asio_retry::test
