#pragma once

#include <asio_retry/error.hpp>
#include <asio_retry/retry_observer.hpp>

#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace asio_retry::test {

/// Writes down what it is told and says what is wrong with it: of each operation it has to be one story, well
/// nested. Attempts of a hedge may overlap.
struct recording_observer final : retry_observer {
    void on_event(observation const& event) noexcept override {
        std::lock_guard const lock(mutex);
        events.push_back(event);
        if (char const* const wrong = wrong_with(event); wrong && fault.empty())
            fault = wrong + std::string(" after ") + std::to_string(events.size() - 1) + " events";
    }

    /// Every story that has begun has ended.
    bool is_complete() const noexcept { return running.empty(); }

    /// In words.
    std::vector<std::string> told() const {
        constexpr char const* words[] = {"started", "attempt_began", "attempt_ended", "retry_decided",
                                         "refused", "held",          "ended"};
        std::vector<std::string> result;
        for (observation const& each : events) {
            result.push_back(words[static_cast<int>(each.what)]);
            if (each.what != observation::kind::started && each.what != observation::kind::ended)
                result.back() += ' ' + std::to_string(each.attempt);
            if (each.what == observation::kind::ended)
                result.back() += ' ' + std::string(to_string(each.reason));
        }
        return result;
    }

    std::mutex mutex;
    std::vector<observation> events;
    std::string fault;

private:
    enum class place { between, attempting, decided };
    struct story {
        place at = place::between; // of a retry
        std::uint64_t attempts = 0;
        time_point last{};
        bool is_hedge = false;
        bool has_left_out = false;                  // the last attempt has ended, and may not have been made
        std::set<std::uint64_t> running_attempts{}; // of a hedge, which may have several
    };

    char const* wrong_with(observation const& event) {
        using enum observation::kind;
        if (event.what == started)
            return running.emplace(event.operation, story{.last = event.now, .is_hedge = event.is_hedge}).second
                       ? nullptr
                       : "an operation started twice";
        auto const found = running.find(event.operation);
        if (found == running.end())
            return "something happened to an operation that is not running";
        story& s = found->second;
        if (event.now < std::exchange(s.last, event.now))
            return "time went back";
        if (event.is_hedge != s.is_hedge)
            return "an operation became another form";
        if (char const* const wrong = wrong_with_facts(event))
            return wrong;
        char const* const wrong = s.is_hedge ? wrong_in_hedge(s, event) : wrong_in_retry(s, event);
        if (event.what == attempt_began)
            s.has_left_out = false;
        if (event.what == attempt_ended && event.attempt == s.attempts)
            s.has_left_out = event.error == detail::aborted_error();
        if (event.what != ended)
            return wrong;
        bool const is_count =
            event.attempt == s.attempts || (s.has_left_out && event.attempt + 1 == s.attempts);
        running.erase(found);
        return wrong || is_count ? wrong : "an operation ended with a wrong number of attempts";
    }

    static char const* wrong_with_facts(observation const& event) {
        using enum observation::kind;
        bool const is_refused = event.what == refused || event.what == held ||
                                event.reason == stop_reason::budget || event.reason == stop_reason::refused;
        if (!event.gate.empty() && !is_refused)
            return "a gate is named that refused nothing";
        if (event.gate.empty() &&
            (event.what == refused || event.what == held || event.reason == stop_reason::refused))
            return "a gate refused and is not named";
        if (event.stopped == interruption::beaten && !event.is_hedge)
            return "an attempt was beaten by no other";
        if (event.what == attempt_ended && (event.failure == failure_kind::none) == event.error.failed())
            return "an attempt failed without an error, or succeeded with one";
        if (event.what == ended && (event.reason == stop_reason::succeeded) == event.error.failed())
            return "an operation failed without an error, or succeeded with one";
        return nullptr;
    }

    static char const* wrong_in_retry(story& s, observation const& event) {
        using enum observation::kind;
        switch (event.what) {
        case started:
            break;
        case attempt_began:
            if (s.at == place::attempting)
                return "an attempt began in another";
            s.at = place::attempting;
            return event.attempt == ++s.attempts ? nullptr : "an attempt has a wrong number";
        case attempt_ended:
            if (std::exchange(s.at, place::between) != place::attempting)
                return "an attempt ended that had not begun";
            return event.attempt == s.attempts ? nullptr : "another attempt ended";
        case retry_decided:
            if (std::exchange(s.at, place::decided) != place::between || s.attempts == 0)
                return "a retry was decided that does not follow an attempt";
            return event.attempt == s.attempts ? nullptr : "a retry of another attempt";
        case refused:
        case held:
            if (s.at == place::attempting)
                return "something was refused in an attempt";
            return event.attempt == s.attempts + 1 ? nullptr : "another attempt was refused";
        case ended:
            return s.at == place::attempting ? "an operation ended in an attempt" : nullptr;
        }
        return nullptr;
    }

    static char const* wrong_in_hedge(story& s, observation const& event) {
        using enum observation::kind;
        switch (event.what) {
        case started:
            break;
        case attempt_began:
            s.running_attempts.insert(event.attempt);
            return event.attempt == ++s.attempts ? nullptr : "an attempt of a hedge has a wrong number";
        case attempt_ended:
            return s.running_attempts.erase(event.attempt) == 1
                       ? nullptr
                       : "an attempt of a hedge ended that did not run";
        case retry_decided:
        case held:
            return "a hedge decided on a retry, or waited for a gate";
        case refused:
            return event.attempt == s.attempts + 1 ? nullptr : "another attempt of a hedge was refused";
        case ended:
            return s.running_attempts.empty() ? nullptr : "a hedge ended in an attempt";
        }
        return nullptr;
    }

    std::map<std::uint64_t, story> running;
};

} // namespace asio_retry::test
