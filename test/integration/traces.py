#!/usr/bin/env python3
"""One trace through gateway, nginx, gateway and nginx: what the servers are sent, and the spans that a collector reads
by the schema of OpenTelemetry.
usage: traces.py GATEWAY NGINX NODE SCHEMA-FOLDER WORK-FOLDER"""
import http.client
import os
import re
import signal
import socket
import subprocess
import sys

import collector
from expectation import exit_code, expect
from scraper import free_port, new_folder, wait_for

policy = "constant(10ms) max_attempts(4) attempt_timeout(5s)"
of_a_client = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
not_sampled = of_a_client[:-2] + "00"
state = "congo=t61rcWkgMzE,rojo=00f067aa0ba902b7"


def answers(port):
    try:
        socket.create_connection(("127.0.0.1", port)).close()
        return True
    except OSError:
        return False


class Nginx:
    """Logs the fields of each request. `does` is what it answers."""

    def __init__(self, program, folder, does):
        self.folder, self.port = folder, free_port()
        os.makedirs(folder)
        paths = "\n".join(f"{name}_temp_path {name};" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        with open(os.path.join(folder, "nginx.conf"), "w") as file:
            file.write(f"""daemon off; master_process off; pid nginx.pid; error_log stderr; events {{}}
http {{
    {paths.replace("client_body_temp_path client_body", "client_body_temp_path body")}
    log_format seen '$http_x_id|$status|$http_traceparent|$http_tracestate';
    access_log seen.log seen;
    server {{ listen 127.0.0.1:{self.port}; location / {{ {does} }} }}
}}
""")
        with open(os.path.join(folder, "log"), "w") as log:
            self.process = subprocess.Popen([program, "-p", folder + "/", "-c", "nginx.conf", "-e", "stderr"],
                                            stdout=log, stderr=log)
        wait_for("an nginx", lambda: answers(self.port))

    def kill(self):
        self.process.kill()
        self.process.wait()

    def seen(self, id):
        """What it was sent of this request: its status, traceparent, tracestate."""
        with open(os.path.join(self.folder, "seen.log")) as file:
            lines = [line.rstrip("\n").split("|") for line in file if line.endswith("\n")]
        return [tuple(line[1:]) for line in lines if line[0] == id]


class Gateway:
    def __init__(self, program, upstreams, *options):
        command = [program, "--quiet", "--listen", "127.0.0.1:0", "--policy", policy]
        for each in upstreams:
            command += ["--upstream", f"127.0.0.1:{each}"]
        self.process = subprocess.Popen(command + list(options), stdout=subprocess.PIPE, text=True)
        self.port = int(re.search(r"listening on \S*:(\d+)", self.process.stdout.readline())[1])

    def get(self, target, fields={}):
        connection = http.client.HTTPConnection("127.0.0.1", self.port)
        connection.request("GET", target, headers=fields)
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return answer.status, text

    def spans(self, state):
        line = f'^gateway_spans{{state="{state}"}} (.*)$'
        return float(re.search(line, self.get("/metrics")[1], re.MULTILINE)[1])

    def end(self):
        """What it says at its end."""
        self.process.send_signal(signal.SIGTERM)
        said = self.process.communicate()[0]
        expect(self.process.returncode == 0, "it ends with 0")
        return said


next_id = 0


def ask(gateway, **fields):
    """The id of a request that was answered."""
    global next_id
    next_id += 1
    status, _ = gateway.get("/page", {"X-Id": str(next_id), **fields})
    expect(status == 200, f"it is answered: {status}")
    return str(next_id)


def number(span):
    return int(span["attributes"]["asio_retry.attempt"])


class Journey:
    """What the servers and the collector have seen of one request."""

    def __init__(self, id, middle, last):
        self.id, self.servers = id, last
        self.middle = wait_for("the line of the first nginx", lambda: middle.seen(id))
        wait_for("an answer of the last nginx", lambda: any(line[0] == "200" for line in self.last))
        traces = {line[1].split("-")[1] for line in self.middle + self.last}
        expect(len(traces) == 1, f"one trace id at all servers: {traces}")
        self.trace = min(traces)

    @property
    def last(self):
        return [line for server in self.servers for line in server.seen(self.id)]

    def check(self, spans):
        """The chain, from the client on."""
        by_id = {span["spanId"]: span for span in spans}
        expect(len(by_id) == len(spans), "each span has its own id")
        first = by_id[self.middle[-1][1].split("-")[2]]
        expect(first["name"] == "attempt", "the first nginx was sent the span of an attempt")
        self.outer = by_id[first["parentSpanId"]]
        expect(self.outer["name"] == "retry", "which is within the first gateway's operation")
        inner = [span for span in spans if span["parentSpanId"] == first["spanId"]]
        expect(len(inner) == 1 and inner[0]["name"] == "retry", "the second gateway's operation continues it")
        self.attempts = sorted((s for s in spans if s["parentSpanId"] == inner[0]["spanId"]), key=number)
        expect(len(spans) == 3 + len(self.attempts), "there is no other span")
        expect(all(span["flags"] & 1 for span in spans), "all are sampled")

        lines = self.last
        sent = {line[1].split("-")[2]: line[0] for line in lines}
        expect(len(sent) == len(lines), "each attempt is sent with an id of its own")
        made = [span["spanId"] for span in self.attempts]
        expect(set(sent) <= set(made), "which is that of its span")
        expect(sent.get(made[-1]) == "200", "the last attempt's span is the one that was answered")
        self.statuses = [sent.get(id) for id in made]


def spans_of(here, journey):
    """All spans of the trace, when the operations of both gateways have arrived."""
    def found():
        mine = [span for span in here.spans() if span["traceId"] == journey.trace]
        return mine if sum(span["name"] == "retry" for span in mine) == 2 else None
    return wait_for("the spans of a request", found)


def through_two_gateways(here, start_gateway, start_nginx):
    good, busy = start_nginx("good", "return 200 page;"), start_nginx("busy", "return 429;")
    inner = start_gateway([good.port, busy.port], "--traces", here.address + "/v1/traces")
    middle = start_nginx("middle", f"proxy_pass http://127.0.0.1:{inner.port};")
    outer = start_gateway([middle.port], "--traces", here.address)
    last = [good, busy]

    def journey(**fields):
        return Journey(ask(outer, **fields), middle, last)

    def until_retried(how):
        """A request of which an attempt has failed so. Every second one has, or so."""
        def found():
            for one in [journey() for _ in range(6)]:
                one.check(spans_of(here, one))
                if len(one.attempts) > 1 and how in one.attempts[0]["status"]["message"]:
                    return one
            return None
        return wait_for("a retry", found)

    one = until_retried("HTTP 429")
    expect(one.statuses == ["429", "200"], f"two servers were asked: {one.statuses}")
    expect([a["attributes"].get("error.type") for a in one.attempts] == ["429", None], "one has failed")
    expect({line[2] for line in one.middle + one.last} == {"-"}, "there is no tracestate")

    busy.kill()
    one = until_retried("Connection refused")
    expect(one.statuses == [None, "200"], f"one server was asked: {one.statuses}")

    one = journey(traceparent=of_a_client, tracestate=state)
    spans = spans_of(here, one)
    expect(one.trace == of_a_client.split("-")[1], "the client's trace goes on")
    one.check(spans)
    expect(one.outer["parentSpanId"] == of_a_client.split("-")[2], "its span is the parent")
    expect({line[2] for line in one.middle + one.last} == {state}, "its tracestate is passed on")
    count = len(spans)

    one = journey(traceparent=not_sampled, tracestate=state)
    expect({line[1:] for line in one.middle + one.last} == {(not_sampled, state)}, "what is not sampled is passed on")
    one = journey(traceparent="00-zero-1-01", tracestate=state)
    expect(one.trace != of_a_client.split("-")[1], "a malformed field begins a trace")
    expect({line[2] for line in one.middle + one.last} == {"-"}, "and its tracestate is not of that trace")
    one.check(spans_of(here, one))
    mine = [span for span in here.spans() if span["traceId"] == of_a_client.split("-")[1]]
    expect(len(mine) == count, "a request that is not sampled has no span")
    expect([g.spans("lost") for g in (outer, inner)] == [0, 0], "no span is lost")
    return outer, inner, middle, last


def without_traces(start_gateway, start_nginx):
    server = start_nginx("alone", "return 200 page;")
    id = ask(start_gateway([server.port]), traceparent=of_a_client, tracestate=state)
    expect([line[1:] for line in wait_for("a line", lambda: server.seen(id))] == [(of_a_client, state)],
           "without --traces both fields are passed on as they came")

    silent = socket.create_server(("127.0.0.1", 0))  # takes connections, and says nothing
    gateway = start_gateway([server.port], "--trace-share", "0", "--traces",
                            f"http://127.0.0.1:{silent.getsockname()[1]}")
    id = ask(gateway)
    field = wait_for("a line", lambda: server.seen(id))[0][1]
    expect(re.fullmatch("00-[0-9a-f]{32}-[0-9a-f]{16}-00", field), f"with a share of 0 nothing is sampled: {field}")
    ask(gateway, traceparent=of_a_client)  # which is
    expect("drained" in gateway.end(), "a collector that says nothing keeps it from nothing")
    silent.close()


def collectors_that_refuse(here, start_gateway, start_nginx):
    server = start_nginx("one", "return 200 page;")
    gateway = start_gateway([server.port], "--traces", here.address)

    def has(id):
        trace = wait_for("a line", lambda: server.seen(id))[0][1].split("-")[1]
        return any(span["traceId"] == trace for span in here.spans())

    here.post("/refuse", "[503, 429]")
    id = ask(gateway)
    wait_for("the spans after two refusals", lambda: has(id))
    expect(gateway.spans("lost") == 0, "which are not lost")
    wait_for("the count", lambda: gateway.spans("sent") == 2)

    here.post("/refuse", "[400]")
    ask(gateway)
    wait_for("the loss", lambda: gateway.spans("lost") == 2)
    expect(gateway.spans("dropped") == 0, "no span is dropped")

    id = ask(gateway)
    said = gateway.end()
    expect(has(id), "at its end it sends what is left")
    expect("2 spans did not reach the collector" in said, "and says what was lost: " + said)


def main(gateway, nginx, node, schema, work):
    absent = collector.missing(node, schema)
    if absent is not None:
        return absent
    if not os.path.exists(nginx):
        print("skipped: there is no nginx here; ./cmake/bootstrap.sh install-services gets it")
        return 77
    new_folder(work)
    running = [collector.Collector(node, schema)]
    here = running[0]

    def start_gateway(upstreams, *options):
        running.append(Gateway(gateway, upstreams, *options))
        return running[-1]

    def start_nginx(name, does):
        running.append(Nginx(nginx, os.path.join(os.path.abspath(work), name), does))
        return running[-1]

    try:
        through_two_gateways(here, start_gateway, start_nginx)
        without_traces(start_gateway, start_nginx)
        collectors_that_refuse(here, start_gateway, start_nginx)
        expect(here.get("/counts")["complaints"] == [], f"the schema knows all: {here.get('/counts')['complaints']}")
    finally:
        for each in running:
            each.process.kill()
            each.process.wait()
    return exit_code()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
