#pragma once

#include <asio_retry/retry_gate.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace asio_retry {

/// The options of a `fleet_budget`.
struct fleet_budget_options {
    std::uint32_t batch = 5; ///< how many tokens it asks for when it needs one; positive
    saturating_duration interval = std::chrono::seconds(1); ///< from an answer to the next question; positive
    saturating_duration greatest_interval =
        std::chrono::seconds(16); ///< the interval doubles up to this while the store is empty
    saturating_duration lease = std::chrono::seconds(10);  ///< how long tokens wait here for a use; positive
    double ratio = 0.1;                                    ///< what a success earns, in (0, 1]; a retry costs 1
    saturating_duration window = std::chrono::seconds(10); ///< the time constant by which earned tokens fade
    double capacity = 100; ///< the capacity of the store, at least 1; the same in all processes
    double per_second = 0; ///< tokens that the store gains each second; the same in all processes
};

/// A question to the store: what this process has earned, and how many tokens it asks for.
struct fleet_request {
    double earned = 0;        ///< tokens earned since the last question
    std::uint32_t wanted = 0; ///< how many tokens it asks for

    /// Whether all fields are equal.
    bool operator==(fleet_request const&) const = default;
};

/// One retry budget for many processes, kept in a store that all of them reach, such as Redis.
///
/// Use it for many clients of few requests each, or where a contract limits the retries of all of them
/// together. Otherwise `retry_budget` is as good and needs no store.
///
/// The budget does no I/O. Your program asks the store:
///
///     if (auto const request = budget->poll(now))       // often, and when a retry has been decided
///         ask(budget->script(), key, budget->arguments(*request),
///             [=](granted) { budget->on_granted(granted, now); }, [=] { budget->on_unavailable(now); });
///
/// No operation waits for the answer: it arrives during the delay. A retry that is decided is reserved
/// (`acquire`). When its delay is over it takes a token that is held here, or is refused (`admit`). While
/// nothing fails, no question is asked. doc/reference/fleet_budget.md has the full contract: when `poll` asks,
/// an empty store, a store that does not answer, and tickers.
///
/// Errors: a retry without a token is refused with error::attempt_refused.
/// Thread safety: call any function from any thread. A success is one atomic addition and reads no clock; the
/// other functions lock a mutex for a moment.
class ASIO_RETRY_DECL fleet_budget final : public retry_gate {
public:
    /// Throws std::invalid_argument for an option outside its range, for NaN and infinity, and for a
    /// greatest_interval below interval.
    explicit fleet_budget(fleet_budget_options const& options = {});

    /// The question to ask the store now, or nothing.
    ///
    /// There is none while no token is needed, before the interval is over, and while another question waits
    /// for its answer. Answer each question once, with `on_granted` or `on_unavailable`.
    std::optional<fleet_request> poll(time_point now) noexcept;

    /// The store has granted `tokens`. More tokens than asked for are ignored, and so is an answer without a
    /// question.
    void on_granted(std::uint32_t tokens, time_point now) noexcept;

    /// The store gave no answer in time, or an error. Ignored without a question.
    void on_unavailable(time_point now) noexcept;

    /// How many tokens are held here, for reserved retries or others.
    std::uint32_t held() const noexcept;

    /// The Lua script for EVAL with one key, for Redis 5 or later and compatible stores.
    ///
    /// It keeps the store's tokens, by the store's own time. A key that is new, or was not asked for an hour,
    /// is full.
    static std::string_view script() noexcept;

    /// The arguments of the script (ARGV): earned, wanted, capacity, per_second.
    std::vector<std::string> arguments(fleet_request const& request) const;

    bool measures_time() const noexcept override { return false; }
    std::string_view name() const noexcept override { return "fleet_budget"; }
    bool acquire(failure_kind kind, time_point now) noexcept override;
    void give_back(failure_kind kind) noexcept override;
    admission admit(std::uint64_t number, time_point now) noexcept override;
    admission admit_again(admission const&, std::uint64_t, time_point now) noexcept override { return now; }
    void on_end(attempt_end const& end) noexcept override;

    /// Whether it has earned and holds nothing, no retry is reserved, and it may ask the store at once.
    bool is_idle(time_point now) const noexcept override;

private:
    struct question {
        std::int64_t earned;
        std::uint32_t wanted;
    };

    std::uint64_t missing() const noexcept;
    void end_question(time_point now) noexcept;
    void look(time_point now) noexcept;
    std::int64_t earned_after(std::uint64_t successes, duration passed) const noexcept;
    bool has_to_return(time_point now) const noexcept;
    std::int64_t returned_at(time_point now) const noexcept;
    double in_windows(duration time) const noexcept;

    fleet_budget_options const options_;
    std::atomic<std::uint64_t> successes_ = 0; // since `look` was called last
    std::mutex mutable mutex_;                 // protects the members below
    std::uint64_t reserved_ = 0;               // retries that are decided and have not begun
    std::uint64_t held_ = 0;                   // whole tokens
    std::int64_t earned_ = 0;                  // billionths of a token
    bool missed_ = false;                      // a retry has found no token since the last answer
    bool empty_ = false;                       // at the last answer the store was empty
    std::optional<question> under_way_;
    duration interval_;
    std::optional<time_point> looked_;
    time_point answered_ = (time_point::max)();
    time_point ask_again_ = (time_point::min)();
};

} // namespace asio_retry
