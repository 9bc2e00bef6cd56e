#pragma once

#include "case_attempts.hpp"
#include "matrix_case.hpp"
#include "support/recording_gate.hpp"
#include "table.hpp"

#include <asio_retry/retry_event.hpp>
#include <asio_retry/retry_policy.hpp>
#include <asio_retry/retry_scope.hpp>
#include <asio_retry/traffic/endpoint_set.hpp>
#include <asio_retry/virtual_time.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/io_context.hpp>

#include <exception>
#include <future>
#include <memory>
#include <optional>
#include <vector>

namespace asio_retry::test {

/// Counts itself, to see that nothing is left behind.
class counted {
public:
    explicit counted(int& alive) noexcept
        : alive_(&++alive) {}
    counted(counted const& other) noexcept
        : alive_(other.alive_) {
        ++*alive_;
    }
    counted& operator=(counted const&) = delete;
    ~counted() { --*alive_; }

private:
    int* alive_;
};

/// One case: an operation, started by a launcher, brought to its point, cancelled, and held against the table.
class scenario {
public:
    /// `io`, null at first, is reused by the cases that leave nothing on it.
    scenario(matrix_case const& c, std::unique_ptr<asio::io_context>& io);
    scenario(scenario const&) = delete;
    scenario& operator=(scenario const&) = delete;

    using launcher = void (*)(scenario&);
    void run(launcher launch);

    // --- for launchers

    asio::io_context& context() noexcept { return *io_; }
    asio::any_io_executor executor() const { return executor_; }
    retry_scope& scope() noexcept { return *scope_; }
    asio::cancellation_slot slot() noexcept { return signal_.slot(); }
    case_attempts& attempts() noexcept { return *attempts_; }
    counted count_me() noexcept { return counted(alive_); }
    std::shared_ptr<endpoint_set<int>> endpoints() {
        if (!endpoints_)
            endpoints_ = std::make_shared<endpoint_set<int>>(std::vector{1, 2, 3});
        return endpoints_;
    }
    retry_policy policy();

    bool cancels_before_start() const { return case_.at.where == place::before_start; }
    void about_to_start() {
        if (cancels_before_start())
            cancel();
    }

    void on_completed(boost::system::error_code const& error, int value);
    void on_completed(std::exception_ptr const& thrown, int value);
    void on_completed_in_coroutine(bool slot_in_use) { slot_in_use_ = slot_in_use; }
    void expect_completion_of(std::future<int> result) { future_ = std::move(result); }

private:
    void drive();
    void drive_to_attempt();
    void drive_to_wait();
    void drive_to_queued_retry();
    void queue_what_is_due();
    void drain();
    void cancel();
    void cancel_at(place where, unsigned attempt);
    bool poll();
    void look_at_future();

    void expect_outcome();
    void expect_nothing_left();
    void expect_late_cancellation_ignored();
    void destroy();

    duration delay() const;

    matrix_case const& case_;
    expectation const expected_;
    int alive_ = 0;
    asio::cancellation_signal signal_;
    std::unique_ptr<asio::io_context>& io_;
    asio::any_io_executor executor_;
    std::optional<virtual_time> time_;
    std::optional<retry_scope> parent_scope_, scope_;
    std::optional<case_attempts> attempts_;
    std::optional<std::future<int>> future_;
    std::shared_ptr<endpoint_set<int>> endpoints_; // null if nothing asks it
    std::shared_ptr<recording_gate> const gate_ = std::make_shared<recording_gate>(false);

    unsigned retries_ = 0;
    std::vector<retry_event> give_ups_;
    bool cancelled_ = false;
    int completions_ = 0;
    boost::system::error_code error_;
    int value_ = 0;
    bool slot_in_use_ = false;
};

} // namespace asio_retry::test
