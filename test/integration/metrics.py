#!/usr/bin/env python3
"""A text with all that retry_metrics writes, as promtool and a Prometheus of the distribution read it. Labels with
quotes, newlines and UTF-8 come back from its query API as they were given, and the dashboard for programs shows it.
usage: metrics.py METRICS-TEXT DASHBOARD WORK-FOLDER PROMETHEUS PROMTOOL"""
import http.server
import json
import subprocess
import sys
import threading

from expectation import exit_code, expect
from scraper import Scraper, are_missing, is_silent, new_folder, wait_for

LABELS = ["plain", 'a "quoted" word', '"', "two\nlines", "\n", "C:\\data\\new", "\\", '\\"', "\\n", "a tab\tand \r",
          "{x=\"y\"} 1\nz 2\n# ", "a, b", "caf\u00e9 \u20ac \u65e5\u672c\u8a9e \U0001f600", "\u00a0\ufeff\u202e\x7f\x01",
          "e\u0301", " ", "'", "%41&amp;"]
COMMON = {"service": 'the "orders" \u20ac', "zone": "a\nb"}


class Metrics(http.server.BaseHTTPRequestHandler):
    text = b""

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/plain; version=0.0.4")
        self.send_header("Content-Length", str(len(self.text)))
        self.end_headers()
        self.wfile.write(self.text)

    def log_message(self, *unused):
        pass


def check_by_tool(promtool, text):
    said = is_silent([promtool, "check", "metrics"], "the metrics are such", text)
    expect(said == "", "promtool has nothing to say about the metrics:\n" + said)
    # And it is not silent about everything.
    helpless = "\n".join(line for line in text.split("\n") if not line.startswith("# HELP grpc_client_call_retries "))
    said = subprocess.run([promtool, "check", "metrics"], input=helpless, encoding="utf-8", capture_output=True)
    expect("grpc_client_call_retries" in said.stdout + said.stderr, "promtool misses a line of help")


def check_labels(scraper):
    for result in scraper.query("{__name__=~'asio_retry_.*|grpc_.*|http_.*|tested_.*|orders_.*|tenants_.*'}"):
        expect(COMMON.items() <= result["metric"].items(), f"every line has the common labels: {result['metric']}")
    shown = {int(result["value"][1]): result["metric"]["text"] for result in scraper.query("tested_labels")}
    expect(shown == dict(enumerate(LABELS, 1)), "labels come back as they were given:\n" + repr(shown))
    for name, label in (("tested_set", "text"), ("tenants_failure_share", "key"),
                        ("asio_retry_pending{policy!=''}", "policy")):
        shown = sorted(result["metric"][label] for result in scraper.query(name))
        expect(shown == sorted(LABELS), f"and those of {name}:\n" + repr(shown))
    quoted = json.dumps(LABELS[1])
    expect(scraper.number(f"tested_labels{{text={quoted}}}") == 2, "one can ask for such a label")


def check_dashboard(scraper, dashboard):
    with open(dashboard) as file:
        panels = json.load(file)["panels"]
    expect(len(panels) > 5, "the dashboard has panels")
    for panel in panels:
        for target in panel["targets"]:
            expression = target["expr"]
            for variable, value in (("$__rate_interval", "1m"), ("$instance", ".*"), ("$policy", ".*"), ("${servers}", "orders"),
                                    ("${budget}", "orders_retry_budget")):
                expression = expression.replace(variable, value)
            expect("$" not in expression, "a variable that nobody sets: " + expression)
            if "_latency_seconds" in expression: # which nobody knows before the first success
                scraper.query(expression)
            else:
                wait_for("the panel \"" + panel["title"] + "\": " + expression, lambda: scraper.query(expression))


def main(program, dashboard, work, prometheus, promtool):
    if are_missing(prometheus, promtool):
        return 77
    Metrics.text = subprocess.run([program, *LABELS], check=True, capture_output=True).stdout
    check_by_tool(promtool, Metrics.text.decode())

    new_folder(work)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Metrics)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    scraper = Scraper(prometheus, work, f"""
global: {{scrape_interval: 200ms}}
scrape_configs:
  - job_name: orders
    static_configs: [{{targets: ["127.0.0.1:{server.server_address[1]}"]}}]
""")
    try:
        wait_for("a query", lambda: scraper.number('up{job="orders"}') == 1)
        wait_for("all labels", lambda: len(scraper.query("tenants_failure_share")) == len(LABELS))
        check_labels(scraper)
        expect(scraper.number("grpc_client_call_retries_sum") == 6, "retries of calls")
        expect(scraper.number('http_client_request_duration_seconds_count{error_type="timeout"}') == 12, "timeouts")
        expect(scraper.number('scrape_samples_scraped{job="orders"}') ==
               sum(line != "" and line[0] != "#" for line in Metrics.text.decode().split("\n")), "no line is left out")
        check_dashboard(scraper, dashboard)
    finally:
        scraper.process.terminate()
        end = scraper.process.wait()
    expect(end == 0, f"Prometheus ends with 0: {end}")
    return exit_code()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
