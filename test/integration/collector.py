"""The collector's stand-in, otlp_receiver.js, for tests: it runs until it is closed."""
import json
import os
import re
import subprocess
import urllib.error
import urllib.request


def missing(node, schema):
    """The exit code if there is no collector here, or None. CI must have one."""
    if os.path.exists(node) and os.path.exists(os.path.join(schema, "node_modules")):
        return None
    is_ci = bool(os.environ.get("CI"))
    print(("not so: " if is_ci else "skipped: ") +
          "there is no schema of OpenTelemetry here; ./cmake/bootstrap.sh install-services gets it")
    return 1 if is_ci else 77


class Collector:
    def __init__(self, node, schema):
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "otlp_receiver.js")
        self.process = subprocess.Popen([node, script, schema], stdout=subprocess.PIPE, text=True)
        first = self.process.stdout.readline()
        self.address = "http://127.0.0.1:" + re.search(r"listening on (\d+)", first)[1]

    def post(self, path, body):
        """The status and the text of the answer."""
        question = urllib.request.Request(self.address + path, body.encode(), {"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(question) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as failure:
            return failure.code, failure.read().decode()

    def get(self, path):
        with urllib.request.urlopen(self.address + path) as answer:
            return json.load(answer)

    def spans(self):
        return self.get("/spans")

    def close(self):
        self.process.kill()
        self.process.wait()
