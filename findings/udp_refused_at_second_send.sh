#!/bin/sh
# Linux refuses the second datagram because nobody read the first, and does not send it.
#
# One would expect: `send` on a connected UDP socket sends, and its error is about this datagram.
# True is: an ICMP "port unreachable" for an earlier datagram waits in the socket. The next `send`
# returns this error and sends nothing, even when the server has come back meanwhile.
# It matters: the first retry after a restart of a DNS, StatsD or game server fails in vain. A program
# that counts failures against the server, or doubles its delay, punishes a server that is up.
set -eu
echo "Linux $(uname -r), $(python3 --version)"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' HUP INT TERM
cd "$folder"

python3 - >seen <<'END'
import select
import socket
import time


def udp():
    return socket.socket(socket.AF_INET, socket.SOCK_DGRAM)


with udp() as server:
    server.bind(("127.0.0.1", 0))
    address = server.getsockname()
client = udp()
client.connect(address)
client.send(b"first attempt")
print("server is down: first attempt is sent")
time.sleep(0.2)  # for the ICMP message

server = udp()
server.bind(address)
for attempt in "second", "third":
    try:
        client.send(attempt.encode())
        said = "sent"
    except ConnectionRefusedError:
        said = "ECONNREFUSED"
    arrived = select.select([server], [], [], 1)[0]
    text = server.recv(99).decode() if arrived else "nothing"
    print(f"server is up: {attempt} attempt: {said}, and the server gets: {text}")
END
cat seen
diff - seen <<'END' || { echo "This has changed."; exit 1; }
server is down: first attempt is sent
server is up: second attempt: ECONNREFUSED, and the server gets: nothing
server is up: third attempt: sent, and the server gets: third
END
