#!/bin/sh
# TCP keepalive ends a dead connection in seconds, but not while a request is in flight.
#
# One would expect: keepalive with 1 s idle, 1 s interval and 2 probes ends each connection to a dead
# host after 3 s.
# True is: Linux sends no probe while data is unacknowledged. The retransmissions decide then, and
# `tcp_retries2` lets them go on for 15 minutes and more. `TCP_USER_TIMEOUT` ends both kinds.
# It matters: keepalive helps idle connections only. A request to a host that died hangs, without an
# attempt timeout there is no retry, and each new request on this connection joins the queue.
set -eu
echo "Linux $(uname -r), tcp_retries2 is $(cat /proc/sys/net/ipv4/tcp_retries2), $(python3 --version)"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' HUP INT TERM
cd "$folder"

python3 - >seen <<'END'
import ctypes
import select
import socket
import struct
import time

SO_ATTACH_FILTER = 26
drop_all = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0))  # a filter: "return 0"
program = struct.pack("HxxxxxxP", 1, ctypes.addressof(drop_all))
listener = socket.create_server(("127.0.0.1", 0))
servers = []


def connect(user_timeout=None):
    client = socket.create_connection(listener.getsockname())
    client.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 1)
    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, 1)
    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT, 2)
    if user_timeout:
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, user_timeout)
    servers.append(listener.accept()[0])
    # From now on the server's host is dead: its socket sees and acknowledges nothing.
    servers[-1].setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, program)
    return client


clients = {
    connect(): "keepalive, idle",
    connect(): "keepalive, request in flight",
    connect(4000): "keepalive, request in flight, TCP_USER_TIMEOUT of 4 s",
}
for client, name in clients.items():
    if "request" in name:
        client.sendall(b"request")
end = time.monotonic() + 30
alive = dict(clients)
while alive and time.monotonic() < end:
    for client in select.select(list(alive), [], [], 1)[0]:
        try:
            client.recv(1)
        except TimeoutError:
            print(f"{alive.pop(client)}: ETIMEDOUT")
for name in alive.values():
    print(f"{name}: still waits after 30 s")
END
cat seen
diff - seen <<'END' || { echo "This has changed."; exit 1; }
keepalive, idle: ETIMEDOUT
keepalive, request in flight, TCP_USER_TIMEOUT of 4 s: ETIMEDOUT
keepalive, request in flight: still waits after 30 s
END
