#!/bin/sh
# Clients that upload miss an early "429, Retry-After: 30": they report a broken pipe instead.
#
# One would expect: if a server answers before it has read a large request, the client sees 429 and when
# to come back. RFC 9112 (9.5) asks clients to look for an answer while they send.
# True is: the server closes with unread bytes, so its kernel resets the connection. On Linux the answer
# can still be read, and curl reads it. Python's http.client and wget stop at the failed write. Node's
# `fetch` does so too, unless it happens to read before.
# It matters: what says "come back in 30 s" arrives as EPIPE or ECONNRESET, retryable at once. The whole
# upload is sent again into a server that is already overloaded, and so on.
# Needs Node, curl and wget.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' HUP INT TERM
cd "$folder"

echo "Linux $(uname -r), Node $(node --version), $(python3 --version)"
curl --version | head -n 1 | cut -d ' ' -f 1-2
wget --version | head -n 1

cat >fetch.js <<'END'
fetch(process.argv[2], {method: 'POST', body: require('fs').readFileSync('upload')})
    .then((answer) => console.log(answer.status), (error) => console.log(error.cause.message));
END
cat >http_client.py <<'END'
import http.client, sys, urllib.parse
client = http.client.HTTPConnection(urllib.parse.urlsplit(sys.argv[1]).netloc)
client.request("POST", "/", open("upload", "rb"))
print(client.getresponse().status)
END

python3 - >seen <<'END'
import socket
import subprocess
import sys
import threading


def serve(listener):
    while True:
        connection, _ = listener.accept()
        connection.recv(1000)
        connection.sendall(
            b"HTTP/1.1 429 Too Many Requests\r\nRetry-After: 30\r\n"
            b"Content-Length: 0\r\nConnection: close\r\n\r\n"
        )
        connection.close()


listener = socket.create_server(("127.0.0.1", 0))
threading.Thread(target=serve, args=(listener,), daemon=True).start()
url = f"http://127.0.0.1:{listener.getsockname()[1]}/"
with open("upload", "wb") as file:
    file.write(bytes(20_000_000))
for name, command in {
    "curl": ["curl", "-sS", "-H", "Expect:", "-w", "%{http_code}", "--data-binary", "@upload", url],
    "http.client": ["python3", "http_client.py", url],
    "wget": ["wget", "--tries=1", "--no-verbose", "--output-document=-", "--post-file=upload", url],
    "fetch": ["node", "fetch.js", url],
}.items():
    seen = 0
    for _ in range(uploads := 10):
        ran = subprocess.run(command, capture_output=True, text=True, timeout=30)
        seen += "429" in ran.stdout + ran.stderr
    print(f"{name}: of {uploads} uploads, 429 seen by {seen}", file=sys.stderr)  # fetch: by chance
    print(f"{name}: 429 is", "seen each time" if seen == uploads else "lost")
END
cat seen
diff - seen <<'END' || { echo "This has changed."; exit 1; }
curl: 429 is seen each time
http.client: 429 is lost
wget: 429 is lost
fetch: 429 is lost
END
