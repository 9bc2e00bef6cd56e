#!/bin/sh
# MariaDB says "try restarting transaction" twice, and means two things that call for different retries.
#
# One would expect: errors 1205 (lock wait timeout) and 1213 (deadlock) have one text, so one retry.
# True is: 1213 has rolled back the whole transaction. 1205 has rolled back the last statement only: the
# transaction goes on. So a retry of the statement after 1213 loses what came before it. A restart with
# BEGIN after 1205 first commits the half that was done, since BEGIN commits, and does it twice.
# It matters: a loop around one kind of retry is wrong for the other error, without any error. ROLLBACK
# before a restart of the whole transaction is right for both.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' HUP INT TERM
cd "$folder"

set -- mariadb-server-core=1:10.11.19-0+deb12u1 python3-pymysql=1.0.2-2+deb12u1 \
    libaio1=0.3.113-4 liburing2=2.3-3 libnuma1=2.0.16-1
apt-get download -qq -o APT::Sandbox::User=root "$@" || { echo "Debian no longer has one of $*."; exit 1; }
for package in ./*.deb; do dpkg -x "$package" .; done
LD_LIBRARY_PATH=$(echo "$folder"/usr/lib/*-linux-gnu)
export LD_LIBRARY_PATH PYTHONPATH="$folder/usr/lib/python3/dist-packages"
usr/sbin/mariadbd --version

python3 - >seen <<'END'
import getpass
import os
import subprocess
import threading
import time

import pymysql

here = os.getcwd()
os.mkdir("data")
command = ["setpriv", "--pdeathsig", "KILL", "usr/sbin/mariadbd", "--no-defaults", "--skip-networking"]
command += ["--skip-grant-tables", "--innodb-lock-wait-timeout=1", f"--user={getpass.getuser()}"]
command += [f"--datadir={here}/data", f"--socket={here}/socket", f"--pid-file={here}/pid"]
command += [f"--lc-messages-dir={here}/usr/share/mysql"]
server = subprocess.Popen(command, stderr=open("log", "w"))


def ask(connection, text):
    cursor = connection.cursor()
    try:
        cursor.execute(text)
        return cursor.fetchall()
    except pymysql.MySQLError as error:
        return error.args


def add(number):
    return f"UPDATE account SET amount = amount + 1 WHERE id = {number}"


def move(error, retry):
    """Two accounts are to get 1 each. The second statement fails. Prints what the retry makes of it."""
    ask(own, "REPLACE INTO account VALUES (1, 0), (2, 0), (3, 0)")
    ask(own, "BEGIN")
    ask(own, add(1))
    ask(other, "BEGIN")
    for number in [2] if error == 1205 else [2, 3, 3, 3]:  # who has written more survives a deadlock
        ask(other, add(number))
    waiting = threading.Thread(target=ask, args=(other, add(1)))
    if error == 1213:
        waiting.start()
        time.sleep(0.3)
    failed = ask(own, add(2))
    if error == 1213:
        waiting.join()
    ask(other, "ROLLBACK")
    for statement in retry:
        ask(own, statement)
    ask(own, "COMMIT")
    rows = dict(ask(own, "SELECT id, amount FROM account WHERE id < 3"))
    print(f"{failed[0]}, {failed[1].split('; ')[1]}: retry {'; '.join(name(s) for s in retry)}: {rows}")


def name(statement):
    return statement if len(statement) < 10 else f"UPDATE {statement[-1]}"


try:
    while not os.path.exists("socket") and server.poll() is None:
        time.sleep(0.2)
    own, other = (pymysql.connect(unix_socket=f"{here}/socket", user="root") for _ in range(2))
    ask(own, "CREATE DATABASE bank")
    for connection in own, other:
        ask(connection, "USE bank")
    ask(own, "CREATE TABLE account(id INT PRIMARY KEY, amount INT) ENGINE=InnoDB")
    ask(own, "SET autocommit = 1")
    for error in 1205, 1213:
        move(error, [add(2)])
        move(error, ["BEGIN", add(1), add(2)])
        move(error, ["ROLLBACK", "BEGIN", add(1), add(2)])
finally:
    server.kill()
    server.wait()
END
cat seen
diff - seen <<'END' || { echo "This has changed."; exit 1; }
1205, try restarting transaction: retry UPDATE 2: {1: 1, 2: 1}
1205, try restarting transaction: retry BEGIN; UPDATE 1; UPDATE 2: {1: 2, 2: 1}
1205, try restarting transaction: retry ROLLBACK; BEGIN; UPDATE 1; UPDATE 2: {1: 1, 2: 1}
1213, try restarting transaction: retry UPDATE 2: {1: 0, 2: 1}
1213, try restarting transaction: retry BEGIN; UPDATE 1; UPDATE 2: {1: 1, 2: 1}
1213, try restarting transaction: retry ROLLBACK; BEGIN; UPDATE 1; UPDATE 2: {1: 1, 2: 1}
END
