#!/bin/sh
# Two limiters in a row send two Retry-After fields, and urllib3 then throws instead of retrying.
#
# One would expect: `add_header` of nginx sets a field, and a client takes one of two Retry-After fields.
# True is: `add_header` adds a second field to that of the application behind nginx. RFC 9110 allows one
# only. urllib3 joins both to "1, 2", cannot read this as a number or date, and throws `InvalidHeader`.
# It matters: one line in the proxy's configuration switches off all retries of each Python program with
# urllib3 or requests. Their logs blame a header, not the overload. A client had better take the longest.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' HUP INT TERM
cd "$folder"

set -- nginx=1.22.1-9+deb12u11 python3-urllib3=1.26.12-1+deb12u4 python3-six=1.16.0-4
apt-get download -qq -o APT::Sandbox::User=root "$@" || { echo "Debian no longer has one of $*."; exit 1; }
for package in ./*.deb; do dpkg -x "$package" .; done
usr/sbin/nginx -v 2>&1
export PYTHONPATH="$folder/usr/lib/python3/dist-packages"
python3 -c 'import urllib3; print("urllib3", urllib3.__version__)'

python3 - >seen <<'END'
import http.server
import os
import socket
import subprocess
import threading
import time

import urllib3

asked = 0


class Full(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        global asked
        asked += 1
        self.send_response(429 if asked == 1 else 200)
        if asked == 1:
            self.send_header("Retry-After", "1")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Full)
threading.Thread(target=server.serve_forever, daemon=True).start()
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
    server {{
        listen 127.0.0.1:{port};
        location /plain {{ proxy_pass http://127.0.0.1:{server.server_port}; }}
        location /adds {{
            proxy_pass http://127.0.0.1:{server.server_port};
            add_header Retry-After 2 always;
        }}
    }}
}}
""")
command = ["setpriv", "--pdeathsig", "KILL", "usr/sbin/nginx", "-p", here, "-c", f"{here}/nginx.conf"]
nginx = subprocess.Popen(command, stderr=subprocess.DEVNULL)
try:
    while socket.socket().connect_ex(("127.0.0.1", port)) and nginx.poll() is None:
        time.sleep(0.1)
    for path in "/plain", "/adds":
        asked = 0
        retry = urllib3.util.Retry(3, status_forcelist=[429])
        try:
            answer = urllib3.PoolManager(retries=retry).request("GET", f"http://127.0.0.1:{port}{path}")
            said = answer.status
        except urllib3.exceptions.HTTPError as error:
            said = repr(error)
        print(f"{path}: {said}, attempts: {asked}")
finally:
    nginx.kill()
    nginx.wait()
END
cat seen
diff - seen <<'END' || { echo "This has changed."; exit 1; }
/plain: 200, attempts: 2
/adds: InvalidHeader('Invalid Retry-After header: 1, 2'), attempts: 1
END
