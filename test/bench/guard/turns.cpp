// The most that is done for a million waits between two handlers of their context, in counts, which no noise
// changes.
#include "support/watched_turns.hpp"

#include <chrono>
#include <iostream>

int main() {
    using namespace std::chrono_literals;
    using asio_retry::detail::scheduled_waits;
    using asio_retry::test::watched_turns;

    constexpr unsigned turns_in_between = 2; // of the timer, and a posted one
    bool are_bounded = true;
    for (auto const over : {1s, 8s}) {
        watched_turns turns(1'000'000);
        turns.run(2s, over);
        std::cout << "1000000 waits over " << over.count() << " s: " << turns.moved() << " moves, at most "
                  << turns.most_moved() << " moves and " << turns.most_ended()
                  << " ends between two handlers\n";
        are_bounded = are_bounded && turns.ended() == 1'000'000 &&
                      turns.most_moved() <= turns_in_between * scheduled_waits::moves_per_turn &&
                      turns.most_ended() <= turns_in_between * scheduled_waits::waits_per_turn;
    }
    return are_bounded ? 0 : 1;
}
