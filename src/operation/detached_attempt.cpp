#include <asio_retry/detail/operation/detached_attempt.hpp>

#include <asio_retry/detail/policy/machine_observer.hpp>

#include <exception>
#include <thread>

namespace asio_retry::detail {

/// The handler in the slot of the operation's attempts. It passes a cancellation on to the attempt.
class detached_attempt::teller {
public:
    explicit teller(detached_attempt& attempt) noexcept
        : attempt_(&attempt) {
        attempt.keep();
    }
    teller(teller&& other) noexcept
        : attempt_(std::exchange(other.attempt_, nullptr)) {}
    teller& operator=(teller&&) = delete;
    ~teller() {
        if (attempt_)
            attempt_->release();
    }
    void operator()(asio::cancellation_type_t type) const { attempt_->on_told(type); }

private:
    detached_attempt* attempt_;
};

detached_attempt* detached_attempt::make(retry_driver& given_operation) {
    try {
        return new detached_attempt(given_operation);
    } catch (...) {
        given_operation.on_attempt_dropped();
        throw;
    }
}

detached_attempt::detached_attempt(retry_driver& operation)
    : operation_(operation)
    , number_(operation.machine().operation_number())
    , health_(operation.machine(), operation)
    , current_(operation.machine().current_attempt())
    , said_as_(health_.monitored(current_)) {
    current_.monitor = this;
    operation.attempt_slot().emplace<teller>(*this);
}

detached_attempt::~detached_attempt() = default;

void detached_attempt::own_choice_of(machine_observer const* chooser) noexcept {
    if (chooser)
        choice_ = chooser->owner_of(current_.number);
}

void detached_attempt::release() noexcept {
    if (owners_.fetch_sub(1, std::memory_order_acq_rel) == 1)
        delete this;
}

/// Changes the state once. Waits while the attempt reports something, which takes a few instructions.
bool detached_attempt::change(state to) noexcept {
    auto from = state::running;
    while (!state_.compare_exchange_weak(from, to, std::memory_order_acq_rel, std::memory_order_acquire)) {
        if (from == state::ended || from == state::left)
            return false;
        if (from == state::speaking)
            std::this_thread::yield();
        from = state::running;
    }
    return true;
}

void detached_attempt::on_told(asio::cancellation_type_t type) {
    keep(); // the attempt may end during the emission
    std::exception_ptr thrown;
    try {
        tell(type);
    } catch (...) {
        thrown = std::current_exception();
    }
    try {
        leave_behind();
    } catch (...) {
        thrown = std::current_exception();
    }
    release();
    if (thrown)
        std::rethrow_exception(thrown);
}

void detached_attempt::leave_behind() {
    if (!operation_.count_left_attempt())
        return; // too many attempts are left behind: the operation waits for this one
    // Counted first: once it is left, the attempt may end on another thread, and then takes itself off the
    // count.
    if (change(state::left))
        operation_.on_attempt_left();
    else
        operation_.uncount_left_attempt();
}

// --- reports of the attempt

template <typename Say>
void detached_attempt::say(Say what) noexcept {
    auto from = state::running;
    if (!state_.compare_exchange_strong(from, state::speaking, std::memory_order_acq_rel))
        return;
    what();
    state_.store(state::running, std::memory_order_release);
}

void detached_attempt::on_healthy() noexcept {
    say([this] { said_as_.mark_healthy(); });
}
void detached_attempt::on_sent() noexcept {
    say([this] { said_as_.mark_sent(); });
}
void detached_attempt::on_progress() noexcept {
    say([this] { said_as_.progress(); });
}
void detached_attempt::on_pushback(pushback said) noexcept {
    say([this, said] { said_as_.heed(said); });
}
shared_value<nested_marks> detached_attempt::marks() {
    shared_value<nested_marks> shared;
    say([&] { shared = operation_.machine().marks_of_nested(); });
    return shared;
}

} // namespace asio_retry::detail
