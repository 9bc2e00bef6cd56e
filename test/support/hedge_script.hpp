#pragma once

#include "support/gate_values.hpp"

#include <asio_retry/traffic/hedge_machine.hpp>

#include <array>
#include <string>
#include <utility>

namespace asio_retry::test {

/// Tells a hedge_machine what happened, in milliseconds from the start, and asks it until it waits. What it
/// answers is written in a row, such as "stop, deliver 2 succeeded, done".
struct hedge_script {
    explicit hedge_script(hedge_policy const& policy)
        : machine(policy, memory) {}

    std::string start(int ms = 0) {
        machine.start(at(ms));
        return go_on(ms);
    }
    std::string go_on(int ms) {
        std::string story;
        for (;;) {
            hedge_action const action = machine.next(at(ms));
            story += story.empty() ? "" : ", ";
            switch (action.what) {
            case hedge_action::kind::begin:
                story += "begin " + std::to_string(action.attempt);
                break;
            case hedge_action::kind::stop:
                story += "stop";
                break;
            case hedge_action::kind::deliver:
                story +=
                    "deliver " + std::to_string(action.attempt) + " " + std::string(to_string(action.reason));
                delivered = action;
                break;
            case hedge_action::kind::wait:
                if (action.until == time_point::max())
                    return story + "wait";
                return story + "wait until " + std::to_string((action.until - noon).count() / 1'000'000);
            case hedge_action::kind::done:
                return story + "done";
            case hedge_action::kind::abandon:
                return story + "abandon";
            }
        }
    }

    std::string succeed(std::uint64_t number, int ms) {
        kept = machine.on_success(number, at(ms));
        return go_on(ms);
    }
    std::string fail(std::uint64_t number, int ms, verdict const& why = refused_connection()) {
        kept = machine.on_failure(number, why, at(ms));
        return go_on(ms);
    }
    /// It completes after the result is known.
    std::string complete_late(std::uint64_t number, int ms) {
        machine.on_unwanted(number, at(ms));
        return go_on(ms);
    }
    std::string drop(std::uint64_t number, int ms) {
        machine.on_dropped(number);
        return go_on(ms);
    }

    static verdict refused_connection() {
        return verdict::failure(make_error_code(boost::system::errc::connection_refused));
    }
    static time_point at(int ms) { return noon + std::chrono::milliseconds(ms); }

    std::array<hedged_attempt, 16> memory;
    hedge_machine machine;
    hedge_action delivered;
    bool kept = false;
};

} // namespace asio_retry::test
