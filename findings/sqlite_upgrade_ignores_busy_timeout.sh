#!/bin/sh
# SQLite's busy timeout does nothing for a transaction that has read first, and no retry helps it.
#
# One would expect: with a busy timeout of 5 s a write waits 5 s for the lock, and a retry may get it.
# True is: if a transaction begins with SELECT and then writes, SQLite says SQLITE_BUSY at once when
# another connection writes too: two that wait for each other would never end. In WAL mode it then says
# SQLITE_BUSY_SNAPSHOT for ever, since what was read is old. Python shows "database is locked" for all.
# It matters: a retry of the statement cannot succeed, however long. Only the whole transaction can,
# after ROLLBACK. `BEGIN IMMEDIATE` avoids it: then the timeout holds, and a retry makes sense.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' HUP INT TERM
cd "$folder"

sqlite=libsqlite3-0=3.40.1-2+deb12u2
apt-get download -qq -o APT::Sandbox::User=root "$sqlite" || { echo "Debian no longer has $sqlite."; exit 1; }
dpkg -x ./*.deb .
LD_LIBRARY_PATH=$(echo "$folder"/usr/lib/*-linux-gnu)
export LD_LIBRARY_PATH
python3 -c 'import sqlite3, sys; print("SQLite", sqlite3.sqlite_version, "Python", sys.version.split()[0])'

python3 - >seen <<'END'
import sqlite3
import threading
import time


def connect(path):
    # Python's timeout is SQLite's busy timeout.
    return sqlite3.connect(path, timeout=5, isolation_level=None, check_same_thread=False)


def write(connection):
    start = time.monotonic()
    try:
        connection.execute("UPDATE stock SET number = number - 1")
        said = "done"
    except sqlite3.OperationalError as error:
        said = error.sqlite_errorname
    waited = time.monotonic() - start
    return f"{said} {'at once' if waited < 1 else f'after {waited:.0f} s'}"


def try_out(mode, begin):
    path = f"{mode}{begin}.db".replace(" ", "")
    other, own = connect(path), connect(path)
    other.execute(f"PRAGMA journal_mode = {mode}")
    other.execute("CREATE TABLE stock(number)")
    other.execute("INSERT INTO stock VALUES (9)")

    if begin == "BEGIN":
        own.execute("BEGIN")
        own.execute("SELECT number FROM stock").fetchall()
        other.execute("BEGIN IMMEDIATE")
        other.execute("UPDATE stock SET number = number - 1")
        said = [write(own)]
        if mode == "WAL":
            other.execute("COMMIT")
            said += [write(own), write(own)]
    else:
        other.execute("BEGIN IMMEDIATE")
        other.execute("UPDATE stock SET number = number - 1")
        threading.Timer(2, lambda: other.execute("COMMIT")).start()
        own.execute("BEGIN IMMEDIATE")  # waits for the other's commit
        own.execute("SELECT number FROM stock").fetchall()
        said = [write(own)]
    print(f"{mode}, {begin}, SELECT, UPDATE: {', '.join(said)}")


for mode in "DELETE", "WAL":
    for begin in "BEGIN", "BEGIN IMMEDIATE":
        try_out(mode, begin)
END
cat seen
diff - seen <<'END' || { echo "This has changed."; exit 1; }
DELETE, BEGIN, SELECT, UPDATE: SQLITE_BUSY at once
DELETE, BEGIN IMMEDIATE, SELECT, UPDATE: done at once
WAL, BEGIN, SELECT, UPDATE: SQLITE_BUSY at once, SQLITE_BUSY_SNAPSHOT at once, SQLITE_BUSY_SNAPSHOT at once
WAL, BEGIN IMMEDIATE, SELECT, UPDATE: done at once
END
