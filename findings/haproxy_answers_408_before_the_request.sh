#!/bin/sh
# HAProxy sends 408 to a client that has asked nothing, who takes it for the answer to its request.
#
# One would expect: an answer with status 408 is about the request that the client sent.
# True is: HAProxy sends 408 and closes when a new connection stays silent for `timeout http-request`.
# The bytes wait in the client's socket. A client that connects ahead of need (a pool that is warmed up,
# a browser) sends its first request then, and reads a 408 that is older than the request.
# It matters: HAProxy has not seen the request, so a retry on a new connection is safe, for POST too.
# Clients that count 408 as "the server was too slow" retry late, or never for POST.
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
import http.server
import socket
import subprocess
import threading
import time

served = 0

class Server(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        global served
        served += 1
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass

server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
threading.Thread(target=server.serve_forever, daemon=True).start()
with socket.create_server(("127.0.0.1", 0)) as found:
    port = found.getsockname()[1]
with open("haproxy.cfg", "w") as file:
    file.write(f"""
defaults
    mode http
    timeout connect 5s
    timeout client 30s
    timeout server 30s
    timeout http-request 1s
listen proxy
    bind 127.0.0.1:{port}
    server only 127.0.0.1:{server.server_port}
""")
haproxy = subprocess.Popen(
    ["setpriv", "--pdeathsig", "KILL", "usr/sbin/haproxy", "-db", "-f", "haproxy.cfg"],
    stderr=subprocess.DEVNULL,
)
try:
    while socket.socket().connect_ex(("127.0.0.1", port)) and haproxy.poll() is None:
        time.sleep(0.1)
    for silent in 0, 3:
        client = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        client.connect()
        time.sleep(silent)
        client.request("POST", "/pay")
        print(f"POST {silent} s after connecting: {client.getresponse().status}, served so far: {served}")
finally:
    haproxy.kill()
    haproxy.wait()
END
cat seen
diff - seen <<'END' || { echo "This has changed."; exit 1; }
POST 0 s after connecting: 200, served so far: 1
POST 3 s after connecting: 408, served so far: 1
END
