#pragma once

#include <asio_retry/retry_gate.hpp>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace asio_retry::test {

constexpr std::string_view word_for(failure_kind kind) noexcept {
    constexpr std::string_view words[] = {"none",    "permanent", "transient",
                                          "timeout", "throttled", "overloaded"};
    return words[static_cast<std::size_t>(kind)];
}

/// What a gate may answer besides a pause.
inline constexpr duration no_idea = duration::max();
inline constexpr std::optional<duration> let_in;

/// Writes down what it is asked and told, answers as it is told to, and keeps count of what must balance.
struct recording_gate final : retry_gate {
    explicit recording_gate(bool needs_time = true)
        : measures(needs_time) {}

    bool acquire(failure_kind kind, time_point) noexcept override {
        bool const granted = next(grants).value_or(true);
        write(granted ? "acquire " : "no lease ", word_for(kind));
        leases += granted;
        return granted;
    }
    void give_back(failure_kind kind) noexcept override {
        write("give_back ", word_for(kind));
        --leases;
    }
    admission admit(std::uint64_t number, time_point now) noexcept override {
        asked_at.push_back(now);
        std::optional<duration> const refused = next(refusals).value_or(std::nullopt);
        if (refused) {
            write("refuse ", std::to_string(number));
            return {*refused == duration::max() ? time_point::max() : now + *refused, error::circuit_open};
        }
        write("admit ", std::to_string(number));
        ++running;
        if (number > 1)
            --leases; // spent
        return now;
    }
    void on_end(attempt_end const& end) noexcept override {
        constexpr std::string_view words[] = {"succeeded ", "failed ", "abandoned "};
        write(words[static_cast<std::size_t>(end.outcome)],
              std::to_string(end.number) +
                  (end.outcome == attempt_end::how::failed ? " " + std::string(word_for(end.kind)) : ""));
        --running;
        if (end.number > 1 && end.after == failure_kind::none)
            ++leases; // it did not begin
        ends.push_back(end);
    }
    bool measures_time() const noexcept override { return measures; }

    /// Every attempt that was let in has ended, every lease is spent or given back.
    bool is_balanced() const noexcept { return running == 0 && leases == 0; }

    std::deque<bool> grants;                      // in order; granted when used up
    std::deque<std::optional<duration>> refusals; // in order: how long; let in when used up
    std::vector<std::string> told;
    std::vector<attempt_end> ends;
    std::vector<time_point> asked_at;
    int running = 0;
    int leases = 0;
    bool const measures;

private:
    template <typename T>
    static std::optional<T> next(std::deque<T>& answers) {
        if (answers.empty())
            return std::nullopt;
        T const first = answers.front();
        answers.pop_front();
        return first;
    }
    void write(std::string_view what, std::string_view which) {
        told.push_back(std::string(what).append(which));
    }
};

} // namespace asio_retry::test
