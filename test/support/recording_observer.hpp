#pragma once

#include <asio_retry/retry_observer.hpp>

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace asio_retry::test {

/// Writes down what it is told and says what is wrong with it: of each operation it has to be one story, well
/// nested.
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
        constexpr char const* words[] = {"started",       "attempt_began", "attempt_ended",
                                         "retry_decided", "refused",       "ended"};
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
        place at = place::between;
        std::uint64_t attempts = 0;
        time_point last{};
    };

    char const* wrong_with(observation const& event) {
        using enum observation::kind;
        if (event.what == started)
            return running.emplace(event.operation, story{place::between, 0, event.now}).second
                       ? nullptr
                       : "an operation started twice";
        auto const found = running.find(event.operation);
        if (found == running.end())
            return "something happened to an operation that is not running";
        story& s = found->second;
        if (event.now < std::exchange(s.last, event.now))
            return "time went back";
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
            if (s.at == place::attempting)
                return "something was refused in an attempt";
            return event.attempt == s.attempts + 1 ? nullptr : "another attempt was refused";
        case ended:
            place const at = s.at;
            running.erase(found);
            return at == place::attempting ? "an operation ended in an attempt" : nullptr;
        }
        return nullptr;
    }

    std::map<std::uint64_t, story> running;
};

} // namespace asio_retry::test
