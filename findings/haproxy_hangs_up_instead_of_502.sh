#!/bin/sh
# HAProxy answers nothing, instead of 502, when a server fails on a reused connection.
#
# One would expect: a proxy whose server hangs up says 502, for the second request as for the first.
# True is: from the second request of a client's connection on, HAProxy closes this connection without
# a byte. It takes the failure for a server's idle timeout, and the client for a browser that retries.
# It matters: "502 is retryable" is not enough. The same failure is a 502 or an end of stream, by the
# client's connection reuse. Most clients do not retry a POST without an answer, and some always do.
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

served = []

class Server(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        served.append(self.path)
        if self.path == "/crash":
            self.close_connection = True
            return
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_GET = do_POST

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
    for method in "GET", "POST":
        for paths in ["/crash"], ["/works", "/crash"]:
            client = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
            said = []
            for path in paths:
                try:
                    client.request(method, path)
                    answer = client.getresponse()
                    answer.read()
                    said.append(f"{path}: {answer.status}")
                except http.client.RemoteDisconnected:
                    said.append(f"{path}: hangs up without an answer")
            print(f"{method}, one connection: {', '.join(said)}")
    print("the server got", served.count("/crash"), "requests for /crash")
finally:
    haproxy.kill()
    haproxy.wait()
END
cat seen
diff - seen <<'END' || { echo "This has changed."; exit 1; }
GET, one connection: /crash: 502
GET, one connection: /works: 200, /crash: hangs up without an answer
POST, one connection: /crash: 502
POST, one connection: /works: 200, /crash: hangs up without an answer
the server got 4 requests for /crash
END
