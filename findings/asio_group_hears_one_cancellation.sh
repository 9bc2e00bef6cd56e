#!/bin/sh
# Asio's parallel groups pass on the first cancellation only: a polite one makes a firm one vain.
#
# One would expect: emit `total` first ("end if nothing has happened yet"), and `terminal` a moment later if
# the operation has not ended. Asio's operations take both, in any order.
# True is: `make_parallel_group`, and with it the `||` and `&&` of awaitables, forwards one cancellation. If
# its members ignore `total`, as composed operations do unless they ask for it, `terminal` reaches nobody.
# It matters: a shutdown that asks politely first cannot end such an attempt at all. It waits for the
# attempt's own timeout. Without the first request it would have ended at once.
# Asio of Boost 1.81 does the same. Needs g++.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' HUP INT TERM
cd "$folder"

asio=libasio-dev=1:1.22.1-1
apt-get download -qq -o APT::Sandbox::User=root "$asio" || { echo "Debian no longer has $asio."; exit 1; }
dpkg -x ./*.deb .
echo "Asio 1.22.1, g++ $(g++ -dumpfullversion)"

cat >group.cpp <<'END'
#include <asio.hpp>
#include <asio/experimental/parallel_group.hpp>

#include <iostream>

using asio::error_code;

// An attempt: a composed operation, which by default can be cancelled by `terminal` only.
template <class Token>
auto async_attempt(asio::steady_timer& timer, Token token)
{
    return asio::async_compose<Token, void(error_code)>(
        [&timer, begun = false](auto& self, error_code error = {}) mutable {
            if (begun)
                return self.complete(error);
            begun = true;
            timer.async_wait(std::move(self));
        },
        token, timer);
}

void run(char const* name, bool in_group, bool polite)
{
    asio::io_context context;
    asio::steady_timer timer(context, std::chrono::seconds(2));
    asio::cancellation_signal signal;
    auto done = [&](error_code error) { std::cout << name << ": " << error.message() << std::endl; };
    if (in_group)
        asio::experimental::make_parallel_group(
            [&](auto token) { return async_attempt(timer, std::move(token)); })
            .async_wait(asio::experimental::wait_for_one(),
                asio::bind_cancellation_slot(signal.slot(), [&](auto, error_code error) { done(error); }));
    else
        async_attempt(timer, asio::bind_cancellation_slot(signal.slot(), done));
    context.poll();
    if (polite)
        signal.emit(asio::cancellation_type::total);
    context.poll();
    signal.emit(asio::cancellation_type::terminal);
    context.restart();
    context.run();
}

int main()
{
    run("alone, terminal", false, false);
    run("alone, total then terminal", false, true);
    run("in a group, terminal", true, false);
    run("in a group, total then terminal", true, true);
}
END
g++ -std=c++20 -I usr/include group.cpp -o group -pthread
timeout 30 ./group >seen
cat seen
diff - seen <<'END' || { echo "This has changed."; exit 1; }
alone, terminal: Operation aborted.
alone, total then terminal: Operation aborted.
in a group, terminal: Operation aborted.
in a group, total then terminal: Success
END
