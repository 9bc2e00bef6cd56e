#!/usr/bin/env bash
# What the first call of a file costs its compiler, beside the loop that one writes by hand: code, own headers and lines
# after preprocessing, which repeat, and user time and memory, which do not.
# Usage: first_call.sh [--check] [COMPILER] [INCLUDE-OPTIONS...]
# With --check it fails above the bounds below. Those of the time are wide: the first awaited call once took 1.8 of the loop.
set -euo pipefail
checks=no
if [ "${1:-}" = --check ]; then
    checks=yes
    shift
fi
compiler=${1:-g++}
shift || true
include="$(cd "$(dirname "$0")/../.." && pwd)/include"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
TIMEFORMAT=%U
options=(-std=c++20 -I"$include" "$@")

asio_headers='awaitable co_spawn detached io_context steady_timer use_awaitable'
write() { # FILE [OWN-HEADER]; the rest comes from the input
    {
        [ -z "${2:-}" ] || echo "#include <asio_retry/$2.hpp>"
        for header in $asio_headers; do echo "#include <boost/asio/$header.hpp>"; done
        cat <<'E1'
#include <string>
namespace asio = boost::asio;
asio::awaitable<std::string> fetch();
struct client {
    template <typename Token>
    auto async_send(Token&& token) {
        return asio::async_initiate<Token, void(boost::system::error_code, std::size_t)>(
            [this](auto handler) { asio::post(io, [handler = std::move(handler)]() mutable { std::move(handler)(boost::system::error_code(), 1); }); }, token);
    }
    asio::io_context& io;
};
E1
        cat
    } >"$folder/$1.cpp"
}

awaits='int main() { asio::io_context io; asio::co_spawn(io, session(), asio::detached); io.run(); }'
write await <<E1
asio::awaitable<void> session() { co_await fetch(); }
$awaits
E1
write loop <<E1
asio::awaitable<void> session() {
    asio::steady_timer timer(co_await asio::this_coro::executor);
    for (int failure = 1;; ++failure) {
        try {
            co_await fetch();
            co_return;
        } catch (boost::system::system_error const&) {
            if (failure == 5)
                throw;
        }
        timer.expires_after(failure * std::chrono::milliseconds(10));
        co_await timer.async_wait(asio::use_awaitable);
    }
}
$awaits
E1
write header async_retry <<E1
asio::awaitable<void> session() { co_await fetch(); }
$awaits
E1
write all_headers asio_retry <<E1
asio::awaitable<void> session() { co_await fetch(); }
$awaits
E1
write awaited async_retry <<E1
asio::awaitable<void> session() { co_await asio_retry::async_retry([] { return fetch(); }, asio_retry::retry_policy()); }
$awaits
E1
write callback <<'E1'
int main() { asio::io_context io; client c{io}; c.async_send([](boost::system::error_code, std::size_t) {}); io.run(); }
E1
write with_handler async_retry <<'E1'
int main() {
    asio::io_context io;
    client c{io};
    asio_retry::async_retry(io, [&](auto token) { return c.async_send(std::move(token)); }, asio_retry::retry_policy(), [](boost::system::error_code, std::size_t) {});
    io.run();
}
E1
for header in async_retry asio_retry; do
    { for asio in awaitable co_spawn steady_timer; do echo "#include <boost/asio/$asio.hpp>"; done; } >"$folder/lines_asio.cpp"
    { cat "$folder/lines_asio.cpp"; echo "#include <asio_retry/$header.hpp>"; } >"$folder/lines_$header.cpp"
done

bytes() { # FILE: of code
    "$compiler" "${options[@]}" -O2 -c "$folder/$1.cpp" -o "$folder/object.o"
    size "$folder/object.o" | awk 'END { print $1 }'
}
lines() { "$compiler" "${options[@]}" -E "$folder/$1.cpp" | wc -l; }
own_headers() { "$compiler" "${options[@]}" -M "$folder/$1.cpp" | tr ' ' '\n' | grep -c '/asio_retry/'; }

failed=0
report() { # WHAT FOUND MOST
    printf '%-52s %8s' "$1" "$2"
    if [ -n "${3:-}" ]; then
        printf '  at most %s' "$3"
        if awk "BEGIN { exit !($2 > $3) }"; then
            printf ': MORE'
            failed=1
        fi
    fi
    echo
}

report 'first awaited call, bytes of code' $(($(bytes awaited) - $(bytes await))) 16000
report 'a loop by hand, bytes of code' $(($(bytes loop) - $(bytes await)))
report 'first call with a handler, bytes of code' $(($(bytes with_handler) - $(bytes callback))) 9000
asio_lines=$(lines lines_asio)
for header in async_retry asio_retry; do
    most= most_headers=
    [ $header = asio_retry ] || most=11000 most_headers=55
    report "$header.hpp, lines beyond Asio's" $(($(lines lines_$header) - asio_lines)) $most
    report "$header.hpp, own headers" "$(own_headers lines_$header)" $most_headers
done

# The least user time of each file; in turns, so that what disturbs one disturbs the others.
rounds=$([ $checks = yes ] && echo 3 || echo 5)
declare -A best
files='await loop header all_headers awaited callback with_handler'
for _ in $(seq "$rounds"); do
    for file in $files; do
        now=$({ time "$compiler" "${options[@]}" -O2 -c "$folder/$file.cpp" -o "$folder/object.o"; } 2>&1)
        best[$file]=$(echo "$now ${best[$file]:-$now}" | awk '{ print $1 < $2 ? $1 : $2 }')
    done
done
for file in $files; do report "$file.cpp, seconds" "${best[$file]}"; done
ratio() { awk "BEGIN { printf \"%.2f\", ${best[$1]} / ${best[$2]} }"; }
report 'awaited.cpp in times of loop.cpp' "$(ratio awaited loop)" 1.45
report 'with_handler.cpp in times of callback.cpp' "$(ratio with_handler callback)" 1.55
[ $checks = no ] || exit $failed
