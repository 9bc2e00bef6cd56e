"""A Prometheus of the distribution, and its tool, for tests."""
import json
import os
import shutil
import socket
import subprocess
import time
import urllib.parse
import urllib.request

from expectation import expect


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def wait_for(what, answer):
    """The answer, for as long as a busy machine may take; what never comes fails."""
    for _ in range(400):
        try:
            found = answer()
            if found:
                return found
        except OSError:
            pass
        time.sleep(0.1)
    raise SystemExit("never: " + what)


def is_silent(command, what, given=None, folder=None):
    ended = subprocess.run(command, input=given, encoding="utf-8", cwd=folder, capture_output=True)
    expect(ended.returncode == 0, what + ":\n" + ended.stdout + ended.stderr)
    return ended.stdout + ended.stderr


def are_missing(prometheus, promtool):
    for name, program in (("prometheus", prometheus), ("promtool", promtool)):
        if not os.path.exists(program):
            print(f"skipped: there is no {name} here; ./cmake/bootstrap.sh install-services gets it")
            return True
    return False


def new_folder(name):
    shutil.rmtree(name, ignore_errors=True)
    os.makedirs(name)


class Scraper:
    """Runs until `stop`; `work` has its configuration, its data and its log."""

    def __init__(self, program, work, config):
        path = os.path.join(work, "prometheus.yml")
        with open(path, "w") as file:
            file.write(config)
        self.port = free_port()
        with open(os.path.join(work, "log"), "w") as log:
            self.process = subprocess.Popen(
                [program, "--config.file=" + path, "--storage.tsdb.path=" + os.path.join(work, "data"),
                 f"--web.listen-address=127.0.0.1:{self.port}"], stdout=log, stderr=log)

    def query(self, expression):
        address = f"http://127.0.0.1:{self.port}/api/v1/query?" + urllib.parse.urlencode({"query": expression})
        answer = json.load(urllib.request.urlopen(address))
        expect(answer["status"] == "success", expression)
        return answer["data"]["result"]

    def number(self, expression):
        result = self.query(expression)
        return float(result[0]["value"][1]) if result else 0
