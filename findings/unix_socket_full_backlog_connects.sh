#!/bin/sh
# Asio and asyncio report "connected" when a Unix socket's backlog is full.
#
# One would expect: `async_connect` to a busy local server waits or fails.
# True is: for Unix sockets Linux answers a non-blocking `connect` with EAGAIN, which means "not now",
# and tells nobody later. Asio and asyncio take EAGAIN for EINPROGRESS. They poll an unconnected socket,
# find no error, and report success. The first write fails, with ENOTCONN or EINVAL. Asio 1.22 still
# said ENOBUFS here (chriskohlhoff/asio, issue 1365).
# It matters: an overloaded server looks like a server that hangs up. The retry loop sees "connected",
# starts again with its smallest delay, and a retry limited to connecting never happens.
# Needs g++.
set -eu
echo "Linux $(uname -r), $(python3 --version), g++ $(g++ -dumpfullversion)"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' HUP INT TERM
cd "$folder"

boost=libboost1.81-dev=1.81.0-5+deb12u1
apt-get download -qq -o APT::Sandbox::User=root "$boost" || { echo "Debian no longer has $boost."; exit 1; }
dpkg --fsys-tarfile ./*.deb | tar -x ./usr/include/boost

cat >connect.cpp <<'END'
#include <boost/asio.hpp>
#include <iostream>

namespace asio = boost::asio;

int main(int, char** arguments)
{
    asio::io_context context;
    asio::local::stream_protocol::socket socket(context);
    socket.async_connect(arguments[1], [&](boost::system::error_code connected) {
        boost::system::error_code written;
        socket.write_some(asio::buffer("request", 7), written);
        std::cout << "Asio: connect: " << connected.message() << ", write: " << written.message() << '\n';
    });
    context.run();
}
END
g++ -std=c++20 -I usr/include connect.cpp -o connect -pthread

python3 - >seen <<'END'
import asyncio
import os
import socket
import subprocess

server = socket.socket(socket.AF_UNIX)
server.bind("busy")
server.listen(0)
waiting = socket.socket(socket.AF_UNIX)
waiting.connect("busy")  # fills the backlog

third = socket.socket(socket.AF_UNIX)
third.setblocking(False)
print("Linux: connect:", os.strerror(third.connect_ex("busy")))

print(subprocess.run(["./connect", "busy"], capture_output=True, text=True, timeout=30).stdout, end="")


async def main():
    _, writer = await asyncio.open_unix_connection("busy")
    said = "Success"
    writer.write(b"request")
    try:
        await writer.drain()
        await asyncio.sleep(0.2)
        await writer.drain()
        written = "Success"
    except OSError:
        written = "fails"
    print(f"asyncio: connect: {said}, write: {written}")


asyncio.run(asyncio.wait_for(main(), 30))
END
cat seen
diff - seen <<'END' || { echo "This has changed."; exit 1; }
Linux: connect: Resource temporarily unavailable
Asio: connect: Success, write: Transport endpoint is not connected
asyncio: connect: Success, write: fails
END
