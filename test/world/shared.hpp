#pragma once

#include "support/recording_observer.hpp"
#include "world/audited_gate.hpp"
#include "world/dice.hpp"
#include "world/record.hpp"
#include "world/trace.hpp"

#include <asio_retry/fault_plan.hpp>
#include <asio_retry/hedge_policy.hpp>
#include <asio_retry/observe/retry_metrics.hpp>
#include <asio_retry/observe/retry_traces.hpp>
#include <asio_retry/policy_book.hpp>
#include <asio_retry/retry_observer.hpp>
#include <asio_retry/retry_policy.hpp>
#include <asio_retry/traffic/circuit_breaker.hpp>
#include <asio_retry/traffic/concurrency_limit.hpp>
#include <asio_retry/traffic/endpoint_set.hpp>
#include <asio_retry/traffic/fleet_budget.hpp>
#include <asio_retry/traffic/keyed_gates.hpp>
#include <asio_retry/traffic/latency_quantile.hpp>
#include <asio_retry/traffic/share_budget.hpp>
#include <asio_retry/traffic/token_budget.hpp>

#include <memory>
#include <string>
#include <vector>

namespace asio_retry::world {

/// What the operations of all contexts share, and what anybody may change at any time.
class shared_things {
public:
    /// `unit` is a short delay. If the round is repeated, nothing depends on what the process has done before.
    shared_things(dice& d, duration unit, bool is_repeated);

    retry_policy policy(dice& d);
    hedge_policy hedge(dice& d);
    retry_policy policy_of_ticker(dice& d);

    /// One of the things that a program does while its operations run.
    void change(dice& d, time_point now);

    std::shared_ptr<endpoint_set<int>> const& servers() const noexcept { return servers_; }
    std::shared_ptr<fault_plan> const& faults() const noexcept { return faults_; }

    void end_faults() noexcept { faults_->disable(); }

    /// When no operation is left. Writes down what the observers have heard.
    void audit(violations& found, trace& written) const;

    std::uint64_t attempts() const noexcept { return metrics_->counts().attempts; }

private:
    using queue = concurrency_limit<aimd>;

    std::shared_ptr<retry_gate> add(std::shared_ptr<retry_gate> gate);
    void make_gates(dice& d);
    std::shared_ptr<retry_gate> some_gates(dice& d);
    std::shared_ptr<retry_observer> some_observers(dice& d);
    void change_faults(dice& d);
    void change_breaker(dice& d, time_point now);
    void answer_fleet(dice& d, time_point now);
    void audit_gates(violations& found) const;
    void audit_observers(violations& found) const;

    duration const unit_;
    circuit_breaker_options const sensitive_;
    std::vector<std::shared_ptr<audited_gate>> gates_;
    std::shared_ptr<circuit_breaker> breaker_;
    std::shared_ptr<share_budget> share_;
    std::shared_ptr<token_budget> ticks_ = std::make_shared<token_budget>(); // each tick takes a token
    std::shared_ptr<fleet_budget> fleet_;
    std::shared_ptr<queue> queues_[2];
    std::vector<std::shared_ptr<retry_gate>> chains_;
    keyed_gates<audited_gate> by_key_;
    std::shared_ptr<endpoint_set<int>> servers_;
    std::shared_ptr<fault_plan> faults_ = std::make_shared<fault_plan>();
    std::shared_ptr<latency_quantile> latency_ = std::make_shared<latency_quantile>(0.5, unit_, 5);
    std::shared_ptr<retry_metrics> metrics_ = std::make_shared<retry_metrics>();
    std::shared_ptr<retry_traces> traces_;
    std::shared_ptr<test::recording_observer> stories_ = std::make_shared<test::recording_observer>();
    policy_book book_;
};

} // namespace asio_retry::world
