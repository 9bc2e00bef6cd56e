#!/bin/sh
# nginx turns "429, come back in 30 s" into a bare 502 for the clients that come next.
#
# One would expect: `proxy_next_upstream http_429` asks the next server if one is over its limit. If all
# are, each client gets a 429 and its Retry-After.
# True is: with this setting a 429 counts as a failure of the server (`max_fails` is 1). One request
# that meets two full servers takes both out for `fail_timeout`, 10 s. All requests then get 502 from
# nginx itself, without Retry-After, for 10 s, although the servers asked for 30 s.
# It matters: clients retry a 502 by their backoff, in a moment, instead of after 30 s. The setting that
# was to hide the overload takes away what would end it. `max_fails=0` keeps the 429.
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
import http.server
import os
import socket
import subprocess
import threading
import time

asked = 0


class Full(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        global asked
        asked += 1
        self.send_response(429)
        self.send_header("Retry-After", "30")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


servers = [http.server.ThreadingHTTPServer(("127.0.0.1", 0), Full) for _ in range(2)]
for server in servers:
    threading.Thread(target=server.serve_forever, daemon=True).start()
with socket.create_server(("127.0.0.1", 0)) as found:
    port = found.getsockname()[1]
here = os.getcwd()
temporary = "".join(
    f"{kind}_temp_path {here}/{kind};"
    for kind in ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
)


def upstream(name, options):
    lines = "".join(f"server 127.0.0.1:{server.server_port} {options};" for server in servers)
    return f"upstream {name} {{ {lines} }}"


with open("nginx.conf", "w") as file:
    file.write(f"""
daemon off; master_process off; pid {here}/pid; error_log {here}/error.log;
events {{ }}
http {{
    access_log off; {temporary}
    {upstream("usual", "")}
    {upstream("lenient", "max_fails=0")}
    server {{
        listen 127.0.0.1:{port};
        proxy_next_upstream error timeout http_429;
        location /usual {{ proxy_pass http://usual; }}
        location /lenient {{ proxy_pass http://lenient; }}
    }}
}}
""")
command = ["setpriv", "--pdeathsig", "KILL", "usr/sbin/nginx", "-p", here, "-c", f"{here}/nginx.conf"]
nginx = subprocess.Popen(command, stderr=subprocess.DEVNULL)
try:
    while socket.socket().connect_ex(("127.0.0.1", port)) and nginx.poll() is None:
        time.sleep(0.1)
    for path in "/usual", "/lenient":
        for number in 1, 2, 3:
            before = asked
            client = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
            client.request("GET", path)
            answer = client.getresponse()
            after = answer.getheader("Retry-After")
            print(f"{path} {number}: {answer.status}, Retry-After: {after}, servers asked: {asked - before}")
finally:
    nginx.kill()
    nginx.wait()
END
cat seen
diff - seen <<'END' || { echo "This has changed."; exit 1; }
/usual 1: 429, Retry-After: 30, servers asked: 2
/usual 2: 502, Retry-After: None, servers asked: 1
/usual 3: 502, Retry-After: None, servers asked: 0
/lenient 1: 429, Retry-After: 30, servers asked: 2
/lenient 2: 429, Retry-After: 30, servers asked: 2
/lenient 3: 429, Retry-After: 30, servers asked: 2
END
