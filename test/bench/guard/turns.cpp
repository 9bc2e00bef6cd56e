// The most that is done for a million waits, and for a request to a scope of 100 000, between two handlers of
// their context, in counts, which no noise changes.
#include "support/watched_request.hpp"
#include "support/watched_turns.hpp"

#include <asio_retry/async_retry.hpp>
#include <asio_retry/traffic/concurrency_limit.hpp>

#include <boost/asio/async_result.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <iostream>
#include <memory>
#include <utility>

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

/// Opens as soon as an attempt has ended.
struct opening_limit {
    std::uint32_t limit() const noexcept { return most; }
    void update(asio_retry::duration, std::uint32_t, bool) noexcept { most = 100'000; }
    std::uint32_t most = 1;
};

/// All that wait in a queue may begin at once, and yet they do so a few at a time.
bool queue_is_bounded() {
    namespace asio = boost::asio;
    constexpr unsigned count = 100'000;
    using limit = asio_retry::concurrency_limit<opening_limit>;
    auto const gate = std::make_shared<limit>(opening_limit(),
                                              asio_retry::queue_options{.greatest = count, .longest_wait = 1h});
    auto const policy = asio_retry::retry_policy().max_attempts(1).gate(gate);
    asio::io_context io(1);
    unsigned begun = 0, ended = 0, most = 0;
    auto const attempt = [&](auto token) {
        ++begun;
        return asio::async_initiate<decltype(token), void(asio_retry::error_code)>(
            [&io](auto handler) {
                asio::post(io, [handler = std::move(handler)]() mutable {
                    std::move(handler)(asio_retry::error_code());
                });
            },
            token);
    };
    for (unsigned i = 0; i != count; ++i)
        asio_retry::async_retry(io, attempt, policy, [&](asio_retry::error_code) { ++ended; });
    std::uint32_t const queued = gate->queued();
    for (unsigned before = begun; io.run_one() != 0; before = begun)
        most = std::max(most, begun - before);
    std::cout << "a queue of " << queued << ": at most " << most << " attempts begin in a handler\n";
    return queued == count - 1 && ended == count && most <= 64;
}

} // namespace

int main() {
    using asio_retry::detail::scope_request;

    bool are_bounded = true;
    for (auto const over : {1s, 8s})
        are_bounded &= waits_are_bounded(over);
    are_bounded &= requests_are_bounded("retry_now", scope_request::retry_now);
    are_bounded &= requests_are_bounded("cancel", scope_request::cancel);
    are_bounded &= queue_is_bounded();
    return are_bounded ? 0 : 1;
}
