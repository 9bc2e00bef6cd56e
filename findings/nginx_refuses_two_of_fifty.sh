#!/bin/sh
# nginx refuses the second of two requests in a second, at a rate of 50 a second.
#
# One would expect: `limit_req_zone ... rate=50r/s` with a plain `limit_req` grants 50 requests in each second.
# True is: it grants one request in 20 ms. A request that comes sooner after the last is refused, also if the
# server was idle before. So a client of 45 a second is refused after each of its requests that was late.
# It matters: a client that paces itself just below the rate still gets 503. With `burst=1 nodelay` a request
# may come 20 ms early.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' HUP INT TERM
cd "$folder"

nginx=nginx=1.22.1-9+deb12u11
apt-get download -qq -o APT::Sandbox::User=root "$nginx" || { echo "Debian no longer has $nginx."; exit 1; }
dpkg -x ./*.deb .
usr/sbin/nginx -v 2>&1

python3 - >seen <<'END'
import http.client
import os
import socket
import subprocess
import time

with socket.create_server(("127.0.0.1", 0)) as found:
    port = found.getsockname()[1]
here = os.getcwd()
temporary = "".join(
    f"{kind}_temp_path {here}/{kind};"
    for kind in ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
)
with open("nginx.conf", "w") as file:
    file.write(f"""
daemon off; master_process off; pid {here}/pid; error_log {here}/error.log;
events {{ }}
http {{
    access_log off; {temporary}
    limit_req_zone $server_port zone=plain:1m rate=50r/s;
    limit_req_zone $server_port zone=tolerant:1m rate=50r/s;
    server {{
        listen 127.0.0.1:{port};
        location /plain {{ limit_req zone=plain; empty_gif; }}
        location /tolerant {{ limit_req zone=tolerant burst=1 nodelay; empty_gif; }}
    }}
}}
""")
command = ["setpriv", "--pdeathsig", "KILL", "usr/sbin/nginx", "-p", here, "-c", f"{here}/nginx.conf"]
nginx = subprocess.Popen(command, stderr=subprocess.DEVNULL)
end = time.monotonic() + 90


def requests_at(path, delays):
    """The statuses of requests after these delays, if the machine kept them."""
    client = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    client.connect()
    client.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    begin = time.monotonic()
    statuses = []
    for delay in delays:
        time.sleep(max(0, begin + delay - time.monotonic()))
        client.request("GET", path)
        answer = client.getresponse()
        answer.read()
        statuses.append(answer.status)
        if time.monotonic() - begin - delay > 0.004:
            return None  # too busy: again
    return statuses


try:
    while socket.socket().connect_ex(("127.0.0.1", port)) and nginx.poll() is None:
        time.sleep(0.1)
    for path in "/plain", "/tolerant":
        for delays in (0, 0.010), (0, 0.032, 0.046):
            statuses = None
            while statuses is None and time.monotonic() < end:
                time.sleep(1)
                statuses = requests_at(path, delays)
            print(f"{path}, at {[round(1000 * delay) for delay in delays]} ms: {statuses}")
finally:
    nginx.kill()
    nginx.wait()
END
cat seen
diff - seen <<'END' || { echo "This has changed."; exit 1; }
/plain, at [0, 10] ms: [200, 503]
/plain, at [0, 32, 46] ms: [200, 200, 503]
/tolerant, at [0, 10] ms: [200, 200]
/tolerant, at [0, 32, 46] ms: [200, 200, 200]
END
