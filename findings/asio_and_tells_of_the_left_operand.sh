#!/bin/sh
# Asio's `&&` of two awaitables reports the failure of the left one, also if the right one failed and stopped it.
#
# One would expect: `a() && b()` throws multiple_exceptions when both end with an exception, and its
# `first_exception()` is the one that came first: that of `b`, whose failure made Asio cancel `a`.
# True is: "first" is the place in the expression. The exception of `a` is the cancellation that Asio sent
# itself, "Operation aborted", and the reason of the failure, that of `b`, cannot be read at all.
# It matters: a connection beside its health check is written as `run() && check()`. When the check fails,
# a retry sees an abort, which usually means that the program wants to end, and a log has no reason.
# The one that is likely to fail first has to stand on the left. Needs g++.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' HUP INT TERM
cd "$folder"

asio=libasio-dev=1:1.22.1-1
apt-get download -qq -o APT::Sandbox::User=root "$asio" || { echo "Debian no longer has $asio."; exit 1; }
dpkg -x ./*.deb .
echo "Asio 1.22.1, g++ $(g++ -dumpfullversion)"

cat >both.cpp <<'END'
#include <asio.hpp>
#include <asio/experimental/awaitable_operators.hpp>

#include <iostream>

using namespace asio::experimental::awaitable_operators;

asio::awaitable<void> connection()
{
    asio::steady_timer until_closed(co_await asio::this_coro::executor, std::chrono::seconds(5));
    co_await until_closed.async_wait(asio::use_awaitable);
}

asio::awaitable<void> health_check()
{
    asio::steady_timer answer(co_await asio::this_coro::executor, std::chrono::milliseconds(20));
    co_await answer.async_wait(asio::use_awaitable);
    throw std::runtime_error("no answer to the ping");
}

void report(char const* name, asio::awaitable<void> both)
{
    asio::io_context context;
    auto done = [&](std::exception_ptr thrown) {
        try {
            std::rethrow_exception(thrown);
        } catch (asio::multiple_exceptions const& several) {
            try {
                std::rethrow_exception(several.first_exception());
            } catch (std::exception const& first) {
                std::cout << name << ": first of several: " << first.what() << std::endl;
            }
        } catch (std::exception const& only) {
            std::cout << name << ": " << only.what() << std::endl;
        }
    };
    asio::co_spawn(context, std::move(both), done);
    context.run();
}

int main()
{
    report("connection && health_check", connection() && health_check());
    report("health_check && connection", health_check() && connection());
}
END
g++ -std=c++20 -I usr/include both.cpp -o both -pthread
timeout 30 ./both >seen
cat seen
diff - seen <<'END' || { echo "This has changed."; exit 1; }
connection && health_check: first of several: Operation aborted.
health_check && connection: first of several: no answer to the ping
END
