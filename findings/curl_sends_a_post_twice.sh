#!/bin/sh
# libcurl sends a POST a second time, without being asked to retry.
#
# One would expect: curl without `--retry` sends each request once, and a POST at most once.
# True is: if a reused connection ends before the first byte of an answer, libcurl sends the request
# again on a new connection, whatever its method, and reports success. RFC 9110 (9.2.2) says that a
# client should not do so. On a fresh connection the same end is error 52. `CURLOPT_FRESH_CONNECT`
# avoids it.
# It matters: the server may have read and done the first one, then crashed or been restarted. The
# payment is made twice, and neither the retry loop nor its log knows of a retry.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' HUP INT TERM
cd "$folder"

version=7.88.1-10+deb12u15
apt-get download -qq -o APT::Sandbox::User=root "curl=$version" "libcurl4=$version" ||
    { echo "Debian no longer has curl $version."; exit 1; }
for package in ./*.deb; do dpkg -x "$package" .; done
LD_LIBRARY_PATH=$(echo "$folder"/usr/lib/*-linux-gnu)
export LD_LIBRARY_PATH
usr/bin/curl --version | head -n 1
echo "Debian's curl $version"

python3 - >seen <<'END'
import http.server
import subprocess
import threading

answers = []  # true: answer and keep the connection, false: hang up
bodies = []


class Server(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        bodies.append(self.rfile.read(int(self.headers["Content-Length"])).decode())
        if answers.pop(0):
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()
        else:
            self.close_connection = True  # after it has read the request: a crash

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
threading.Thread(target=server.serve_forever, daemon=True).start()
url = f"http://127.0.0.1:{server.server_port}/"


def curl(name, *arguments):
    bodies.clear()
    code = subprocess.run(["usr/bin/curl", "-sS", *arguments], stderr=subprocess.DEVNULL).returncode
    print(f"{name}: exit code {code}, the server got: {' '.join(bodies)}")


answers[:] = [False]
curl("fresh connection", "--data", "pay", url)
answers[:] = [True, False, True]
curl("reused connection", "--data", "login", url, "--next", "--data", "pay", url)
END
cat seen
diff - seen <<'END' || { echo "This has changed."; exit 1; }
fresh connection: exit code 52, the server got: pay
reused connection: exit code 0, the server got: login pay pay
END
