// The most that is done for a million waits, and for a request to a scope of 100 000, between two handlers of
// their context, in counts, which no noise changes.
#include "support/watched_request.hpp"
#include "support/watched_turns.hpp"

#include <chrono>
#include <iostream>

namespace {

using namespace std::chrono_literals;

bool waits_are_bounded(std::chrono::seconds over) {
    using asio_retry::detail::scheduled_waits;

    constexpr unsigned turns_in_between = 2; // of the timer, and a posted one
    asio_retry::test::watched_turns turns(1'000'000);
    turns.run(2s, over);
    std::cout << "1000000 waits over " << over.count() << " s: " << turns.moved() << " moves, at most "
              << turns.most_moved() << " moves and " << turns.most_ended() << " ends between two handlers\n";
    return turns.ended() == 1'000'000 &&
           turns.most_moved() <= turns_in_between * scheduled_waits::moves_per_turn &&
           turns.most_ended() <= turns_in_between * scheduled_waits::waits_per_turn;
}

/// The numbers themselves, and not those that the library has: they are what decision 61 promises.
bool requests_are_bounded(char const* name, asio_retry::detail::scope_request what) {
    asio_retry::test::watched_request request(100'000);
    request.run(what);
    std::cout << name << " of 100000: " << request.told_in_call() << " told in the call, at most "
              << request.most_told() << " between two handlers\n";
    return request.told() == 100'000 && request.told_in_call() <= 64 && request.most_told() <= 256;
}

} // namespace

int main() {
    using asio_retry::detail::scope_request;

    bool are_bounded = true;
    for (auto const over : {1s, 8s})
        are_bounded &= waits_are_bounded(over);
    are_bounded &= requests_are_bounded("retry_now", scope_request::retry_now);
    are_bounded &= requests_are_bounded("cancel", scope_request::cancel);
    return are_bounded ? 0 : 1;
}
