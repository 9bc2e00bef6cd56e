#!/bin/sh
# A client that retries a local server which is down gets connected, to itself.
#
# One would expect: `connect` to a port where nobody listens is refused each time.
# True is: if the port lies in the ephemeral range, Linux sooner or later picks it as the client's own
# port. TCP's simultaneous open then connects the socket to itself. The client reads its own request
# as the answer. The server cannot start: the client has its port. Odd ports escape: `connect` takes
# ports of the range's parity first, and the range begins with 32768.
# It matters: it needs some thousand retries, so it comes at night, with a server that restarts slowly.
# The retry loop reports success and keeps the server from coming back. Choose ports below the range.
set -eu
low=$(cut -f 1 /proc/sys/net/ipv4/ip_local_port_range)
high=$(cut -f 2 /proc/sys/net/ipv4/ip_local_port_range)
echo "Linux $(uname -r), ephemeral ports $low to $high, $(python3 --version)"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' HUP INT TERM
cd "$folder"

python3 - "$low" "$high" >seen <<'END'
import socket
import sys

low, high = map(int, sys.argv[1:])


def free(parity):  # a port of the range which nobody has
    for port in range((low + high) // 2 & ~1 | parity, high, 2):
        try:
            socket.create_server(("127.0.0.1", port)).close()
            return port
        except OSError:
            pass


def is_refused(client, port):
    try:
        client.connect(("127.0.0.1", port))
        return False
    except ConnectionRefusedError:
        return True


def retry(name, parity):
    port = free(parity)
    for _ in range(100_000):
        with socket.socket() as client:
            if is_refused(client, port):
                continue
            client.sendall(b"request")
            print(f"{name} port: connected to itself:", client.getsockname() == client.getpeername())
            print(f"{name} port: the answer is: {client.recv(99).decode()}")
            try:
                socket.create_server(("127.0.0.1", port))
            except OSError as error:
                print(f"{name} port: the server cannot start: {error.strerror.split(' (')[0]}")
            return
    print(f"{name} port: refused 100000 times")


retry("even", low % 2)
retry("odd", 1 - low % 2)
END
cat seen
diff - seen <<'END' || { echo "This has changed."; exit 1; }
even port: connected to itself: True
even port: the answer is: request
even port: the server cannot start: Address already in use
odd port: refused 100000 times
END
