#!/usr/bin/env bash
# How long the compiler takes: for the header, against all of Asio, and for each further place where something is
# retried, against a hand-written loop there. Usage: compile_time.sh [COMPILER] [INCLUDE-OPTIONS...]
set -euo pipefail
compiler=${1:-g++}
shift || true
include="$(cd "$(dirname "$0")/../.." && pwd)/include"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
TIMEFORMAT=%U

calculate() { awk "BEGIN { printf \"%.3g\", $1 }"; }

seconds() { # of user time, the least of three
    local best= now
    for _ in 1 2 3; do
        now=$({ time "$compiler" -std=c++20 -I"$include" "${options[@]}" -c "$1" -o "$folder/object.o"; } 2>&1)
        if [ -z "$best" ] || [ "$(calculate "$now < $best")" = 1 ]; then best=$now; fi
    done
    echo "$best"
}

header() { # NAME HEADER
    echo "#include <$2>" >"$folder/$1.cpp"
}

# places NAME COUNT PREAMBLE BODY: the preamble, and that many functions with the body
places() {
    {
        echo "$3"
        for i in $(seq "$2"); do echo "boost::asio::awaitable<void> place_$i() { $4 }"; done
    } >"$folder/$1.cpp"
}

options=(-O2 "$@")
header asio boost/asio.hpp
header retry asio_retry/async_retry.hpp
by_hand='auto operation = []() -> asio::awaitable<std::tuple<boost::system::error_code>> { co_return boost::system::error_code(); };
    asio::steady_timer timer(co_await asio::this_coro::executor);
    for (int failure = 1; failure != 5; ++failure) {
        auto [code] = co_await operation();
        if (!code) co_return;
        timer.expires_after(failure * std::chrono::milliseconds(10));
        auto [cancelled] = co_await timer.async_wait(asio::as_tuple(asio::use_awaitable));
        if (cancelled) co_return;
    }'
retried='auto operation = []() -> asio::awaitable<std::tuple<boost::system::error_code>> { co_return boost::system::error_code(); };
    auto [code] = co_await asio_retry::async_retry(operation, asio_retry::retry_policy(), asio::as_tuple(asio::use_awaitable));'
includes='#include <asio_retry/async_retry.hpp>
#include <boost/asio.hpp>
namespace asio = boost::asio;'
for count in 1 9; do
    places "hand_$count" $count "$includes" "$by_hand"
    places "retry_$count" $count "$includes" "$retried"
done

asio=$(seconds "$folder/asio.cpp")
retry=$(seconds "$folder/retry.cpp")
hand_1=$(seconds "$folder/hand_1.cpp")
hand_9=$(seconds "$folder/hand_9.cpp")
retry_1=$(seconds "$folder/retry_1.cpp")
retry_9=$(seconds "$folder/retry_9.cpp")
echo "boost/asio.hpp: $asio s; async_retry.hpp: $retry s, $(calculate "$retry / $asio") of it"
hand=$(calculate "($hand_9 - $hand_1) / 8")
each=$(calculate "($retry_9 - $retry_1) / 8")
echo "each further place: by hand $hand s; async_retry $each s, $(calculate "$each / $hand") of it"
