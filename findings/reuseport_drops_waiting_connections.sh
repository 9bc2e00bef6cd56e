#!/bin/sh
# Linux resets clients of an old listener although a new listener serves the same port.
#
# One would expect: with `SO_REUSEPORT` a new process listens before the old one ends, so no client
# notices a restart.
# True is: each connection waits in the queue of one listener. When this listener closes, the kernel
# resets those that nobody accepted. It does not move them (net.ipv4.tcp_migrate_req is 0).
# It matters: clients have connected and sent their request. They see ECONNRESET from a service that
# was never down, cannot know whether it ran, and do not retry what is not idempotent.
set -eu
migrates=$(cat /proc/sys/net/ipv4/tcp_migrate_req)
echo "Linux $(uname -r), tcp_migrate_req is $migrates, $(python3 --version)"
test "$migrates" = 0 || { echo "This machine moves connections: not the kernel's default."; exit 1; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' HUP INT TERM
cd "$folder"

python3 - >seen <<'END'
import socket


def listen(port):
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    listener.bind(("127.0.0.1", port))
    listener.listen(200)
    return listener


old = listen(0)
new = listen(old.getsockname()[1])
clients = [socket.create_connection(old.getsockname()) for _ in range(100)]
for client in clients:
    client.sendall(b"request")
old.close()  # the kernel spread the clients over both

new.settimeout(1)
accepted = []
try:
    while True:
        accepted.append(new.accept())
except TimeoutError:
    pass
reset = 0
for client in clients:
    client.setblocking(False)
    try:
        client.recv(1)
    except ConnectionResetError:
        reset += 1
    except BlockingIOError:
        pass
print(f"of {len(clients)} clients that had connected and sent,")
print(f"about half are served: {20 < len(accepted) < 80}")
print(f"all others are reset: {reset == len(clients) - len(accepted)}")
END
cat seen
diff - seen <<'END' || { echo "This has changed."; exit 1; }
of 100 clients that had connected and sent,
about half are served: True
all others are reset: True
END
