#!/bin/sh
# Varnish adds "Retry-After: 5" to every answer that it makes itself: 403 and 404, even 200.
#
# One would expect: Retry-After comes with 503 and 429, where a later request may succeed.
# True is: the built-in `vcl_synth` sets it for each `synth(...)`. An access list that denies with 403
# invites the client to come back in 5 s. A redirection asks to be followed 5 s later (RFC 9110, 10.2.3).
# It matters: some servers throttle with 403 and Retry-After, so good clients believe this pair. From a
# Varnish they retry what is forbidden for ever, all with the same 5 s and thus in step.
# Needs gcc, with which Varnish compiles its configuration.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' HUP INT TERM
cd "$folder"

varnish=varnish=7.1.1-2+deb12u1
apt-get download -qq -o APT::Sandbox::User=root "$varnish" ||
    { echo "Debian no longer has $varnish."; exit 1; }
dpkg -x ./*.deb .
LD_LIBRARY_PATH=$folder/usr/lib/varnish:$(echo "$folder"/usr/lib/*-linux-gnu)
export LD_LIBRARY_PATH
usr/sbin/varnishd -V 2>&1 | head -n 1

cat >rules.vcl <<'END'
vcl 4.1;
backend none none;
sub vcl_recv {
    if (req.url == "/forbidden") { return (synth(403)); }
    if (req.url == "/missing") { return (synth(404)); }
    if (req.url == "/moved") { return (synth(301)); }
    if (req.url == "/health") { return (synth(200)); }
}
END
python3 - >seen <<'END'
import http.client
import os
import socket
import subprocess
import time

with socket.create_server(("127.0.0.1", 0)) as found:
    port = found.getsockname()[1]
here = os.getcwd()
command = ["setpriv", "--pdeathsig", "TERM", "usr/sbin/varnishd", "-F", "-j", "none", "-s", "default,10m"]
command += ["-a", f"127.0.0.1:{port}", "-f", f"{here}/rules.vcl", "-n", f"{here}/state"]
with open("log", "w") as log:
    varnish = subprocess.Popen(command, stdout=log, stderr=log)
try:
    while socket.socket().connect_ex(("127.0.0.1", port)) and varnish.poll() is None:
        time.sleep(0.1)
    for path in "/forbidden", "/missing", "/moved", "/health":
        client = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        client.request("GET", path)
        answer = client.getresponse()
        print(f"{path}: {answer.status}, Retry-After: {answer.getheader('Retry-After')}")
finally:
    varnish.terminate()
    varnish.wait()
END
cat seen
diff - seen <<'END' || { echo "This has changed."; exit 1; }
/forbidden: 403, Retry-After: 5
/missing: 404, Retry-After: 5
/moved: 301, Retry-After: 5
/health: 200, Retry-After: 5
END
