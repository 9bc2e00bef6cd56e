#!/bin/sh
# PgBouncer says nothing while its database is down, and does not look for 15 s whether it is back.
#
# One would expect: a refused connection to the database becomes an error at once, as without PgBouncer, and
# the next client makes PgBouncer connect again.
# True is: clients wait, without a byte. After one failure PgBouncer connects again 15 s later
# (`server_login_retry`), whoever asks in between.
# It matters: a dead database looks like a slow one. Attempts with a timeout below 15 s can all fail in
# vain although the database is up, and a retry budget is spent without one packet to it.
# (Twenty lines of Python stand for the database. They speak PostgreSQL's protocol 3.0 up to "ready".)
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' HUP INT TERM
cd "$folder"

set -- pgbouncer=1.18.0-1+deb12u1 libevent-2.1-7=2.1.12-stable-8+deb12u1 libc-ares2=1.18.1-3
apt-get download -qq -o APT::Sandbox::User=root "$@" || { echo "Debian no longer has one of $*."; exit 1; }
for package in ./*.deb; do dpkg -x "$package" .; done
LD_LIBRARY_PATH=$(echo "$folder"/usr/lib/*-linux-gnu)
export LD_LIBRARY_PATH
usr/sbin/pgbouncer --version | head -n 1

python3 - >seen <<'END'
import os
import socket
import struct
import subprocess
import threading
import time

asked = 0


def message(kind, body):
    return kind + struct.pack("!I", len(body) + 4) + body


def serve(listener):
    global asked
    while True:
        connection, _ = listener.accept()
        asked += 1
        connection.recv(999)  # startup
        ready = message(b"S", b"server_version\x0015\0") + message(b"Z", b"I")
        connection.sendall(message(b"R", b"\0\0\0\0") + ready)
        connections.append(connection)


def attempt(port):
    with socket.create_connection(("127.0.0.1", port), timeout=3) as client:
        client.sendall(message(b"", b"\0\x03\0\0user\0shop\0database\0shop\0\0"))
        try:
            return "connected" if client.recv(1) == b"R" else "error"
        except TimeoutError:
            return "no answer in 3 s"


def find_port():
    with socket.create_server(("127.0.0.1", 0)) as found:
        return found.getsockname()[1]


connections = []
database, port = find_port(), find_port()
with open("pgbouncer.ini", "w") as file:
    file.write(f"""
[databases]
shop = host=127.0.0.1 port={database} user=shop
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
auth_type = any
unix_socket_dir =
""")
other = ["--reuid", "65534", "--clear-groups"] if os.getuid() == 0 else []  # it refuses to be root
os.chmod(".", 0o755)
command = ["setpriv", "--pdeathsig", "KILL", *other, "usr/sbin/pgbouncer", "pgbouncer.ini"]
pgbouncer = subprocess.Popen(command, stderr=subprocess.DEVNULL)
try:
    while socket.socket().connect_ex(("127.0.0.1", port)) and pgbouncer.poll() is None:
        time.sleep(0.1)
    print(f"database is down: {attempt(port)}")
    listener = socket.create_server(("127.0.0.1", database))
    threading.Thread(target=serve, args=(listener,), daemon=True).start()
    for _ in range(3):
        print(f"database is up: {attempt(port)}, database asked {asked} times")
    said = [attempt(port) for _ in range(4)]
    print(f"later: {said[-1]}, database asked {asked} times")
finally:
    pgbouncer.kill()
    pgbouncer.wait()
END
cat seen
diff - seen <<'END' || { echo "This has changed."; exit 1; }
database is down: no answer in 3 s
database is up: no answer in 3 s, database asked 0 times
database is up: no answer in 3 s, database asked 0 times
database is up: no answer in 3 s, database asked 0 times
later: connected, database asked 1 times
END
