#pragma once

#include <asio_retry/detail/asio.hpp>
#include <asio_retry/detail/attempt_runner.hpp>
#include <asio_retry/detail/completion.hpp>
#include <asio_retry/detail/initiation_frame.hpp>
#include <asio_retry/detail/occupancy.hpp>
#include <asio_retry/detail/operation_form.hpp>
#include <asio_retry/detail/operation_handlers.hpp>
#include <asio_retry/detail/scope_membership.hpp>
#include <asio_retry/detail/wait_node.hpp>
#include <asio_retry/retry_machine.hpp>
#include <asio_retry/retry_scheduler.hpp>

#include <boost/asio/append.hpp>
#include <boost/asio/associated_allocator.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/execution/context.hpp>
#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/query.hpp>
#include <boost/asio/recycling_allocator.hpp>
#include <boost/asio/strand.hpp>

#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace asio_retry::detail {

/// A retrying operation: one block of memory, from the handler's allocator, at one address until it completes.
///
/// It carries out what its retry_machine decides. It is always in the hands of exactly one owner: the handler
/// of the running attempt, the scheduler while it waits, or a queued function. Besides, two sources may notify
/// it: a time limit of the attempt and its scope; while such a notice is under way the operation stays.
template <typename Signature, typename Callable, typename IoExecutor, typename Handler, typename Membership>
class retry_operation final : private wait_node,
                              private Membership::template member<
                                  retry_operation<Signature, Callable, IoExecutor, Handler, Membership>> {
    using member = typename Membership::template member<retry_operation>;
    friend member;
    using form = operation_form<Callable>;
    using completion = detail::completion<Signature>;
    using arguments = typename completion::arguments;

public:
    using associated_executor = asio::associated_executor_t<Handler, IoExecutor>;
    using base_executor =
        std::conditional_t<is_fallback_executor<associated_executor>, IoExecutor, associated_executor>;
    static constexpr bool has_strand =
        attempt_runner<form>::needs_strand && std::is_convertible_v<base_executor, asio::any_io_executor>;
    using operation_executor =
        typename std::conditional_t<has_strand, std::type_identity<asio::strand<base_executor>>,
                                    std::type_identity<base_executor>>::type;
    using handler_allocator = asio::associated_allocator_t<Handler, asio::recycling_allocator<void>>;

    /// Starts the operation: the first attempt is initiated here.
    static void initiate(Handler&& handler, Callable&& callable, retry_policy&& policy,
                         IoExecutor const& executor, Membership&& membership) {
        create(std::move(handler), std::move(callable), std::move(policy), executor, std::move(membership))
            ->start();
    }

    operation_executor get_operation_executor() const noexcept {
        if constexpr (has_strand)
            return strand_;
        else
            return get_base_executor();
    }
    handler_allocator get_handler_allocator() const noexcept {
        return asio::get_associated_allocator(handler_, asio::recycling_allocator<void>());
    }
    asio::cancellation_slot attempt_slot() noexcept {
        return signals_attempts_ ? signal_.slot() : asio::cancellation_slot();
    }

    /// Returns false if the attempt was told to stop before its coroutine began.
    bool begin_awaitable_attempt() noexcept {
        coroutine_began_ = true;
        return !std::exchange(stop_at_begin_, false) && !machine_.cancelled();
    }

    /// The attempt itself, for the coroutine that runs awaitable ones.
    decltype(auto) call() { return form::call(callable_, machine_.current_attempt()); }
    attempt_runner<form>& runner() noexcept { return runner_; }

    bool try_enter() noexcept { return occupancy_.try_enter(); }

    template <typename... Args>
    static void on_attempt_completed(retry_operation* self, Args&&... args) {
        if (initiation_frame* const frame = initiation_frame::find(self)) {
            static_cast<attempt_frame*>(frame)->result.emplace(std::forward<Args>(args)...);
            return;
        }
        arguments result(std::forward<Args>(args)...);
        if (self->try_enter())
            self->end_attempt(false, std::move(result));
        else
            self->post_end_of_attempt(std::move(result));
    }

    template <typename Step>
    void post_step(Step step) {
        asio::post(get_operation_executor(), queued_step<retry_operation, Step>(this, std::move(step)));
    }

    template <void (retry_operation::*Notice)()>
    void post_notice() {
        asio::post(get_operation_executor(), queued_notice<retry_operation, Notice>(this));
    }

    void on_owner_dropped() noexcept {
        if (!occupancy_.drop_owner())
            abandon();
    }

    template <void (retry_operation::*Notice)()>
    void on_notice_dropped() noexcept {
        if constexpr (Notice == &retry_operation::on_limit)
            limit_armed_ = false;
        else
            this->set_notice_seen();
        if (abandoned_)
            abandon();
    }

private:
    struct attempt_frame : initiation_frame {
        using initiation_frame::initiation_frame;
        std::optional<arguments> result;
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

    // An explicit std::allocator would bypass Asio's per-thread cache.
    using block_allocator_for_any = std::conditional_t<std::is_same_v<handler_allocator, std::allocator<void>>,
                                                       asio::recycling_allocator<void>, handler_allocator>;
    using block_allocator =
        typename std::allocator_traits<block_allocator_for_any>::template rebind_alloc<retry_operation>;
    using block_traits = std::allocator_traits<block_allocator>;

    static block_allocator allocator_for(Handler const& handler) {
        if constexpr (std::is_same_v<handler_allocator, std::allocator<void>>)
            return block_allocator(asio::recycling_allocator<void>());
        else
            return block_allocator(asio::get_associated_allocator(handler, asio::recycling_allocator<void>()));
    }

    static retry_operation* create(Handler&& handler, Callable&& callable, retry_policy&& policy,
                                   IoExecutor const& executor, Membership&& membership) {
        block_allocator allocator = allocator_for(handler);
        struct memory_guard {
            block_allocator& allocator;
            retry_operation* memory;
            ~memory_guard() {
                if (memory)
                    block_traits::deallocate(allocator, memory, 1);
            }
        } guard{allocator, block_traits::allocate(allocator, 1)};
        auto* const self = ::new (static_cast<void*>(guard.memory)) retry_operation(
            std::move(handler), std::move(callable), std::move(policy), executor, std::move(membership));
        guard.memory = nullptr;
        return self;
    }

    retry_operation(Handler&& handler, Callable&& callable, retry_policy&& policy, IoExecutor const& executor,
                    Membership&& membership)
        : member(std::move(membership))
        , handler_(std::move(handler))
        , callable_(std::move(callable))
        , executor_(executor)
        , slot_(asio::get_associated_cancellation_slot(handler_))
        , strand_(get_base_executor())
        , work_(asio::prefer(get_operation_executor(), asio::execution::outstanding_work.tracked))
        , machine_(std::move(policy)) {
        if constexpr (std::is_same_v<IoExecutor, base_executor>)
            if (executor_ == get_base_executor())
                return; // the work of one is that of the other
        io_work_.emplace(asio::prefer(executor_, asio::execution::outstanding_work.tracked));
    }

    ~retry_operation() = default;

    void start() {
        signals_attempts_ = slot_.is_connected() || settings().limits_attempts() || Membership::is_scoped;
        if (slot_.is_connected())
            slot_.template emplace<slot_handler>(this);
        if (retry_scheduler::any_seeded())
            random_.emplace(get_scheduler().next_random());
        this->join_scope(machine_);
        time_point const now = settings().measures_time() ? get_scheduler().now() : time_point();
        if (machine_.may_start(now))
            return carry_out(true, machine_.start(now));
        post_step([this, now] { carry_out(false, machine_.start(now)); }); // its hook belongs on the executor
        leave();
    }

    /// The wait is over, or was never needed, or was cut short.
    void resume() { carry_out(false, machine_.on_wait_over(get_scheduler().now())); }

    void carry_out(bool initiating, retry_action&& action) {
        if (action.what == retry_action::kind::attempt)
            make_attempt(initiating);
        else
            complete(initiating, std::move(action), completion::failed(error_code(), nullptr));
    }

    void make_attempt(bool initiating) {
        phase_ = phase::attempting;
        attempt_ended_ = false;
        if (settings().limits_attempts() && !arm_limit())
            return abandon();
        if (std::optional<arguments> result = initiate_attempt())
            end_attempt(initiating, std::move(*result));
        else
            leave();
    }

    /// Returns the result of an attempt that ended at once.
    std::optional<arguments> initiate_attempt() {
        attempt_frame frame(this);
        try {
            call_attempt(attempt_handler<retry_operation>(this));
        } catch (...) {
            if (!occupancy_.take_dropped() && !frame.result)
                return std::nullopt; // the attempt goes on without its initiating function, and its completion
                                     // counts
            frame.result.emplace(completion::from_exception(std::current_exception()));
        }
        return std::move(frame.result);
    }

    void call_attempt(attempt_handler<retry_operation>&& handler) {
        if constexpr (form::returns_awaitable) {
            runner_.run(*this, std::move(handler));
        } else if constexpr (form::takes_token) {
            form::call(callable_, machine_.current_attempt(), std::move(handler));
        } else if constexpr (form::returns_operation) {
            call()(std::move(handler));
        } else if constexpr (std::is_void_v<typename form::result_type>) {
            call();
            std::move(handler)(std::exception_ptr());
        } else {
            using result_type = typename form::result_type;
            auto values = returned<result_type>::arguments(result_type(call()));
            std::apply([&](auto&&... value) { std::move(handler)(std::move(value)...); }, std::move(values));
        }
    }

    void end_attempt(bool initiating, arguments&& result) {
        attempt_ended_ = true;
        if (signals_attempts_ &&
            !form::returns_awaitable) // what this attempt left there must not reach the next one
            signal_.slot().clear();
        bool const calls_policy = form::judges_results || completion::is_failure(result);
        if (!disarm_limit() || (initiating && calls_policy)) { // behind the notice, on the executor
            post_end_of_attempt(std::move(result));
            return leave();
        }
        time_point now{};
        retry_action action = decide(result, now);
        if (action.what == retry_action::kind::complete)
            return complete(initiating, std::move(action), std::move(result));
        discard(std::move(result)); // before the wait begins
        begin_wait(now, action.delay);
    }

    void post_end_of_attempt(arguments&& result) {
        post_step([this, result = std::move(result)]() mutable { end_attempt(false, std::move(result)); });
    }

    static void discard(arguments result) { static_cast<void>(result); }

    retry_action decide(arguments const& result, time_point& now) {
        try {
            verdict const v = completion::template judge<form>(callable_, result);
            if (v.succeeded())
                return machine_.on_success();
            now = get_scheduler().now();
            return machine_.on_failure(v, now, get_random());
        } catch (...) {
            return machine_.on_callback_exception(error::predicate_threw, std::current_exception());
        }
    }

    void begin_wait(time_point now, duration delay) {
        if (delay == duration::zero() || machine_.cancelled()) {
            phase_ = phase::queued;
            post_step([this] { resume(); });
        } else {
            phase_ = phase::waiting;
            if (!get_scheduler().schedule(*this, saturating_add(now, delay)))
                return abandon();
        }
        leave();
    }

    void cut_wait_short() {
        if (phase_ == phase::waiting && get_scheduler().cancel(*this)) {
            phase_ = phase::queued;
            post_step([this] { resume(); });
        }
    }

    base_executor get_base_executor() const noexcept {
        if constexpr (is_fallback_executor<associated_executor>)
            return executor_;
        else
            return asio::get_associated_executor(handler_, executor_);
    }

    void stop_attempt(asio::cancellation_type_t type) {
        if (form::returns_awaitable && !coroutine_began_)
            stop_at_begin_ = true; // its cancellation state is not there yet
        else
            signal_.emit(type);
    }

    /// Tells the attempt to stop, or cuts the wait short.
    void pass_on(asio::cancellation_type_t type) {
        if (phase_ == phase::attempting && !attempt_ended_)
            stop_attempt(type);
        else
            cut_wait_short();
    }

    void on_cancelled(asio::cancellation_type_t type) {
        constexpr auto stopping = asio::cancellation_type::terminal | asio::cancellation_type::partial;
        if ((type & stopping) != asio::cancellation_type::none)
            machine_.cancel();
        else if ((type & asio::cancellation_type::total) == asio::cancellation_type::none ||
                 !machine_.cancel_total())
            return;
        bool const entered = try_enter(); // else a callback or the initiation of an attempt is cancelling
        pass_on(type);
        if (entered)
            leave();
    }

    // --- the time limit of an attempt: the same node that waits serves it, never both at once

    bool arm_limit() {
        time_point const limit = machine_.attempt_limit(get_scheduler().now());
        if (limit == time_point::max())
            return true;
        limit_armed_ = true;
        return get_scheduler().schedule(*this, limit) || (limit_armed_ = false);
    }

    /// Returns false while a notice is under way.
    bool disarm_limit() noexcept {
        if (limit_armed_ && get_scheduler().cancel(*this))
            limit_armed_ = false;
        return !limit_armed_;
    }

    void on_limit() {
        limit_armed_ = false;
        if (abandoned_)
            return abandon();
        if (!attempt_ended_) { // else its result is queued behind this notice
            machine_.on_attempt_limit();
            stop_attempt(asio::cancellation_type::terminal);
        }
        leave();
    }

    void on_expiry() override {
        if (phase_ == phase::waiting)
            post_step([this] { resume(); });
        else
            post_notice<&retry_operation::on_limit>();
    }

    void on_shutdown() noexcept override {
        if (phase_ == phase::waiting)
            abandon();
        else
            limit_armed_ = false;
    }

    // --- the scope

    void post_scope_notice() { post_notice<&retry_operation::on_scope_notice>(); }

    void on_scope_notice() {
        this->set_notice_seen();
        if (abandoned_)
            return abandon();
        machine_.cancel();
        pass_on(asio::cancellation_type::terminal);
        leave();
    }

    // --- the end

    void complete(bool initiating, retry_action&& action, arguments&& result) {
        if (!this->leave_scope()) {
            post_step([this, action = std::move(action), result = std::move(result)]() mutable {
                complete(false, std::move(action), std::move(result)); // behind the notice
            });
            return leave();
        }
        completion::amend(result, action);
        clear_slot();
        if (initiating)
            deliver_later(std::move(result));
        else
            deliver(std::move(result));
    }

    void deliver(arguments&& result) {
        [[maybe_unused]] auto const presence =
            this->take_presence(); // counted in the scope until the handler has run
        Handler handler = release_handler();
        std::apply(std::move(handler), std::move(result));
    }

    void deliver_later(arguments&& result) {
        // Until the completion is queued: a context without work would stop.
        [[maybe_unused]] auto const keep_running = std::pair(work_, io_work_);
        auto presence = this->take_presence();
        IoExecutor const executor = executor_;
        Handler handler = release_handler();
        immediate_delivery<IoExecutor, Handler> delivery(handler, executor);
        std::apply(
            [&](auto&&... values) {
                delivery(asio::append(presence.until_called(std::move(handler)), std::move(values)...));
            },
            std::move(result));
    }

    /// Takes the handler out and frees everything else, so that the handler may reuse the memory.
    Handler release_handler() {
        Handler handler(std::move(handler_));
        block_allocator allocator = allocator_for(handler);
        this->~retry_operation();
        block_traits::deallocate(allocator, this, 1);
        return handler;
    }

    /// The end without a completion: nobody will carry the operation on.
    void abandon() noexcept {
        abandoned_ = true;
        occupancy_.vacate();
        if (!disarm_limit() || !this->leave_scope())
            return; // the notice that is under way comes back here
        clear_slot();
        [[maybe_unused]] auto const presence = this->take_presence();
        release_handler();
    }

    void clear_slot() noexcept {
        if (slot_connected_)
            slot_.clear();
    }

    /// Lets others in. The last access to *this.
    void leave() noexcept {
        if (!occupancy_.leave())
            abandon();
    }

    // --- what is needed only after a failure or under a time limit

    retry_settings const& settings() const noexcept { return machine_.policy().settings(); }

    retry_scheduler& get_scheduler() {
        if (!scheduler_)
            scheduler_ = &scheduler(asio::query(executor_, asio::execution::context));
        return *scheduler_;
    }

    random& get_random() {
        if (!random_)
            random_.emplace(get_scheduler().next_random());
        return *random_;
    }

    enum class phase : unsigned char { attempting, waiting, queued };

    Handler handler_;
    Callable callable_;
    IoExecutor executor_;
    asio::associated_cancellation_slot_t<Handler> slot_;
    struct no_strand {
        explicit no_strand(base_executor const&) noexcept {}
    };
    [[no_unique_address]] std::conditional_t<has_strand, operation_executor, no_strand> strand_;
    tracked_executor<operation_executor> work_;
    std::optional<tracked_executor<IoExecutor>> io_work_; // where waits hang, if elsewhere
    retry_machine machine_;
    std::optional<random> random_;
    retry_scheduler* scheduler_ = nullptr;
    asio::cancellation_signal signal_; // to the attempt
    [[no_unique_address]] attempt_runner<form> runner_;
    occupancy occupancy_;
    phase phase_ = phase::attempting;
    bool slot_connected_ = false;
    bool signals_attempts_ = false;
    bool attempt_ended_ = false;
    bool limit_armed_ = false;
    bool abandoned_ = false;
    bool coroutine_began_ = false;
    bool stop_at_begin_ = false;
};

} // namespace asio_retry::detail
