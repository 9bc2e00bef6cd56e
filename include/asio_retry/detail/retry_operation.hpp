#pragma once

#include <asio_retry/detail/asio.hpp>
#include <asio_retry/detail/attempt_handler.hpp>
#include <asio_retry/detail/attempt_health.hpp>
#include <asio_retry/detail/attempt_source.hpp>
#include <asio_retry/detail/completion.hpp>
#include <asio_retry/detail/decide.hpp>
#include <asio_retry/detail/initiation_frame.hpp>
#include <asio_retry/detail/late_value.hpp>
#include <asio_retry/detail/occupancy.hpp>
#include <asio_retry/detail/operation_block.hpp>
#include <asio_retry/detail/operation_executors.hpp>
#include <asio_retry/detail/operation_form.hpp>
#include <asio_retry/detail/queued_turn.hpp>
#include <asio_retry/detail/runs_here.hpp>
#include <asio_retry/detail/scope_membership.hpp>
#include <asio_retry/detail/wait_node.hpp>
#include <asio_retry/retry_machine.hpp>

#include <boost/asio/append.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>

#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace asio_retry::detail {

/// A retrying operation: one block of memory, from the handler's allocator, at one address until it completes.
///
/// It carries out what its retry_machine decides. It is always in the hands of exactly one owner: the handler
/// of the running attempt, the scheduler while it waits, or a queued turn. Besides, two sources may notify it:
/// a time limit of the attempt and its scope; while such a notice is under way the operation stays. What needs
/// its executor and cannot be queued there, for want of memory, is done where it stands.
template <typename Signature, typename Callable, typename WaitsOn, typename Handler, typename Membership>
class retry_operation final
    : private wait_node,
      private Membership::template member<retry_operation<Signature, Callable, WaitsOn, Handler, Membership>> {
    using member = typename Membership::template member<retry_operation>;
    friend member;
    using block = operation_block<retry_operation, Handler>;
    friend block;
    using form = operation_form<Callable>;
    using completion = detail::completion<Signature>;
    using arguments = typename completion::arguments;
    using executors = operation_executors<WaitsOn, Handler, attempt_runner<form>::needs_strand>;
    using scheduler_type = lazy_scheduler<executors>;

public:
    using operation_executor = typename executors::executor_type;
    using handler_allocator = typename block::handler_allocator;

    /// Starts the operation: the first attempt is initiated here.
    static void initiate(Handler&& handler, Callable&& callable, retry_policy&& policy, WaitsOn const& executor,
                         Membership&& membership) {
        block::create(std::move(handler), std::move(callable), std::move(policy), executor,
                      std::move(membership))
            ->start();
    }

    operation_executor get_operation_executor() const noexcept { return scheduler_.executors().get(); }
    handler_allocator get_handler_allocator() const noexcept { return block::handler_allocator_of(handler_); }

    // --- its attempts

    asio::cancellation_slot attempt_slot() noexcept {
        return interrupted_by_ != interrupter::nobody ? attempts_.slot() : asio::cancellation_slot();
    }

    /// For the coroutine that runs awaitable attempts: returns false if this one was told to stop before it
    /// began.
    bool begin_awaitable_attempt() noexcept { return attempts_.runner().begin() && !machine_.cancelled(); }

    decltype(auto) call_awaitable() {
        return form::call(attempts_.callable(), health_.monitored(machine_.current_attempt()));
    }
    attempt_runner<form>& runner() noexcept { return attempts_.runner(); }

    template <typename... Args>
    void on_attempt_completed(Args&&... args) {
        try {
            result_.emplace(std::forward<Args>(args)...);
        } catch (...) {
            try {
                result_.emplace(completion::from_exception(std::current_exception()));
            } catch (...) { // there are no values to complete with
                drop();
                throw;
            }
        }
        if (initiation_frame* const frame = initiation_frame::find(this))
            static_cast<attempt_frame*>(frame)->completed = true;
        else if (enter_after(attempt_ended))
            end_attempt();
    }

    void on_attempt_dropped() noexcept { drop(); }

    /// The attempt failed before it began, unless the coroutine was destroyed with its context.
    void on_coroutine_lost() noexcept {
        if (!enter(place::executor, coroutine_lost))
            return;
        occupancy_.add(coroutine_lost);
        try {
            post_turn<continuation>(get_operation_executor(), scheduler_.executors().waits_on(), *this);
        } catch (...) {
            see_to(occupancy_.take_all());
        }
    }

    // --- its turns on the executor

    struct after_wait {};
    struct continuation {}; ///< of what the initiating function, or a cancellation, may not do itself
    struct limit_notice {};
    struct scope_notice {};

    template <typename Turn>
    static constexpr bool is_notice = std::is_same_v<Turn, limit_notice> || std::is_same_v<Turn, scope_notice>;

    // A notice may come from any thread, where the handler's allocator has no business.
    template <typename Turn>
    using turn_allocator = std::conditional_t<is_notice<Turn>, std::allocator<void>, handler_allocator>;
    template <typename Turn>
    turn_allocator<Turn> get_turn_allocator(Turn) const noexcept {
        if constexpr (is_notice<Turn>)
            return {};
        else
            return get_handler_allocator();
    }

    void on_turn(after_wait) {
        if (enter_after(wait_ended))
            resume();
    }
    void on_turn(continuation) {
        place_ = place::executor;
        leave();
    }
    void on_turn(limit_notice) {
        if (enter(place::executor, limit_reached))
            see_to(limit_reached);
    }
    void on_turn(scope_notice) {
        if (enter(place::executor, scope_noticed))
            see_to(scope_noticed);
    }

    void on_turn_dropped(after_wait) noexcept { drop(); }
    void on_turn_dropped(continuation) noexcept {
        place_ = place::executor;
        operation_event events = occupancy_.take_all();
        do {
            note(events);
            constexpr auto last = owner_dropped | start_refused | step_failed | wait_ended;
            if ((events & last) != 0 || ending_ != ending::none ||
                (phase_ == phase::attempting && attempt_ended_))
                return abandon();
            events = occupancy_.leave(); // to the attempt or the wait that goes on, and will be dropped too
        } while (events != nothing);
    }
    void on_turn_dropped(limit_notice) noexcept {
        limit_armed_ = false;
        if (ending_ != ending::none || attempt_ended_)
            drop();
    }
    void on_turn_dropped(scope_notice) noexcept {
        this->take_request();
        if (ending_ != ending::none)
            drop();
    }

private:
    enum class phase : unsigned char { attempting, waiting, queued };
    enum class interrupter : unsigned char { nobody, caller, others };
    enum class ending : unsigned char { none, completed, abandoned };
    /// Where the occupant stands.
    enum class place : unsigned char { initiation, cancellation, executor };

    /// While this thread initiates an attempt.
    struct attempt_frame : initiation_frame {
        using initiation_frame::initiation_frame;
        bool completed = false;
    };

    /// While this thread tells it to stop, which may end it here and now.
    struct telling_frame : attempt_frame {
        occupancy& occupied;
        bool const is_outermost;
        explicit telling_frame(retry_operation* self) noexcept
            : attempt_frame(self)
            , occupied(self->occupancy_)
            , is_outermost(occupied.begin_telling()) {}
        telling_frame(telling_frame const&) = delete;
        telling_frame& operator=(telling_frame const&) = delete;
        ~telling_frame() {
            if (this->completed)
                occupied.add(attempt_ended);
            if (is_outermost)
                occupied.end_telling();
        }
    };

    /// Lives in the slot of the caller's handler, until the operation or the caller's signal ends.
    struct slot_handler {
        retry_operation* self;
        explicit slot_handler(retry_operation* s) noexcept
            : self(s) {
            self->slot_connected_ = true;
        }
        slot_handler(slot_handler const&) = delete;
        slot_handler& operator=(slot_handler const&) = delete;
        ~slot_handler() { self->slot_connected_ = false; }
        void operator()(asio::cancellation_type_t type) { self->on_cancelled(type); }
    };

    retry_operation(Handler&& handler, Callable&& callable, retry_policy&& policy, WaitsOn const& executor,
                    Membership&& membership)
        : member(std::move(membership))
        , handler_(std::move(handler))
        , attempts_(std::move(callable))
        , scheduler_(handler_, executor)
        , health_(machine_, scheduler_)
        , machine_(std::move(policy)) {}

    ~retry_operation() = default;

    void start() {
        time_point now{};
        try {
            auto slot = asio::get_associated_cancellation_slot(handler_);
            if (Membership::is_scoped || machine_.limits_attempts())
                interrupted_by_ = interrupter::others;
            else if (slot.is_connected())
                interrupted_by_ = interrupter::caller;
            if (slot.is_connected())
                slot.template emplace<slot_handler>(this);
            form::prepare(attempts_.callable(), machine_);
            scheduler_.take_seeded_stream();
            this->join_scope(machine_);
            now = scheduler_.time_for(machine_);
        } catch (...) {
            return fail();
        }
        if (machine_.may_start(now) && this->has_room()) {
            machine_.start_with_attempt(now);
            return make_attempt();
        }
        occupancy_.add(start_refused); // its hook belongs on the executor
        leave();
    }

    /// Without values there is nothing to complete with: the handler is destroyed, and the exception tells why.
    void fail_with(error_code const& code, std::exception_ptr const& thrown) {
        try {
            result_.emplace(completion::failed(code, thrown));
        } catch (...) {
            abandon();
            throw;
        }
    }

    void refuse_start() {
        time_point const now = scheduler_.time_for(machine_);
        bool const has_only_no_room = machine_.may_start(now) && !this->has_room();
        carry_out(has_only_no_room ? machine_.refuse(no_buffer_space_error(), now) : machine_.start(now));
    }

    /// The wait is over, or was never needed, or was cut short.
    void resume() { carry_out(machine_.on_wait_over(scheduler_.time_for(machine_))); }

    void carry_out(retry_action&& action) {
        if (action.what == retry_action::kind::attempt)
            return make_attempt();
        fail_with(error_code(), nullptr);
        complete(action);
    }

    void make_attempt() {
        phase_ = phase::attempting;
        attempt_ended_ = false;
        try {
            if (machine_.limits_attempts() && !arm_limit())
                return abandon();
        } catch (...) {
            return fail();
        }
        if (initiate_attempt())
            end_attempt();
        else
            leave();
    }

    /// Returns true if the attempt ended at once.
    bool initiate_attempt() {
        attempt_frame frame(this);
        try {
            attempts_.start(*this, health_.monitored(machine_.current_attempt()),
                            attempt_handler<retry_operation>(this));
        } catch (...) {
            if (!occupancy_.take(owner_dropped | coroutine_lost) && !frame.completed)
                return false; // it goes on without its initiating function, and its completion counts
            fail_with(completion_code_of(std::current_exception()), std::current_exception());
            return true;
        }
        return frame.completed;
    }

    void end_attempt() {
        set_attempt_ended();
        bool const calls_policy = form::judges_results || completion::is_failure(*result_);
        if (place_ != place::initiation || !calls_policy)
            return conclude_attempt();
        occupancy_.add(attempt_ended); // to be decided on the executor
        leave();
    }

    void set_attempt_ended() noexcept {
        attempt_ended_ = true;
        if (interrupted_by_ != interrupter::nobody)
            attempts_.on_ended();
    }

    void conclude_attempt() {
        if (!disarm_limit())
            return leave(); // the notice that is under way comes back here
        time_point now{};
        retry_action action;
        try {
            action = decide<completion, form>(machine_, attempts_.callable(), *result_, scheduler_, now);
        } catch (...) {
            return fail();
        }
        if (action.what == retry_action::kind::complete)
            return complete(action);
        result_.reset(); // before the wait begins
        begin_wait(now, action.delay);
    }

    void begin_wait(time_point now, duration delay) {
        bool const at_once = delay == duration::zero() || machine_.cancelled();
        phase_ = at_once ? phase::queued : phase::waiting;
        try {
            if (at_once)
                post_turn<after_wait>(get_operation_executor(), scheduler_.executors().waits_on(), *this);
            else if (!scheduler_.get().schedule(*this, saturating_add(now, delay)))
                return abandon();
        } catch (...) {
            return fail();
        }
        leave();
    }

    void cut_wait_short() {
        if (phase_ != phase::waiting)
            return;
        retry_scheduler& waits = scheduler_.get();
        if (auto* const context = own_context(get_operation_executor()); context == &waits.context()) {
            waits.end_early(*this, *context);
            return;
        }
        if (!waits.cancel(*this))
            return;
        phase_ = phase::queued;
        try {
            post_turn<after_wait>(get_operation_executor(), scheduler_.executors().waits_on(), *this);
        } catch (...) {
            occupancy_.add(wait_ended);
        }
    }

    // --- what happens meanwhile

    bool enter(place where, operation_event event) noexcept {
        bool const entered = occupancy_.enter(event);
        if (entered)
            place_ = where;
        return entered;
    }

    /// On the executor, after an attempt or a wait, which nothing interrupts on another thread unless it has a
    /// time limit or a scope: the caller cancels on the executor.
    bool enter_after(operation_event event) noexcept {
        bool const entered = interrupted_by_ == interrupter::others ? occupancy_.enter_after_telling(event)
                                                                    : occupancy_.enter_as_successor(event);
        if (entered)
            place_ = place::executor;
        return entered;
    }

    /// Lets others in. The last access to *this, unless something happened meanwhile.
    void leave() {
        operation_event const events = occupancy_.leave();
        if (events == nothing)
            return;
        if (place_ == place::executor || (events & owner_dropped) != 0)
            return see_to(events);
        occupancy_.add(events);
        try {
            post_turn<continuation>(get_operation_executor(), scheduler_.executors().waits_on(), *this);
        } catch (...) {
            see_to(occupancy_.take_all());
        }
    }

    /// Returns what the scope asks for.
    scope_request note(operation_event events) noexcept {
        if ((events & (attempt_ended | coroutine_lost)) != 0)
            set_attempt_ended();
        if ((events & limit_reached) != 0)
            limit_armed_ = false;
        return (events & scope_noticed) != 0 ? this->take_request() : scope_request::none;
    }

    void see_to(operation_event events) {
        scope_request const request = note(events);
        std::exception_ptr thrown; // by who was told to stop
        auto const tell = [&](auto telling) {
            try {
                telling();
            } catch (...) {
                thrown = std::current_exception();
            }
        };
        if (request == scope_request::cancel) {
            if (is_attempting() && !machine_.tells_attempt())
                this->count_stopped_attempt();
            machine_.cancel();
            tell([this] { pass_on(asio::cancellation_type::terminal); });
        } else if (request != scope_request::none) {
            if (request == scope_request::drain)
                machine_.drain();
            cut_wait_short();
        }
        if ((events & limit_reached) != 0 && !attempt_ended_ && ending_ == ending::none) {
            machine_.on_attempt_limit();
            tell([this] { stop_attempt(asio::cancellation_type::terminal); });
        }
        go_on(events);
        if (thrown)
            std::rethrow_exception(thrown);
    }

    void go_on(operation_event events) {
        if ((events & coroutine_lost) != 0)
            fail_with(no_memory_error(), std::make_exception_ptr(std::bad_alloc()));
        if ((events & owner_dropped) != 0)
            abandon();
        else if (ending_ != ending::none)
            finish();
        else if ((events & start_refused) != 0)
            refuse_start();
        else if ((events & step_failed) != 0)
            complete_failed();
        else if ((events & wait_ended) != 0)
            resume();
        else if (attempt_ended_ && (events & (attempt_ended | coroutine_lost | limit_reached)) != 0)
            conclude_attempt();
        else
            leave();
    }

    bool is_attempting() const noexcept {
        return phase_ == phase::attempting && !attempt_ended_ && ending_ == ending::none;
    }

    /// Tells the attempt to stop, or cuts the wait short.
    void pass_on(asio::cancellation_type_t type) {
        if (is_attempting())
            stop_attempt(type);
        else
            cut_wait_short();
    }

    void stop_attempt(asio::cancellation_type_t type) {
        telling_frame const frame(this);
        if (!occupancy_.has(attempt_ended))
            attempts_.stop(type);
    }

    void on_cancelled(asio::cancellation_type_t type) {
        constexpr auto stopping = asio::cancellation_type::terminal | asio::cancellation_type::partial;
        if ((type & stopping) != asio::cancellation_type::none)
            machine_.cancel();
        else if ((type & asio::cancellation_type::total) == asio::cancellation_type::none ||
                 !machine_.cancel_total())
            return;
        // If somebody is inside already, a callback or the initiation of an attempt is cancelling.
        bool const entered = enter(place::cancellation, nothing);
        std::exception_ptr thrown;
        try {
            pass_on(type);
        } catch (...) {
            thrown = std::current_exception();
        }
        if (entered)
            leave();
        if (thrown)
            std::rethrow_exception(thrown);
    }

    // --- the time limit of an attempt: the same node that waits serves it, never both at once

    bool arm_limit() {
        time_point const limit = machine_.attempt_limit(scheduler_.get().now());
        if (limit != time_point::max())
            limit_armed_ = scheduler_.get().schedule(*this, limit);
        return limit_armed_ || limit == time_point::max();
    }

    /// Returns false while a notice is under way.
    bool disarm_limit() noexcept {
        if (limit_armed_ && scheduler_.get().cancel(*this))
            limit_armed_ = false;
        return !limit_armed_;
    }

    bool on_expiry() override {
        bool const waited = phase_ == phase::waiting;
        if (waited && runs_here(get_operation_executor())) {
            on_turn(after_wait());
            return true;
        }
        try {
            if (waited)
                post_turn<after_wait>(get_operation_executor(), scheduler_.executors().waits_on(), *this);
            else
                post_turn<limit_notice>(get_operation_executor(), scheduler_.executors().waits_on(), *this);
        } catch (std::bad_alloc const&) {
            return false;
        } catch (...) { // the executor takes nothing: there is nowhere else to go on
            if (!waited)
                on_turn(limit_notice());
            else if (enter(place::executor, wait_ended))
                fail();
        }
        return true;
    }

    void on_shutdown() noexcept override {
        if (phase_ == phase::waiting)
            drop();
        else
            limit_armed_ = false;
    }

    void post_scope_notice() {
        post_turn<scope_notice>(get_operation_executor(), scheduler_.executors().waits_on(), *this);
    }

    void on_scope_notice_failed() {
        if (!enter(place::cancellation, scope_noticed))
            return; // whoever is in sees to it
        occupancy_.add(scope_noticed);
        try {
            return post_turn<continuation>(get_operation_executor(), scheduler_.executors().waits_on(), *this);
        } catch (...) {
            occupancy_.take(scope_noticed);
        }
        this->miss_request();
        if (ending_ != ending::none)
            finish();
        else
            leave();
    }

    // --- the end

    void complete(retry_action const& action) {
        completion::amend(*result_, action);
        ending_ = ending::completed;
        finish();
    }

    /// What the operation itself needs cannot be had: memory, or an executor that takes a function.
    void fail() {
        fail_with(code_of(std::current_exception()), std::current_exception());
        if (place_ != place::initiation)
            return complete_failed();
        occupancy_.add(step_failed);
        leave();
    }

    void complete_failed() { complete(completion::on_exception(machine_, *result_)); }

    void drop() noexcept {
        if (enter(place::executor, owner_dropped))
            abandon();
    }

    /// The end without a completion: nobody will carry the operation on.
    void abandon() noexcept {
        ending_ = ending::abandoned;
        finish();
    }

    void finish() {
        if (!disarm_limit() || !this->leave_scope())
            return leave(); // the notice that is under way comes back here
        if (slot_connected_)
            asio::get_associated_cancellation_slot(handler_).clear();
        if (ending_ == ending::abandoned)
            return dissolve();
        attempts_.runner().end();
        if (place_ == place::initiation)
            deliver_later();
        else
            deliver();
    }

    void dissolve() noexcept {
        [[maybe_unused]] auto const presence = this->take_presence();
        block::dissolve(this, handler_);
    }

    void deliver() {
        [[maybe_unused]] auto const presence =
            this->take_presence(); // counted in the scope until the handler has run
        arguments result = take_result();
        Handler handler = block::dissolve(this, handler_);
        std::apply(std::move(handler), std::move(result));
    }

    arguments take_result() {
        try {
            return std::move(*result_);
        } catch (...) {
            block::dissolve(this, handler_);
            throw;
        }
    }

    void deliver_later() {
        // Until the completion is queued: a context without work would stop.
        [[maybe_unused]] auto const keep_running = scheduler_.executors().keep_running();
        auto presence = this->take_presence();
        auto const executor = scheduler_.executors().waits_on();
        arguments result = take_result();
        Handler handler = block::dissolve(this, handler_);
        immediate_delivery<typename executors::io_executor, Handler> delivery(handler, executor);
        std::apply(
            [&](auto&&... values) {
                delivery(asio::append(presence.until_called(std::move(handler)), std::move(values)...));
            },
            std::move(result));
    }

    Handler handler_;
    attempt_source<Callable> attempts_;
    scheduler_type scheduler_;
    [[no_unique_address]] attempt_health_of<form, scheduler_type> health_;
    late_value<arguments> result_; // of the attempt that ended last, until its failure is decided on
    [[no_unique_address]] retry_machine machine_;
    occupancy occupancy_;
    phase phase_ = phase::attempting;
    bool slot_connected_ = false;
    interrupter interrupted_by_ = interrupter::nobody; // never changes after the start
    place place_ : 2 = place::initiation;
    ending ending_ : 2 = ending::none;
    bool attempt_ended_ : 1 = false;
    bool limit_armed_ : 1 = false;
};

} // namespace asio_retry::detail
