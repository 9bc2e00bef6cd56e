#!/bin/sh
# HAProxy's rate limit counts the requests that it refuses: who keeps asking is refused for ever.
#
# One would expect: with 4 requests per 4 s, a client that asks twice a second is served half the time,
# as by nginx's `limit_req`, which does not count what it refuses.
# True is: `http_req_rate` counts each request as it comes. The usual rule, "deny if the rate is above
# 4", then sees the refused ones too. The client stays above the limit until it is silent for a while.
# It matters: a constant delay between retries never ends, however many attempts it has. Only a delay
# that grows beyond the period gets through. The answer is 429 without Retry-After, so nothing says so.
set -eu

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' HUP INT TERM
cd "$folder"

haproxy=haproxy=2.6.12-1+deb12u4
apt-get download -qq -o APT::Sandbox::User=root "$haproxy" ||
    { echo "Debian no longer has $haproxy."; exit 1; }
dpkg -x ./*.deb .
usr/sbin/haproxy -v | head -n 1

python3 - >seen <<'END'
import http.client
import socket
import subprocess
import time

with socket.create_server(("127.0.0.1", 0)) as found:
    port = found.getsockname()[1]
with open("haproxy.cfg", "w") as file:
    file.write(f"""
defaults
    mode http
    timeout client 30s
frontend limited
    bind 127.0.0.1:{port}
    stick-table type ip size 1k expire 30s store http_req_rate(4s)
    http-request track-sc0 src
    http-request deny deny_status 429 if {{ sc_http_req_rate(0) gt 4 }}
    http-request return status 200
""")
haproxy = subprocess.Popen(
    ["setpriv", "--pdeathsig", "KILL", "usr/sbin/haproxy", "-db", "-f", "haproxy.cfg"],
    stderr=subprocess.DEVNULL,
)

def ask():
    client = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    client.request("GET", "/")
    answer = client.getresponse()
    return answer.status, answer.getheader("Retry-After")

try:
    while socket.socket().connect_ex(("127.0.0.1", port)) and haproxy.poll() is None:
        time.sleep(0.1)
    said = []
    for _ in range(60):
        said.append(ask())
        time.sleep(0.5)
    served = sum(status == 200 for status, _ in said)
    print(f"asked twice a second for 30 s, 4 per 4 s allowed: {served} served")
    print(f"the last 50 answers are {set(said[-50:])}")
    time.sleep(9)
    print(f"after 9 s of silence: {ask()[0]}")
finally:
    haproxy.kill()
    haproxy.wait()
END
cat seen
diff - seen <<'END' || { echo "This has changed."; exit 1; }
asked twice a second for 30 s, 4 per 4 s allowed: 4 served
the last 50 answers are {(429, None)}
after 9 s of silence: 200
END
