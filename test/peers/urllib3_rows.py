"""What Debian's python3-urllib3 does, against a server of its own."""
from functools import partial
import http.server
import threading

from replaced import ALWAYS, delays, record
import urllib3


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        server.calls += 1
        self.send_response(server.status if server.calls <= server.failures else 200)
        for name, value in {"Content-Length": "0", **server.fields}.items():
            self.send_header(name, value)
        self.end_headers()

    do_POST = do_GET

    def log_message(self, *_):
        pass


class Retry(urllib3.Retry):
    """Notes a delay of nothing too, for which the package does not wait."""

    def get_backoff_time(self):
        seconds = super().get_backoff_time()
        if seconds <= 0:
            delays.append(0)
        return seconds


def play(failures, status=503, fields=None, method="GET", **options):
    server.calls, server.failures, server.status, server.fields = 0, failures, status, fields or {}
    options.setdefault("status_forcelist", [503])
    with urllib3.HTTPConnectionPool(*server.server_address) as pool:
        try:
            pool.urlopen(method, "/", body=b"", retries=Retry(**options))
        except urllib3.exceptions.MaxRetryError:
            pass
    return server.calls


def waiting(**options):
    return 12, partial(play, total=20, **options)


server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
newer = {"backoff_jitter": waiting(backoff_factor=0.2, backoff_jitter=0.4)} if urllib3.__version__ >= "2" else {}
record(urllib3.__version__, {
    "defaults": (ALWAYS, play),
    "total": (ALWAYS, partial(play, total=3)),
    "no_retries": (ALWAYS, partial(play, total=0)),
    "backoff_factor": waiting(backoff_factor=0.2),
    "retry_after": (3, partial(play, total=20, backoff_factor=0.2, status=429, fields={"Retry-After": "7"})),
    "shorter_retry_after": (5, partial(play, total=20, backoff_factor=0.2, fields={"Retry-After": "1"})),
    "post": (ALWAYS, partial(play, method="POST")),
    **newer,
})
