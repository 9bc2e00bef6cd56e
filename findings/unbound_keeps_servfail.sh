#!/bin/sh
# Unbound answers SERVFAIL from its cache for 5 s: retries in this time ask nobody.
#
# One would expect: SERVFAIL means "this went wrong now", so a retry asks the name's servers again.
# True is: RFC 2308 (7.1) allows a resolver to keep a failure. Unbound does for 5 s, per name, while it
# resolves other names by the same servers. The answer does not say that it comes from the cache.
# It matters: three attempts with delays of 0.1, 0.2 and 0.4 s are one attempt, of no use. After a failure
# in DNS only a delay beyond 5 s is a retry.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' HUP INT TERM
cd "$folder"

set -- unbound=1.17.1-2+deb12u4 libprotobuf-c1=1.4.1-1+b1 libevent-2.1-7=2.1.12-stable-8+deb12u1 \
    libpython3.11=3.11.2-6+deb12u9
apt-get download -qq -o APT::Sandbox::User=root "$@" || { echo "Debian no longer has one of $*."; exit 1; }
for package in ./*.deb; do dpkg -x "$package" .; done
LD_LIBRARY_PATH=$(echo "$folder"/usr/lib/*-linux-gnu)
export LD_LIBRARY_PATH
usr/sbin/unbound -V | head -n 1

python3 - >seen <<'END'
import os
import socket
import struct
import subprocess
import threading
import time

SERVFAIL = 2
asked = 0
broken = True


def udp(port=0):
    opened = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    opened.bind(("127.0.0.1", port))
    return opened


def serve(server):  # authoritative for shop.example
    global asked
    while True:
        query, client = server.recvfrom(999)
        asked += 1
        question = query[12 : query.index(b"\0", 12) + 5]
        if broken:
            answer = struct.pack("!5H", 0x8400 | SERVFAIL, 1, 0, 0, 0) + question
        else:
            answer = struct.pack("!5H", 0x8400, 1, 1, 0, 0) + question
            answer += b"\xc0\x0c" + struct.pack("!2HIH4s", 1, 1, 60, 4, b"\x7f\0\0\1")
        server.sendto(query[:2] + answer, client)


def resolve(name):
    labels = b"".join(bytes([len(label)]) + label.encode() for label in name.split("."))
    query = struct.pack("!6H", 7, 0x100, 1, 0, 0, 0) + labels + b"\0" + struct.pack("!2H", 1, 1)
    for _ in range(100):  # Unbound may not listen yet
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
            client.settimeout(10)
            client.connect(("127.0.0.1", port))
            try:
                client.send(query)
                return "SERVFAIL" if client.recv(999)[3] & 15 == SERVFAIL else "resolved"
            except ConnectionRefusedError:
                time.sleep(0.1)


server = udp()
threading.Thread(target=serve, args=(server,), daemon=True).start()
with udp() as found:
    port = found.getsockname()[1]
with open("unbound.conf", "w") as file:
    file.write(f"""
server:
    interface: 127.0.0.1@{port}
    username: ""
    chroot: ""
    pidfile: ""
    directory: "{os.getcwd()}"
    use-syslog: no
    do-daemonize: no
    do-not-query-localhost: no
    module-config: "iterator"
stub-zone:
    name: "shop.example."
    stub-addr: 127.0.0.1@{server.getsockname()[1]}
""")
command = ["setpriv", "--pdeathsig", "KILL", "usr/sbin/unbound", "-d", "-c", "unbound.conf"]
unbound = subprocess.Popen(command, stderr=subprocess.DEVNULL)
try:
    print(f"servers fail: www is {resolve('www.shop.example')}")
    before = asked
    said = {resolve("www.shop.example") for _ in range(50)}
    print(f"servers fail: 50 retries: {said}, servers asked: {asked - before}")
    broken = False
    time.sleep(2)
    www, api = resolve("www.shop.example"), resolve("api.shop.example")
    print(f"servers work since 2 s: www is {www}, api is {api}")
    time.sleep(5)
    print(f"servers work since 7 s: www is {resolve('www.shop.example')}")
finally:
    unbound.kill()
    unbound.wait()
END
cat seen
diff - seen <<'END' || { echo "This has changed."; exit 1; }
servers fail: www is SERVFAIL
servers fail: 50 retries: {'SERVFAIL'}, servers asked: 0
servers work since 2 s: www is SERVFAIL, api is resolved
servers work since 7 s: www is resolved
END
