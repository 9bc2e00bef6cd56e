#!/bin/sh
# Python's xmlrpc.client calls a remote method twice when the server hangs up.
#
# One would expect: one call of `server.pay(7)` is one request. XML-RPC is POST, and nobody named a retry.
# True is: the transport repeats each call once if the connection ends without an answer, on a fresh
# connection too, with no delay and no option against it.
# It matters: a server that dies of a request gets it twice. A retry of three attempts around it
# makes six calls, and a method that pays does it twice per attempt.
set -eu
python3 --version
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' HUP INT TERM
cd "$folder"

python3 - >seen <<'END'
import http.client
import http.server
import threading
import xmlrpc.client

calls = 0


class Server(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        global calls
        calls += 1
        self.rfile.read(int(self.headers["Content-Length"]))
        self.close_connection = True  # it has paid, then it crashes

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
threading.Thread(target=server.serve_forever, daemon=True).start()
url = f"http://127.0.0.1:{server.server_port}/"

for attempts in 1, 3:
    calls = 0
    for _ in range(attempts):
        try:
            xmlrpc.client.ServerProxy(url).pay(7)
        except http.client.RemoteDisconnected:
            pass
    print(f"attempts of the program: {attempts}, calls that the server got: {calls}")
END
cat seen
diff - seen <<'END' || { echo "This has changed."; exit 1; }
attempts of the program: 1, calls that the server got: 2
attempts of the program: 3, calls that the server got: 6
END
