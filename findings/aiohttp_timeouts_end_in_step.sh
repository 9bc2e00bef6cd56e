#!/bin/sh
# aiohttp rounds timeouts above 5 s up to the clock's full second, so that all requests fail in step.
#
# One would expect: ten requests that begin 0.07 s apart, with a timeout of 5.2 s, end 0.07 s apart.
# True is: above 5 s the end is rounded up to a full second of the event loop's clock.
# All ten end in the same moment, up to 1 s late. With 4.9 s they end one after the other.
# It matters: when a server hangs, aiohttp itself synchronises its callers. Their retries come as one
# burst each second, unless the delays have jitter. Attempts also overrun their share of a deadline.
# Needs Debian's python3, for the modules written in C.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' HUP INT TERM
cd "$folder"

set -- python3-aiohttp=3.8.4-1+deb12u2 python3-multidict=6.0.4-1+b1 python3-yarl=1.8.2-1+b1 \
    python3-frozenlist=1.3.3-1+b1 python3-async-timeout=4.0.2-1 python3-aiosignal=1.3.1-1 \
    python3-attr=22.2.0-1 python3-charset-normalizer=3.0.1-2 python3-idna=3.3-1+deb12u1
apt-get download -qq -o APT::Sandbox::User=root "$@" || { echo "Debian no longer has one of $*."; exit 1; }
for package in ./*.deb; do dpkg -x "$package" .; done
export PYTHONPATH="$folder/usr/lib/python3/dist-packages"
/usr/bin/python3 -c 'import aiohttp, sys
print("aiohttp", aiohttp.__version__, "Python", sys.version.split()[0])'

/usr/bin/python3 - >seen <<'END'
import asyncio
import socket
import time

import aiohttp

silent = socket.create_server(("127.0.0.1", 0), backlog=100)  # connects, never answers
url = f"http://127.0.0.1:{silent.getsockname()[1]}/"


async def ask(session, number, seconds):
    await asyncio.sleep(number * 0.07)
    try:
        await session.get(url, timeout=aiohttp.ClientTimeout(total=seconds))
    except asyncio.TimeoutError:
        return time.monotonic()


async def main():
    async with aiohttp.ClientSession() as session:
        for seconds in 4.9, 5.2:
            while time.monotonic() % 1 > 0.05:  # so that all ends lie within one second
                await asyncio.sleep(0.01)
            ends = await asyncio.gather(*(ask(session, number, seconds) for number in range(10)))
            apart = max(ends) - min(ends)
            print(f"timeout {seconds} s, begun within 0.63 s: ended", end=" ")
            print("in one moment" if apart < 0.2 else "one after the other")


asyncio.run(main())
END
cat seen
diff - seen <<'END' || { echo "This has changed."; exit 1; }
timeout 4.9 s, begun within 0.63 s: ended one after the other
timeout 5.2 s, begun within 0.63 s: ended in one moment
END
