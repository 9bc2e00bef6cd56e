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
    std::uint32_t batch = 5;                                ///< asks for this many where it needs one; positive
    saturating_duration interval = std::chrono::seconds(1); ///< from an answer to the next question; positive
    saturating_duration greatest_interval = std::chrono::seconds(16); ///< up to which an empty store doubles it
    saturating_duration lease = std::chrono::seconds(10);  ///< for how long tokens wait for a use; positive
    double ratio = 0.1;                                    ///< what a success earns, in (0, 1]: a retry costs 1
    saturating_duration window = std::chrono::seconds(10); ///< the time constant by which what was earned fades
    double capacity = 100; ///< of the store, at least 1; the same in all processes
    double per_second = 0; ///< what the store gets besides; the same in all processes
};

/// What a process tells its store, and asks it for.
struct fleet_request {
    double earned = 0;        ///< since it was told last
    std::uint32_t wanted = 0; ///< tokens

    /// All fields are equal.
    bool operator==(fleet_request const&) const = default;
};

/// One budget of retries for many processes, kept in a store that all of them can reach, such as a Redis.
///
/// Worth it for many clients of few requests each, or where a contract limits the retries of all of them:
/// otherwise `retry_budget` is as good and needs no store. It does no I/O. Who owns it asks the store:
///
///     if (auto const request = budget->poll(now))       // often, and when a retry has been decided
///         ask(budget->script(), key, budget->arguments(*request),
///             [=](granted) { budget->on_granted(granted, now); }, [=] { budget->on_unavailable(now); });
///
/// No operation waits for the answer: the backoff hides it. When a retry has been decided it is reserved
/// (`acquire`), and when its wait is over it takes one of the tokens that are held here, or is refused with
/// error::attempt_refused (`admit`). Each success earns `ratio` here, which fades with the time constant
/// `window` and is told with the next question. Without need there is no question: none are asked while
/// nothing fails.
///
/// - **Need** is that more is reserved than held, or that a retry came before its token since the last answer,
///   as hedges and retries without a delay do. Then `poll` asks for what is missing and `batch - 1` besides.
///   So a process gets a batch or some more in each interval: one that retries often needs a greater batch.
/// - **The store is empty**, when it grants nothing: the interval doubles, and until it is over no more is
///   reserved than is held.
/// - **The store is unavailable**: what was told is had again, and whole tokens of what has been earned here
///   are held: the process lives on the share of its own successes, and asks again after `interval`.
/// - **Tokens that nobody has reserved** go back to what has been earned, `lease` after the last answer.
///
/// As in `retry_budget`, what succeeded before the first look at the time earns nothing; a `poll` is a look.
/// A `backoff_ticker`, which has no attempts, reserves only: it is refused while the store is empty, and the
/// tokens that its ticks cost are asked for afterwards and stay here. Retries may take them while there is no
/// store, so give tickers a fleet_budget of their own, for the same key.
///
/// Thread safety: any function may be called from any thread. A success is one atomic addition and reads no
/// clock; the others take a mutex for a moment.
class ASIO_RETRY_DECL fleet_budget final : public retry_gate {
public:
    /// Throws std::invalid_argument for what lies outside what the options say, is no number or not finite, and
    /// for a greatest_interval below interval.
    explicit fleet_budget(fleet_budget_options const& options = {});

    /// What to ask the store now; nothing if there is no need, if the interval is not over, or while a question
    /// is under way. Each request is to be answered once, by `on_granted` or `on_unavailable`: until then there
    /// is no other.
    std::optional<fleet_request> poll(time_point now) noexcept;

    /// The store's answer. More than was asked for is not believed; without a question it is ignored.
    void on_granted(std::uint32_t tokens, time_point now) noexcept;

    /// There was no answer, an error, or none in time. Without a question it is ignored.
    void on_unavailable(time_point now) noexcept;

    /// How many tokens are here, for reserved retries or others.
    std::uint32_t held() const noexcept;

    /// For EVAL with one key, in Lua: how the store keeps its tokens, by its own time. A key that is new, or
    /// has not been asked for an hour, is full. For Redis 5 or later, and what speaks its language.
    static std::string_view script() noexcept;

    /// ARGV of the script: earned, wanted, capacity, per_second.
    std::vector<std::string> arguments(fleet_request const& request) const;

    bool acquire(failure_kind kind, time_point now) noexcept override;
    void give_back(failure_kind kind) noexcept override;
    admission admit(std::uint64_t number, time_point now) noexcept override;
    void on_end(attempt_end const& end) noexcept override;

private:
    struct question {
        std::int64_t earned;
        std::uint32_t wanted;
    };

    std::uint64_t missing() const noexcept;
    void end_question(time_point now) noexcept;
    void look(time_point now) noexcept;
    void earn(std::uint64_t successes, duration passed) noexcept;
    void return_unreserved(time_point now) noexcept;
    double in_windows(duration time) const noexcept;

    fleet_budget_options const options_;
    std::atomic<std::uint64_t> successes_ = 0; // since the last look
    std::mutex mutable mutex_;                 // for all that follows
    std::uint64_t reserved_ = 0;
    std::uint64_t held_ = 0;
    std::int64_t earned_ = 0; // in billionths
    bool missed_ = false;     // a retry came before its token
    bool empty_ = false;      // the store, at the last answer
    std::optional<question> under_way_;
    duration interval_;
    std::optional<time_point> looked_;
    time_point answered_ = (time_point::max)();
    time_point ask_again_ = (time_point::min)();
};

} // namespace asio_retry
