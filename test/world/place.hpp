#pragma once

#include "world/dice.hpp"
#include "world/record.hpp"
#include "world/trace.hpp"

#include <asio_retry/async_retry.hpp>
#include <asio_retry/backoff_ticker.hpp>
#include <asio_retry/retry_report.hpp>
#include <asio_retry/retry_scope.hpp>
#include <asio_retry/virtual_time.hpp>

#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>

#include <chrono>
#include <deque>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <utility>
#include <vector>

namespace asio_retry::world {

using strand = asio::strand<asio::io_context::executor_type>;

/// The slot of one operation, and the strand on which somebody may emit.
struct cancel_button {
    std::weak_ptr<asio::cancellation_signal> signal; // its handler owns it
    strand where;

    void press(asio::cancellation_type_t type) const {
        asio::post(where, [weak = signal, type] {
            if (auto const told = weak.lock())
                told->emit(type);
        });
    }
};

/// A ticker that ticks a few times.
struct looping_ticker {
    looping_ticker(strand const& given_where, retry_policy const& policy, int ticks)
        : where(given_where)
        , ticker(given_where, policy)
        , left(ticks) {}

    strand where;
    backoff_ticker ticker;
    int left;
};

/// An attempt that has begun.
class running_attempt {
public:
    virtual ~running_attempt() = default;
    virtual void complete(error_code const& error) = 0;
    virtual void drop() = 0;
};

/// Those attempts of one context that go on until somebody ends them.
class parked_attempts {
public:
    void park(std::shared_ptr<running_attempt> one) {
        std::lock_guard const lock(mutex_);
        all_.push_back(std::move(one));
    }

    /// Any one of them, or null.
    std::shared_ptr<running_attempt> take(dice& d) {
        std::lock_guard const lock(mutex_);
        if (all_.empty())
            return nullptr;
        std::swap(d.any_of(all_), all_.back());
        auto taken = std::move(all_.back());
        all_.pop_back();
        return taken;
    }

    bool empty() {
        std::lock_guard const lock(mutex_);
        return all_.empty();
    }

    void clear() {
        std::vector<std::shared_ptr<running_attempt>> dropped; // without the lock
        std::lock_guard const lock(mutex_);
        dropped.swap(all_);
    }

private:
    std::mutex mutex_;
    std::vector<std::shared_ptr<running_attempt>> all_;
};

/// A scope and its place in the tree.
struct watched_scope {
    std::shared_ptr<retry_scope> itself; // null when it is destroyed
    watched_scope const* parent = nullptr;
    std::size_t number = 0;
    bool is_limited = false;
    bool is_drained = false;

    bool is_below(watched_scope const& top) const { return this == &top || (parent && parent->is_below(top)); }
};

/// A context with what its operations need. It may end while other contexts go on.
class place {
public:
    place(dice& d, bool is_virtual, records& all, trace& written, violations& found);
    ~place() { end(); }
    place(place const&) = delete;
    place& operator=(place const&) = delete;

    /// Locked by whoever uses the place, and exclusively by whoever ends it.
    std::shared_mutex& mutex() noexcept { return in_use_; }
    bool has_ended() const noexcept { return !io_; }
    void end();

    asio::io_context& io() noexcept { return *io_; }
    time_point now() const { return time_ ? time_->now() : std::chrono::steady_clock::now(); }
    virtual_time* time() noexcept { return time_ ? &*time_ : nullptr; }
    bool is_virtual() const noexcept { return is_virtual_; }
    time_point begin() const noexcept { return begin_; }
    duration since() const { return time_ ? time_->now() - begin_ : ended_at_; }

    void note(record const& who, std::string_view what, std::int64_t a = 0, std::int64_t b = 0) {
        if (is_virtual_)
            trace_.add(since(), who.number, what, a, b);
    }
    void complain(record const& who, std::string const& what);

    /// Calls `function` after `delay`, by the only clock there is: that of a retry.
    template <typename Function>
    void after(duration delay, Function function) {
        async_retry(
            *io_,
            [first = true]() mutable {
                return std::exchange(first, false) ? error_code(asio::error::connection_refused) : error_code();
            },
            retry_policy().backoff(constant(delay)).jitter(no_jitter()),
            [run = std::move(function)](error_code) mutable { run(); });
    }

    parked_attempts& parked() noexcept { return parked_; }
    record& expect(char const* form) { return records_.add(*this, form); }
    record& add(operation_plan plan);

    void add(cancel_button button);
    retry_report& new_report();
    asio::ip::tcp::socket& new_socket();
    void add(std::shared_ptr<looping_ticker> ticker);
    std::shared_ptr<retry_scope> any_scope(dice& d);
    std::shared_ptr<looping_ticker> any_ticker(dice& d);
    void use_scopes(dice& d, duration unit);
    void press_a_button(dice& d);

    /// @name In virtual time
    /// @{
    retry_scope* scope_for(record& one, dice& d); // null if it has none
    record* any_planned(dice& d);
    void cancel(record& one, asio::cancellation_type_t type);
    void cancel_a_scope(dice& d);
    /// @}

    void cancel_all();
    bool is_idle();
    void audit();

private:
    watched_scope& any_watched(dice& d);
    void add_scope(dice& d);
    void tell_cancelled(watched_scope const& scope);
    void tell_hurried(watched_scope const& scope, duration within);
    void cancel(watched_scope const& scope, retry_scope& itself);
    void join(watched_scope const& scope, retry_scope& itself, bool is_cancelled);
    void drain(watched_scope& scope, retry_scope& itself, duration timeout);
    template <typename Function>
    void for_each_planned_in(watched_scope const& scope, Function function) {
        if (is_virtual_)
            records_.for_each_planned([&](record& each) {
                if (each.planned->in_scope && each.planned->in_scope->is_below(scope) &&
                    !each.planned->watched.is_over())
                    function(each);
            });
    }
    auto joined(char const* form, watched_scope const& scope, retry_scope const& itself, bool is_cancelled);

    bool const is_virtual_;
    records& records_;
    trace& trace_;
    violations& violations_;
    std::shared_mutex in_use_;
    std::mutex mutex_; // of the containers
    std::deque<retry_report> reports_;
    std::optional<asio::io_context> io_{std::in_place};
    std::optional<asio::executor_work_guard<asio::io_context::executor_type>> work_;
    std::optional<virtual_time> time_;
    time_point begin_{};
    duration ended_at_{};
    std::vector<cancel_button> buttons_;
    std::vector<record*> planned_;
    std::list<asio::ip::tcp::socket> sockets_;
    std::deque<watched_scope> scopes_; // the root, and what is under it; also those that are destroyed
    std::vector<std::shared_ptr<looping_ticker>> tickers_;
    parked_attempts parked_;
};

} // namespace asio_retry::world
