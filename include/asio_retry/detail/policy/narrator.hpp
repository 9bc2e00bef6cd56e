#pragma once

#include <asio_retry/detail/policy/config.hpp>
#include <asio_retry/detail/policy/health_monitor.hpp>
#include <asio_retry/duration.hpp>
#include <asio_retry/error.hpp>
#include <asio_retry/failure_class.hpp>
#include <asio_retry/pushback.hpp>

#include <cstdint>
#include <exception>
#include <optional>
#include <string_view>
#include <utility>

namespace asio_retry {
struct admission;
struct attempt_end;
struct observation;
class random;
struct retry_action;
struct retry_settings;
enum class interruption : unsigned char;
enum class stop_reason;
class verdict;
} // namespace asio_retry

namespace asio_retry::detail {

struct attempt_facts;
class machine_observer;

/// Asks the gates of an operation whether its attempts may begin, and tells gates, observers and hooks what
/// happens. It decides nothing: a machine owns a narrator, and reports its decisions to it.
///
/// `attempts`: how many attempts have begun. `number`: the number of one attempt, from 1. A chooser is a gate
/// of the operation itself, which also chooses a server for each attempt.
class narrator {
public:
    /// `settings` must outlive the narrator. `hears`: a gate, `on_success` or an outer attempt must be told.
    narrator(retry_settings const& settings, bool hears, bool is_hedge = false) noexcept
        : settings_(&settings)
        , kind_(is_hedge ? failure_kind::transient : failure_kind::none)
        , is_told_(hears)
        , is_hedge_(is_hedge) {}
    narrator(narrator const&) = delete;
    narrator& operator=(narrator const&) = delete;
    ~narrator() {
        if (story_)
            forget_story();
    }

    // --- who hears
    ASIO_RETRY_DECL bool ask_observer() noexcept; // whether the policy's observer wants the operation
    void observe(machine_observer& observer, bool has_hooks, bool is_chooser) noexcept;
    void choose_with(machine_observer* only) noexcept; // null removes the chooser
    void expect_ticks() noexcept {
        makes_attempts_ = false;
        kind_ = failure_kind::transient; // gates count ticks as transient failures
    }
    void expect_no_wake_up() noexcept { is_wakeable_ = false; }
    void expect_marks() noexcept { attempts_speak_ = true; }
    ASIO_RETRY_DECL void draw_from(random& source) noexcept;
    bool is_told() const noexcept { return is_told_; } // whether anybody is told, or a story is kept
    bool makes_attempts() const noexcept { return makes_attempts_; }
    bool has_hooks() const noexcept { return has_hooks_; }
    bool chooses() const noexcept { return chooses_; }
    bool has_gate() const noexcept;
    bool is_observed() const noexcept; // whether the policy's observer follows the operation now
    ASIO_RETRY_DECL bool needs_time_of_success() const noexcept;
    ASIO_RETRY_DECL std::uint64_t operation_number() const noexcept;

    // --- admission
    // Asks the gates; after a refusal only when the next wait is over. `allowed`: the longest wait.
    bool admits(std::uint64_t number, time_point now, duration (*allowed)(void const*, time_point) noexcept,
                void const* machine) noexcept;
    admission ask(std::uint64_t number, time_point now, std::string_view& refuser) noexcept;
    bool is_admitted() const noexcept { return is_admitted_; }
    bool is_refused() const noexcept { return is_refused_; }
    bool is_put_off() const noexcept;
    time_point put_off_since(time_point now) const noexcept;
    std::pair<pushback, duration> rest_of_servers(time_point now) const noexcept;
    duration refused_for(time_point now) const noexcept; // from now on
    verdict last_failure() const;
    void end_unbegun(std::uint64_t number, admission const& given) noexcept;

    // --- a wait for a gate
    bool is_held() const noexcept { return is_held_; } // in a queue, or for a reserved time
    bool admits_held(std::uint64_t number, time_point now, duration allowed) noexcept;
    std::optional<duration> held_wait(time_point now, duration allowed) const noexcept;
    ASIO_RETRY_DECL bool listen(void (*wake)(void*) noexcept, void* who) noexcept;
    ASIO_RETRY_DECL void leave_queue(std::uint64_t attempts, time_point now) noexcept;

    // --- the cost of a retry
    // Acquires a retry from the gate, unless the narrator has one for the next attempt.
    bool take_lease(std::uint64_t attempts, time_point now) noexcept;
    void spend_lease() noexcept { has_lease_ = false; }
    void give_lease_back() noexcept {
        if (has_lease_)
            end_lease();
    }

    // --- an attempt
    ASIO_RETRY_DECL bool announce(std::uint64_t number, time_point now) noexcept; // whether it was told
    ASIO_RETRY_DECL void begin(std::uint64_t number, time_point now) noexcept;
    bool attempts_speak() const noexcept { return attempts_speak_; } // they report health and sending
    bool may_have_sent() const noexcept { return has_sent_ || !attempts_speak_; }
    ASIO_RETRY_DECL void note_sent() noexcept;
    void forget_sent() noexcept { has_sent_ = false; }
    ASIO_RETRY_DECL void heed(pushback said) noexcept;
    ASIO_RETRY_DECL shared_value<nested_marks> marks_of_nested(std::uint64_t number) noexcept;
    shared_value<nested_marks> make_marks(std::uint64_t number, admission const* given) const;
    pushback said_with(verdict const& failure) const noexcept;
    pushback wish_of_choosers(pushback said, time_point now) const noexcept;
    void complete(attempt_facts& facts) const noexcept; // adds the attempt's own reports
    void succeed(std::uint64_t attempts, duration took, time_point now) noexcept; // also ends the operation
    // No `kind`: the failure says nothing about the server.
    void fail(std::uint64_t attempts, verdict const& failure, std::optional<failure_kind> kind,
              attempt_facts const& facts, time_point now) noexcept;
    void fail_unjudged(std::uint64_t attempts, verdict const& failure, attempt_facts const& facts,
                       time_point now) noexcept; // `retry_if` was not asked
    void abandon(std::uint64_t attempts, interruption stopped, duration took, time_point now) noexcept;
    void tell_gates(attempt_end const& end, nested_marks* marks, time_point chosen) noexcept;

    // --- the operation, for observers and hooks
    void tell_start(time_point now) noexcept;
    void tell_failure(verdict const& failure, interruption stopped, time_point now) noexcept;
    void tell_wait(duration delay, time_point now) noexcept;
    duration tell_wait_over(time_point now) noexcept; // returns how long the attempt was held
    void tell_retry(std::uint64_t attempts, verdict const& failure, attempt_facts const& facts, duration delay,
                    time_point now) noexcept;
    void tell_exception(std::exception_ptr const& thrown) const noexcept;
    void tell_end(std::uint64_t attempts, stop_reason reason, error_code const& error, verdict const* failure,
                  attempt_facts const& facts, time_point now) noexcept;
    void tell_failed_end(std::uint64_t attempts, retry_action const& action, verdict const& failure,
                         error_code const& replacement, attempt_facts const& facts, time_point now) noexcept;
    ASIO_RETRY_DECL void tell_loss(std::uint64_t attempts) noexcept; // the machine is destroyed before its end
    void call_on_retry(verdict const& failure, attempt_facts const& facts, duration delay) const;
    void call_on_give_up(verdict const& failure, attempt_facts const& facts, stop_reason reason) const noexcept;
    void call_on_success(attempt_facts const& facts) const noexcept;

    // --- the policy's observer alone; a hedge tells it so
    void observe_start(time_point now) noexcept;
    bool announces(std::uint64_t number) const noexcept; // whether the observer heard the attempt begin
    time_point latest(time_point now) const noexcept;    // `now`, or the last known time if that is later
    void keep_failure(verdict const& failure, pushback said) noexcept;
    verdict const* kept_failure() const noexcept;
    void observe_refusal(std::string_view chooser, error_code const& refusal, std::uint64_t number,
                         failure_kind after, time_point now) noexcept;
    void observe_attempt_end(attempt_end const& end, verdict const* failure, attempt_facts const& facts,
                             time_point now) noexcept;
    void observe_end(std::uint64_t attempts, stop_reason reason, error_code const& error,
                     verdict const* failure, attempt_facts const& facts, time_point now) noexcept;

private:
    struct story;

    story* make_story() noexcept;
    ASIO_RETRY_DECL void forget_story() noexcept;
    admission ask_policys_gate(std::uint64_t number, time_point asked) noexcept;
    admission ask_choosers(std::uint64_t number, time_point now, std::string_view& refuser) noexcept;
    bool ask_later_gates(std::uint64_t number, time_point now) noexcept;
    bool keep(admission const& given, time_point asked) noexcept;
    admission kept() const noexcept;
    void refuse(std::string_view refuser, admission const& answer, std::uint64_t number, time_point asked,
                time_point now) noexcept;
    bool hold(admission& answer, std::uint64_t number, time_point asked, duration allowed) noexcept;
    void keep_held(admission const& answer, std::uint64_t number, time_point now, duration allowed) noexcept;
    void keep_nothing(std::uint64_t number, time_point now) noexcept;
    void stop_watching() noexcept;
    void end_lease() noexcept;
    void end_attempt(std::uint64_t attempts, attempt_end end, verdict const* failure,
                     attempt_facts const& facts, time_point now) noexcept;
    static void describe(observation& event, verdict const& failure, attempt_facts const& facts) noexcept;
    void describe_kept(observation& event) const noexcept;
    void observe_held(std::uint64_t number, time_point now) noexcept;
    void observe(observation& event, time_point now) noexcept;

    retry_settings const* settings_;
    machine_observer* observers_ = nullptr; // newest first
    story* story_ = nullptr;                // owned; made when it is needed; null without memory
    time_point asked_{};                    // when the gates were asked last, or a wait for them ended
    failure_kind kind_;                     // of the last failure, for `acquire` and `give_back`
    bool is_told_;
    bool is_hedge_;
    bool makes_attempts_ = true;
    bool is_wakeable_ = true;
    bool has_hooks_ = false;   // some observer has hooks
    bool chooses_ = false;     // some observer is a chooser
    bool is_admitted_ = false; // the end of the attempt has to be told
    bool is_refused_ = false;  // refused or held: a wait comes before the next question
    bool has_begun_ = false;   // the admitted attempt
    bool is_held_ = false;
    bool has_lease_ = false;
    bool attempts_speak_ = false;
    bool has_sent_ = false; // the attempt reported that it has sent something
};

} // namespace asio_retry::detail
