#!/bin/sh
# Linux no longer doubles the delays between SYNs from the start: five seconds, five SYNs.
#
# One would expect: a lost SYN is sent again after 1, 3, 7 and 15 s, as RFC 6298 and textbooks say.
# Connect timeouts of "just over 3 s" and "just over 7 s" come from there.
# True is: since Linux 6.5 the first `tcp_syn_linear_timeouts` (4) retries come each second, and the
# doubling begins then: 1, 2, 3, 4, 5, 7, 11 s.
# It matters: in its first 7 s a server whose queue overflows gets six retries of each client, once three,
# besides the retries of the programs. Computed timeouts no longer fit: by the kernel's page on its
# settings (ip-sysctl), `connect` gives up after 131 s, once 127 s.
set -eu
sysctl=/proc/sys/net/ipv4/tcp_syn_linear_timeouts
test -e $sysctl || { echo "Linux $(uname -r) is older than 6.5: it doubles from the start."; exit 1; }
echo "Linux $(uname -r), tcp_syn_linear_timeouts is $(cat $sysctl), $(python3 --version)"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' HUP INT TERM
cd "$folder"

python3 - >seen <<'END'
import ctypes
import socket
import struct
import time

SO_ATTACH_FILTER = 26
drop_all = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0))  # a filter: "return 0"
listener = socket.create_server(("127.0.0.1", 0))
listener.setsockopt(
    socket.SOL_SOCKET, SO_ATTACH_FILTER, struct.pack("HxxxxxxP", 1, ctypes.addressof(drop_all))
)

client = socket.socket()
client.setblocking(False)
start = time.monotonic()
client.connect_ex(listener.getsockname())
sent = []
while time.monotonic() < start + 13:
    retransmits = client.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 8)[2]
    if retransmits > len(sent):
        sent.append(round(time.monotonic() - start))
    time.sleep(0.02)
print("a SYN is sent again after", *sent, "s")
END
cat seen
diff - seen <<'END' || { echo "This has changed."; exit 1; }
a SYN is sent again after 1 2 3 4 5 7 11 s
END
