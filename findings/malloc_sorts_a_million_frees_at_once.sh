#!/bin/sh
# glibc's malloc does the work of a million earlier frees in a few later calls, and those calls stand still for it.
#
# One would expect: each call of malloc and free takes about as long as any other, however much was freed before.
# True is: freed blocks of more than 128 bytes are kept in one list, unsorted. A malloc of a small block looks first
# among freed small blocks, which never touch that list. The first small block that is not found there sorts
# up to 10 000 entries of the list, and so does each one after it until the list is empty.
# It matters: a server ends a million waiting requests, all its messages are small, and all is fast. Then one
# message more than ever is under way, and its thread stands still for a hundred times the usual. The longest pause
# grows with what has ended. Without lists of small blocks, GLIBC_TUNABLES=glibc.malloc.mxfast=0, each malloc sorts
# what was freed since the last one, and no call stands still. Needs gcc.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' HUP INT TERM
cd "$folder"

version=$(getconf GNU_LIBC_VERSION)
echo "$version, gcc $(gcc -dumpfullversion)"
[ "$version" = "glibc 2.36" ] || { echo "Debian no longer has glibc 2.36."; exit 1; }

cat >freed.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { requests = 1000000, request_size = 288, message_size = 96, usual = 64 };

static void* messages[2 * usual];

static double cpu_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec * 1e6 + now.tv_nsec / 1e3;
}

/* The CPU time of so many messages that are under way together. */
static double send_messages(int count)
{
    double const began = cpu_us();
    for (int i = 0; i < count; ++i)
        messages[i] = malloc(message_size);
    double const took = cpu_us() - began;
    for (int i = 0; i < count; ++i)
        free(messages[i]);
    return took;
}

int main(void)
{
    static void* all[requests];
    for (int i = 0; i < requests; ++i)
        all[i] = malloc(request_size);
    for (int i = requests - 1; i > 0; --i) { /* they end in any order, so few neighbours become one block */
        int const other = rand() % (i + 1);
        void* const kept = all[i];
        all[i] = all[other];
        all[other] = kept;
    }
    send_messages(usual);
    double longest = 0;
    for (int i = 0; i < requests / 2; ++i) {
        free(all[i]);
        if (i % usual == 0) {
            double const took = send_messages(usual);
            longest = took > longest ? took : longest;
        }
    }
    printf("%.0f %.0f\n", longest, send_messages(2 * usual));
}
END
gcc -O2 freed.c -o freed

# The least of five runs: a busy machine makes some longer.
least() {
    for run in 1 2 3 4 5; do "$@"; done | awk '
        NR == 1 || $1 < usual { usual = $1 }
        NR == 1 || $2 < more { more = $2 }
        END { print usual, more }'
}
by_default=$(least ./freed)
without=$(least env GLIBC_TUNABLES=glibc.malloc.mxfast=0 ./freed)
echo "by default, us: the longest 64 messages, and then 128 messages: $by_default"
echo "without lists of small blocks: $without"
echo "$by_default $without" | awk '{ exit !($2 > 20 * $4) }' || { echo "This has changed."; exit 1; }
