#!/bin/sh
# libpq does not go to the next host of its list when the first says "too many clients".
#
# One would expect: `host=a,b` connects to b if a cannot take the connection.
# True is: libpq goes on if a host cannot be reached, or says 57P03 (cannot connect now: it starts or stops).
# After any other answer it stops, also after 53300 (too many connections), which says nothing of b.
# It matters: of two equal servers, one full one fails all programs that name it first, while the other is
# idle. A retry begins with the same host again. 53300 is retryable, but by the program, on the next host.
# (A small server stands for the full one: it sends the real message of PostgreSQL's protocol 3.0.)
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' HUP INT TERM
cd "$folder"

set -- postgresql-client-15=15.20-0+deb12u1 libpq5=15.20-0+deb12u1
apt-get download -qq -o APT::Sandbox::User=root "$@" || { echo "Debian no longer has one of $*."; exit 1; }
for package in ./*.deb; do dpkg -x "$package" .; done
LD_LIBRARY_PATH=$(echo "$folder"/usr/lib/*-linux-gnu)
export LD_LIBRARY_PATH
usr/lib/postgresql/15/bin/psql --version

python3 - >seen <<'END'
import socket
import struct
import subprocess
import threading


def refuse(listener, name, code, text, asked):
    while True:
        connection, _ = listener.accept()
        asked.append(name)
        length = struct.unpack("!I", connection.recv(4, socket.MSG_WAITALL))[0]
        connection.recv(length - 4, socket.MSG_WAITALL)  # the client's startup message
        fields = f"SFATAL\0VFATAL\0C{code}\0M{text}\0\0".encode()
        connection.sendall(b"E" + struct.pack("!I", len(fields) + 4) + fields)
        connection.close()


def start(*arguments):
    listener = socket.create_server(("127.0.0.1", 0))
    threading.Thread(target=refuse, args=(listener, *arguments), daemon=True).start()
    return listener.getsockname()[1]


for code, text in [
    ("57P03", "the database system is starting up"),
    ("57P03", "the database system is shutting down"),
    ("53300", "sorry, too many clients already"),
    ("53300", "remaining connection slots are reserved"),
]:
    asked = []
    first = start("first", code, text, asked)
    second = start("second", "28000", "no such user", asked)
    where = f"host=127.0.0.1,127.0.0.1 port={first},{second} dbname=shop user=shop"
    command = ["usr/lib/postgresql/15/bin/psql", "--no-password", "--no-psqlrc"]
    command += [where + " sslmode=disable gssencmode=disable connect_timeout=10"]
    subprocess.run(command, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    print(f"{code}, {text}: asked {', '.join(asked)}")
END
cat seen
diff - seen <<'END' || { echo "This has changed."; exit 1; }
57P03, the database system is starting up: asked first, second
57P03, the database system is shutting down: asked first, second
53300, sorry, too many clients already: asked first
53300, remaining connection slots are reserved: asked first
END
