#!/usr/bin/env python3
"""A Prometheus of the distribution scrapes the gateway, and says of it what its clients have seen.
usage: prometheus.py GATEWAY OBSERVABILITY-FOLDER DASHBOARD WORK-FOLDER PROMETHEUS PROMTOOL"""
import http.client
import http.server
import json
import os
import re
import subprocess
import sys
import threading
import urllib.request

from expectation import exit_code, expect
from scraper import Scraper, are_missing, free_port, is_silent, new_folder, wait_for


class Upstream(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.send_response(404 if self.path == "/nothing" else 200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *unused):
        pass


def main(gateway, observability, dashboard, work, prometheus, promtool):
    if are_missing(prometheus, promtool):
        return 77
    is_silent([promtool, "check", "rules", os.path.join(observability, "alerts.yml")], "the rules are rules")
    is_silent([promtool, "test", "rules", os.path.join(os.path.dirname(__file__), "gateway_alerts.yml")],
              "the rules say what they should")
    is_silent([promtool, "check", "config", "--syntax-only", "prometheus.yml"], "it can be configured so", None,
              observability)

    new_folder(work)
    upstreams = [http.server.ThreadingHTTPServer(("127.0.0.1", 0), Upstream) for _ in range(2)]
    for each in upstreams:
        each.daemon_threads = True
        threading.Thread(target=each.serve_forever, daemon=True).start()
    processes = []
    try:
        nobody = free_port()
        command = [gateway, "--quiet", "--listen", "127.0.0.1:0", "--upstream", f"127.0.0.1:{nobody}"]
        for each in upstreams:
            command += ["--upstream", f"127.0.0.1:{each.server_address[1]}"]
        started = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        processes.append(started)
        port = int(re.search(r"listening on \S*:(\d+)", started.stdout.readline())[1])

        # What clients see: one server of three is not there, and one page of two.
        seen = {}
        client = http.client.HTTPConnection("127.0.0.1", port)
        for i in range(300):
            client.request("GET", "/nothing" if i % 3 == 0 else "/page")
            answer = client.getresponse()
            answer.read()
            seen[answer.status] = seen.get(answer.status, 0) + 1
        expect(seen == {200: 200, 404: 100}, "no client sees that a server is down: " + str(seen))

        text = urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics").read().decode()
        said = is_silent([promtool, "check", "metrics"], "the metrics are such", text)
        expect(said == "", "promtool has nothing to say about the metrics:\n" + said)

        with open(os.path.join(observability, "prometheus.yml")) as file:
            config = file.read()
        config = config.replace("127.0.0.1:8080", f"127.0.0.1:{port}").replace("5s", "200ms")
        config = config.replace("alerts.yml", os.path.join(os.path.abspath(observability), "alerts.yml"))
        scraper = Scraper(prometheus, work, config)
        processes.append(scraper.process)
        number = scraper.number

        wait_for("a query", lambda: number("sum(asio_retry_operations_total)") == 300)
        expect(number('sum(asio_retry_operations_total{reason="succeeded"})') == seen[200], "successes are those seen")
        expect(number('sum(asio_retry_operations_total{reason="not_retryable"})') == seen[404], "and what is not there")
        retries = number("sum(asio_retry_retries_total)")
        expect(retries > 0, "it was tried again")
        expect(number("sum(asio_retry_attempts_total)") == 300 + retries, "attempts are requests and retries")
        expect(number('sum(asio_retry_attempts_total{outcome="success"})') == seen[200], "one success for each")
        expect(number('up{job="gateway"}') == 1, "it is up")
        expect(number("count(gateway_server_in_flight)") == 3, "each server has its label")
        expect(number(f'sum(gateway_server_state{{endpoint="127.0.0.1:{nobody}"}})') == 1, "and its breaker one state")

        def query_under_load(expression):
            client.request("GET", "/page")
            client.getresponse().read()
            return scraper.query(expression)

        with open(dashboard) as file:
            panels = json.load(file)["panels"]
        variables = {"$__rate_interval": "1m", "$instance": ".*", "$policy": ".*", "${servers}": "gateway_server",
                     "${budget}": "gateway_retry_budget"}
        for panel in panels:
            for target in panel["targets"]:
                expression = target["expr"]
                for variable, value in variables.items():
                    expression = expression.replace(variable, value)
                wait_for("the panel \"" + panel["title"] + "\": " + expression, lambda: query_under_load(expression))
    finally:
        for process in processes:
            process.terminate()
        ends = [process.wait() for process in processes]
    expect(all(end == 0 for end in ends), "both end with 0: " + str(ends))
    return exit_code()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
