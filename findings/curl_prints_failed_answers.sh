#!/bin/sh
# `curl --retry` prints the answers of failed attempts before the good one, and says "success".
#
# One would expect: the output is the body of the last answer, as with `--output FILE`.
# True is: into a pipe, and with `>` into a file, curl writes the body of each answer that it retries. What
# it has written it cannot take back; only `--output` lets it cut the file. The exit code is 0.
# `--fail-with-body` does not help. `--fail` does, but also hides the last body.
# It matters: it works until the first 503. Then `curl --retry 3 ... | jq` reads two or three documents and
# takes the first, which is the error, for the answer.
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
usr/bin/curl --version | head -n 1 | cut -d ' ' -f 1-2
echo "Debian's curl $version"

python3 - >seen <<'END'
import http.server
import subprocess
import threading

asked = 0


class Server(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        global asked
        asked += 1
        body = b'{"error": "busy"}' if asked < 3 else b'{"price": 7}'
        self.send_response(503 if asked < 3 else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
threading.Thread(target=server.serve_forever, daemon=True).start()
url = f"http://127.0.0.1:{server.server_port}/"
for options in "| cat", "> body", "--fail-with-body | cat", "--fail | cat", "--output body":
    asked = 0
    with open("body", "w"):
        pass
    command = f"set -o pipefail; usr/bin/curl --silent --retry 3 --retry-delay 1 {url} {options}"
    ran = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    print(f"{options}: exit code {ran.returncode}: {ran.stdout or open('body').read()}")
END
cat seen
diff - seen <<'END' || { echo "This has changed."; exit 1; }
| cat: exit code 0: {"error": "busy"}{"error": "busy"}{"price": 7}
> body: exit code 0: {"error": "busy"}{"error": "busy"}{"price": 7}
--fail-with-body | cat: exit code 0: {"error": "busy"}{"error": "busy"}{"price": 7}
--fail | cat: exit code 0: {"price": 7}
--output body: exit code 0: {"price": 7}
END
