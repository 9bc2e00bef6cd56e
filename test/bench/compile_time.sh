#!/usr/bin/env bash
# How long the compiler takes, in seconds (user time, the least of five): for the header, against all of Asio, and for
# each further place where something is retried, 11 places in one file against 1; and what that is in bytes of code.
# Usage: compile_time.sh [--bytes] [COMPILER] [INCLUDE-OPTIONS...]
# With --bytes only those are counted, which repeat, and it fails if a form costs more than 4096 bytes or more than co_spawn of a lambda.
set -euo pipefail
measures_time=yes
if [ "${1:-}" = --bytes ]; then
    measures_time=no
    shift
fi
compiler=${1:-g++}
shift || true
include="$(cd "$(dirname "$0")/../.." && pwd)/include"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
TIMEFORMAT=%U
options=(-std=c++20 -O2 -I"$include" "$@")

# Each form: a place, where @ stands for its number. Callables, handlers and results of different types are different
# costs; the first four forms have a callable of its own each, and everything else in common.
places() {
    case $1 in
    awaitable_in_a_coroutine) cat <<'E1' ;;
asio::awaitable<std::string> place_@(retry_policy policy, std::string const& text) {
    co_return co_await async_retry([&text]() -> asio::awaitable<std::string> { co_return text + "@"; }, policy);
}
E1
    token_in_a_coroutine) cat <<'E1' ;;
asio::awaitable<void> place_@(retry_policy policy, tcp::socket& socket, tcp::endpoint to) {
    co_await async_retry([&socket, to](auto token) { auto there = to; there.port(@); return socket.async_connect(there, std::move(token)); }, policy);
}
E1
    awaitable_in_a_scope) cat <<'E1' ;;
void place_@(retry_policy policy, retry_scope& scope, std::string const& text) {
    async_retry(scope, [&text]() -> asio::awaitable<std::string> { co_return text + "@"; }, policy, asio::detached);
}
E1
    token_with_a_callback) cat <<'E1' ;;
void place_@(retry_policy policy, tcp::socket& socket, tcp::endpoint to, std::function<void(error_code)> handler) {
    async_retry(socket.get_executor(), [&socket, to](auto token) { auto there = to; there.port(@); return socket.async_connect(there, std::move(token)); }, policy, handler);
}
E1
    another_handler_each) cat <<'E1' ;;
void place_@(retry_policy policy, tcp::socket& socket, tcp::endpoint to, int& ended) {
    async_retry(socket.get_executor(), [&socket, to](auto token) { auto there = to; there.port(@); return socket.async_connect(there, std::move(token)); }, policy,
                [&ended](error_code) { ended += @; });
}
E1
    another_result_each) cat <<'E1' ;;
struct result_@ { std::string text; };
asio::awaitable<result_@> place_@(retry_policy policy, std::string const& text) {
    co_return co_await async_retry([&text]() -> asio::awaitable<result_@> { co_return result_@{text}; }, policy);
}
E1
    co_spawn_of_a_lambda) cat <<'E1' ;;
void place_@(asio::any_io_executor executor, std::string const& text) {
    asio::co_spawn(executor, [&text]() -> asio::awaitable<std::string> { co_return text + "@"; }, asio::detached);
}
E1
    async_compose_by_hand) cat <<'E1' ;;
struct loop_@ {
    tcp::socket& socket;
    tcp::endpoint to;
    std::shared_ptr<asio::steady_timer> timer;
    int failures = 0;
    bool waited = true;
    template <typename Self>
    void operator()(Self& self, error_code error = {}) {
        if (waited && error == asio::error::operation_aborted)
            return self.complete(error);
        if (!std::exchange(waited, !waited)) {
            if (!error || ++failures == 5)
                return self.complete(error);
            timer->expires_after(failures * std::chrono::milliseconds(10));
            return timer->async_wait(std::move(self));
        }
        auto there = to;
        there.port(@);
        socket.async_connect(there, std::move(self));
    }
};
asio::awaitable<void> place_@(tcp::socket& socket, tcp::endpoint to) {
    co_await asio::async_compose<asio::use_awaitable_t<> const, void(error_code)>(
        loop_@{socket, to, std::make_shared<asio::steady_timer>(socket.get_executor())}, asio::use_awaitable, socket);
}
E1
    loop_by_hand) cat <<'E1' ;;
asio::awaitable<std::string> place_@(std::string const& text) {
    auto const operation = [&text]() -> asio::awaitable<std::string> { co_return text + "@"; };
    asio::steady_timer timer(co_await asio::this_coro::executor);
    for (int failure = 1;; ++failure) {
        try {
            co_return co_await operation();
        } catch (boost::system::system_error const&) {
            if (failure == 5)
                throw;
        }
        timer.expires_after(failure * std::chrono::milliseconds(10));
        co_await timer.async_wait(asio::use_awaitable);
    }
}
E1
    esac
}

write() { # FORM COUNT
    cat <<'E1'
#include <asio_retry/async_retry.hpp>
#include <boost/asio.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
namespace asio = boost::asio;
using asio::ip::tcp;
using namespace asio_retry;
E1
    for number in $(seq "$2"); do places "$1" | sed "s/@/$number/g"; done
}

compile() { "$compiler" "${options[@]}" -c "$1" -o "$folder/object.o"; }

# The least of five for each file; in turns, so that what disturbs one disturbs the other.
seconds() {
    local round file now
    declare -A best
    for round in 1 2 3 4 5; do
        for file in "$@"; do
            now=$({ time compile "$file"; } 2>&1)
            best[$file]=$(echo "$now ${best[$file]:-$now}" | awk '{ print $1 < $2 ? $1 : $2 }')
        done
    done
    for file in "$@"; do echo "${best[$file]}"; done
}

bytes() { # of code
    compile "$1"
    size -A "$folder/object.o" | awk '$1 ~ /^\.text/ { sum += $2 } END { print sum }'
}

if [ $measures_time = yes ]; then
    echo '#include <boost/asio.hpp>' >"$folder/asio.cpp"
    echo '#include <asio_retry/async_retry.hpp>' >"$folder/retry.cpp"
    seconds "$folder/asio.cpp" "$folder/retry.cpp" | xargs |
        awk '{ printf "boost/asio.hpp: %s s; async_retry.hpp: %s s, %.2f of it\n", $1, $2, $2 / $1 }'
fi

# What is to be kept to comes after what it is measured by.
forms='co_spawn_of_a_lambda awaitable_in_a_coroutine token_in_a_coroutine awaitable_in_a_scope token_with_a_callback
    another_handler_each another_result_each async_compose_by_hand loop_by_hand'
[ $measures_time = yes ] || forms=$(echo "$forms" | sed 's/another_handler_each.*//')
failed=0
printf '%-26s %8s' 'each further place' bytes
[ $measures_time = no ] || printf ' %8s' seconds
echo
for form in $forms; do
    for count in 1 11; do write "$form" $count >"$folder/$form.$count.cpp"; done
    size=$((($(bytes "$folder/$form.11.cpp") - $(bytes "$folder/$form.1.cpp")) / 10))
    printf '%-26s %8d' "$form" $size
    if [ $measures_time = yes ]; then
        seconds "$folder/$form.1.cpp" "$folder/$form.11.cpp" | xargs | awk '{ printf " %8.3f", ($2 - $1) / 10 }'
    fi
    case $form in
    co_spawn_of_a_lambda) most=$((size < 4096 ? size : 4096)) ;;
    awaitable_* | token_*)
        if [ $size -gt $most ]; then
            printf '  MORE THAN %d' $most
            failed=1
        fi
        ;;
    esac
    echo
done
[ $measures_time = yes ] || exit $failed
