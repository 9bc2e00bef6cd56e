#!/bin/sh
# Asio resolves one name at a time: a dead DNS server for one name stops all others, and the shutdown.
#
# One would expect: `async_resolve` calls run side by side, and `cancel` ends one that is late.
# True is: each `io_context` has one thread that calls `getaddrinfo`, and nothing can interrupt this call.
# A cancelled lookup lets its caller go only when `getaddrinfo` returns, which is 10 s and more by default.
# All lookups of other names wait behind it, and so does the destructor of `io_context`.
# It matters: an attempt timeout does not bound a lookup. One unknown host holds up the retries towards
# all others, and each retry puts one more lookup into the queue.
# (The program's own getaddrinfo stands for the DNS: slow.example takes 3 s.)
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

cat >resolve.cpp <<'END'
#include <asio.hpp>

#include <cmath>
#include <cstring>
#include <iostream>
#include <netdb.h>
#include <optional>
#include <unistd.h>

extern "C" int getaddrinfo(char const* name, char const*, addrinfo const*, addrinfo** result)
{
    if (std::strcmp(name, "slow.example") == 0)
        sleep(3);
    *result = nullptr;
    return EAI_NONAME;
}

extern "C" void freeaddrinfo(addrinfo*) noexcept {}

using namespace std::chrono_literals;
using tcp = asio::ip::tcp;

auto const start = std::chrono::steady_clock::now();

void say(char const* what)
{
    auto const passed = std::chrono::duration<double>(std::chrono::steady_clock::now() - start);
    std::cout << what << " after " << std::floor(passed.count()) << " s" << std::endl;
}

int main()
{
    std::optional<asio::io_context> context(std::in_place);
    {
        tcp::resolver slow(*context), fast(*context);
        slow.async_resolve("slow.example", "80", [](auto, auto) { say("the cancelled lookup ends"); });
        asio::steady_timer timeout(*context, 100ms);
        timeout.async_wait([&](auto) {
            slow.cancel();
            say("the timeout cancels slow.example, fast.example is asked");
            fast.async_resolve("fast.example", "80", [](auto, auto) { say("fast.example is answered"); });
        });
        context->run();

        context->restart();
        slow.async_resolve("slow.example", "80", [](auto, auto) {});
        context->run_for(100ms);
        say("a program ends while slow.example is asked");
    }
    context.reset();
    say("its context is destroyed");
}
END
g++ -std=c++20 -I usr/include resolve.cpp -o resolve -pthread
timeout 30 ./resolve >seen
cat seen
diff - seen <<'END' || { echo "This has changed."; exit 1; }
the timeout cancels slow.example, fast.example is asked after 0 s
the cancelled lookup ends after 3 s
fast.example is answered after 3 s
a program ends while slow.example is asked after 3 s
its context is destroyed after 6 s
END
