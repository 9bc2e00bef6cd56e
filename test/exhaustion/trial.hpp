#pragma once

#include "support/failing_allocation.hpp"
#include "support/scripted_operation.hpp"

#include <asio_retry/error.hpp>
#include <asio_retry/retry_scope.hpp>
#include <asio_retry/virtual_time.hpp>

#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/system/errc.hpp>

#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace asio_retry::test {

using namespace std::chrono_literals;

/// What became of one operation.
struct fate {
    error_code expected;
    bool refused = false; // by the initiating function
    bool kept_by_refusal = false;
    bool asio_may_lose_it = false;
    int handlers = 0;
    int calls = 0;
    error_code error;
    bool no_memory = false;
    asio::cancellation_signal signal;

    void note(error_code const& ec) {
        ++calls;
        error = ec;
        no_memory = ec == boost::system::errc::not_enough_memory;
    }
    void note(std::exception_ptr const& e) {
        ++calls;
        if (!e)
            return;
        try {
            std::rethrow_exception(e);
        } catch (std::bad_alloc const&) {
            no_memory = true;
        } catch (...) {
            error = code_of(e);
            no_memory = error == boost::system::errc::not_enough_memory;
        }
    }
};

/// A completion handler that counts itself and its calls.
class fated_handler {
public:
    fated_handler(fate& f, asio::cancellation_slot slot) noexcept
        : fate_(&f)
        , slot_(slot) {
        ++fate_->handlers;
    }
    fated_handler(fated_handler&& other) noexcept
        : fate_(other.fate_)
        , slot_(other.slot_) {
        ++fate_->handlers;
    }
    fated_handler& operator=(fated_handler&&) = delete;
    ~fated_handler() { --fate_->handlers; }

    using cancellation_slot_type = asio::cancellation_slot;
    cancellation_slot_type get_cancellation_slot() const noexcept { return slot_; }

    template <typename Failure, typename... Values>
    void operator()(Failure const& failure, Values const&...) {
        fate_->note(failure);
    }

private:
    fate* fate_;
    asio::cancellation_slot slot_;
};

/// The same with an allocator of its own.
class scarce_handler : public fated_handler {
public:
    using fated_handler::fated_handler;
    using allocator_type = scarce_allocator<void>;
    allocator_type get_allocator() const noexcept { return {}; }
};

/// The clock of a trial: a virtual_time, or none, so that the scheduler is made when it is first needed.
enum class clock_kind { manual, steady };

/// One play of a scenario while memory runs out. Whatever it starts completes once: with what the scenario
/// expects or for want of memory.
class trial {
public:
    trial(std::span<fate> all, clock_kind clock)
        : fates(all) {
        if (clock == clock_kind::manual)
            time.emplace(io);
    }

    std::span<fate> const fates; // which outlive the context, and so the handlers
    std::size_t started = 0;
    asio::io_context io;
    std::optional<virtual_time> time;

    duration patience = 20ms; // while there is no memory, not all may be done
    std::function<void()> with_memory_again;
    std::function<void()> at_the_end;

    /// For what belongs to the scenario and not to what it tries.
    template <typename Function>
    static decltype(auto) with_memory(Function function) {
        failing_allocation::pause const enough;
        return function();
    }

    /// A step that may fail for want of memory, and then is left out.
    template <typename Function>
    bool step(Function function) {
        try {
            function();
            return true;
        } catch (std::bad_alloc const&) {
            return false;
        }
    }

    void run() {
        repeat([this] {
            if (time) {
                time->run();
            } else {
                io.restart();
                io.run_for(patience); // ends much earlier, when all is done
            }
        });
    }
    void advance(duration by) {
        repeat([&] { time->advance(by); });
    }
    /// A scope that cannot tell everybody wants to be cancelled again.
    void cancel(retry_scope& scope) {
        if (!step([&] { scope.cancel(); }))
            with_memory([&] { with_memory_again = [&] { scope.cancel(); }; });
    }
    void cancel(std::size_t index, asio::cancellation_type_t type = asio::cancellation_type::terminal) {
        step([&] { fates[index].signal.emit(type); });
    }

    /// State of the scenario that outlives its operations.
    template <typename State, typename... Args>
    friend State& keep(trial& t, Args&&... args) {
        return with_memory([&]() -> State& {
            auto const state = std::make_shared<State>(std::forward<Args>(args)...);
            t.kept_.push_back(state);
            return *state;
        });
    }

private:
    /// An exception that comes out of a context leaves it fit to be run again.
    template <typename Function>
    void repeat(Function function) {
        // A context may find no way to go on until there is memory again.
        for (int i = 0; i < 100 && !step(function);)
            ++i;
    }

    std::vector<std::shared_ptr<void>> kept_; // timers among it, which end before their context
};

template <typename Handler>
class trial_with : public trial {
public:
    using trial::trial;

    /// Begins an operation with `initiate(handler)`, which is to complete with `expected`.
    template <typename Initiate>
    fate& start(error_code expected, Initiate initiate) {
        return begin(expected, initiate, asio::cancellation_slot());
    }

    /// The same with a slot to be cancelled through.
    template <typename Initiate>
    fate& start_cancellable(error_code expected, Initiate initiate) {
        return begin(expected, initiate, fates[started].signal.slot());
    }

private:
    template <typename Initiate>
    fate& begin(error_code expected, Initiate& initiate, asio::cancellation_slot slot) {
        fate& f = fates[started++];
        f.expected = expected;
        f.refused = !step([&] { initiate(Handler(f, slot)); });
        f.kept_by_refusal = f.refused && (f.calls != 0 || f.handlers != 0);
        return f;
    }
};

using global_trial = trial_with<fated_handler>;
using associated_trial = trial_with<scarce_handler>;

/// A scenario in both kinds of memory.
struct scenario {
    std::string name;
    clock_kind clock;
    bool once_only;     // because what is not ours cannot bear a lasting shortage
    bool may_lose_work; // because what is not ours keeps it and never runs it
    std::function<void(global_trial&)> global;
    std::function<void(associated_trial&)> associated;
};

inline void PrintTo(scenario const& s, std::ostream* out) {
    *out << s.name;
}
inline void PrintTo(memory source, std::ostream* out) {
    *out << (source == memory::global ? "global" : "associated");
}
inline void PrintTo(shortage kind, std::ostream* out) {
    *out << (kind == shortage::once ? "once" : "lasting");
}

template <typename Play>
scenario make_scenario(std::string name, Play play, clock_kind clock = clock_kind::manual) {
    return {std::move(name), clock, false, false, play, play};
}

} // namespace asio_retry::test
