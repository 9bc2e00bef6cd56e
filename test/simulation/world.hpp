#pragma once

#include <asio_retry/async_retry.hpp>
#include <asio_retry/retry_gate.hpp>
#include <asio_retry/virtual_time.hpp>

#include "simulation/model.hpp"
#include "simulation/plan.hpp"
#include "simulation/trace.hpp"

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/io_context.hpp>

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace asio_retry::simulation {

/// Runs one seed's program and lets the models watch.
class world {
public:
    explicit world(std::uint64_t seed);
    ~world();
    world(world const&) = delete;
    world& operator=(world const&) = delete;

    void run();

    trace const& events() const { return trace_; }
    std::vector<std::string> const& violations() const { return violations_; }
    std::size_t operations() const;
    std::size_t attempts() const;

private:
    struct operation;
    struct running_attempt;
    struct gate;
    struct scope_watch;
    struct remains;

    duration now() const;
    void complain(std::size_t who, std::string const& what);

    /// Calls `function` after `delay`, by the only clock there is: that of a retry.
    template <typename Function>
    void after(duration delay, Function function);

    operation& add(operation_plan plan);
    void start(operation& o);
    template <typename Attempt>
    void start_as(operation& o, Attempt attempt);
    template <typename Attempt>
    asio::awaitable<int> await(operation& o, Attempt attempt);
    void completed(operation& o, error_code const& error, int value);

    retry_policy policy_of(operation& o);
    void perform(callback_plan const& plan, operation& by, char const* where);
    void cancel(operation& o, asio::cancellation_type_t type);
    void cancel_scope(std::size_t number, bool by_destruction);
    void hurry_scope(std::size_t number);
    void drain(std::size_t number, duration timeout);
    void join(std::size_t number, bool is_cancelled);
    bool is_below(std::optional<std::size_t> scope_number, std::size_t top) const;
    retry_scope* scope_of(operation& o);
    void happen(event_plan const& e);
    void cut_off();
    void destroy();

    template <typename Token>
    auto async_attempt(operation& o, std::uint64_t number, Token&& token);
    error_code throw_or_end_at_once(operation& o, std::uint64_t number, bool& over);
    attempt_plan plan_of(operation const& o, std::uint64_t number) const;
    void finish(std::shared_ptr<running_attempt> const& a, attempt_end how, error_code const& error);
    void stop(std::shared_ptr<running_attempt> const& a);

    void check_dry();
    void check_end_of(operation const& o);

    program const program_;
    dice dice_;
    trace trace_;
    std::vector<std::string> violations_;
    std::deque<operation> operations_; // never move
    std::size_t started_by_callables_ = 0;
    bool destroyed_ = false;
    time_point begin_{};
    std::optional<asio::io_context> io_;
    std::optional<virtual_time> time_;
    std::deque<scope_watch> scopes_;
};

} // namespace asio_retry::simulation
