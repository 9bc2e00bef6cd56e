#!/usr/bin/env python3
"""Spans of operations of every kind, read by the schema of OpenTelemetry: what retry_traces writes is what arrives.
usage: otlp.py SAMPLE NODE SCHEMA-FOLDER"""
import json
import subprocess
import sys

import collector
from expectation import exit_code, expect

internal, client = 1, 3  # kinds
failed = 2  # a status
begin = 1767225600 * 10**9
second = 10**9


class Story:
    """One operation, with its spans, and what its attempts have sent."""

    def __init__(self, spans, sent):
        by_id = {span["spanId"]: span for span in spans}
        ids = [field.split("-")[2] for field in sent]
        self.attempts = [by_id[each] for each in ids if each in by_id]
        parents = {span["parentSpanId"] for span in self.attempts}
        whole = [span for span in spans if span["spanId"] in parents]
        expect(len(self.attempts) == len(sent), f"each traceparent names a span: {sent}")
        expect(len(whole) == 1, f"all attempts are of one span: {sent}")
        self.whole = whole[0]
        traces = {span["traceId"] for span in self.attempts + whole} | {field.split("-")[1] for field in sent}
        expect(len(traces) == 1, f"all are of one trace: {sent}")
        expect(self.whole["kind"] == internal and all(a["kind"] == client for a in self.attempts), "their kinds")
        for span in self.attempts:
            expect(self.start <= int(span["startTimeUnixNano"]) <= int(span["endTimeUnixNano"]) <= self.end,
                   "an attempt is within its operation")

    @property
    def start(self):
        return int(self.whole["startTimeUnixNano"])

    @property
    def end(self):
        return int(self.whole["endTimeUnixNano"])

    def waits(self):
        return [e["attributes"]["asio_retry.delay"] for e in self.whole["events"] if e["name"] == "wait"]

    def event_times(self):
        return [int(e["timeUnixNano"]) - self.start for e in self.whole["events"]]

    def statuses(self):
        return [span["attributes"].get("http.response.status_code") for span in self.attempts]


def has(span, code, message, **attributes):
    given = span["status"] or {"code": 0, "message": ""}
    expect((given["code"], given["message"]) == (code, message), f"{given} is {(code, message)}")
    for key, value in attributes.items():
        found = span["attributes"].get(key.replace("__", "."))
        expect(found == value, f"{key} is {value}: {found}")


def check_retries(story):
    expect(story.start == begin, "the first one begins at the epoch")
    first, other = story.waits()
    expect(2 <= first < 2.5 and other == 1, f"the waits are events: 2 s and a bit, as the server wishes: {first}")
    expect(story.end - story.start == round(first * second) + second, "the operation takes these waits")
    expect(story.event_times() == [0, round(first * second)], "the waits have their times")
    expect(story.whole["events"][0]["attributes"]["asio_retry.message"] == "HTTP 503, retry after 2 s", "their cause")
    expect(story.statuses() == ["503", "429", None], "the statuses of failures: " + str(story.statuses()))
    has(story.attempts[0], failed, "HTTP 503, retry after 2 s", asio_retry__attempt="1", error__type="503",
        http__request__resend_count=None)
    has(story.attempts[2], 0, "", asio_retry__attempt="3", http__request__resend_count="2", error__type=None)
    has(story.whole, 0, "", asio_retry__attempts="3", asio_retry__reason="succeeded")
    expect(story.whole["parentSpanId"] == "" and story.whole["flags"] == 257, "it begins a trace, and is sampled")
    expect([story.whole["name"], story.attempts[0]["name"]] == ["retry", "attempt"], "the names")
    for span in story.attempts + [story.whole]:
        expect(span["resource"] == {"service.name": "orders €"}, "of which service")
        expect(span["scope"] == "asio_retry", "and of which library")


def check_failures(of):
    has(of("not_retryable").whole, failed, "HTTP 404", asio_retry__reason="not_retryable")
    refused = of("refused").whole
    has(refused, failed, "HTTP 500", asio_retry__reason="budget")
    expect([(e["name"], e["attributes"]["asio_retry.gate"], e["attributes"]["asio_retry.message"])
            for e in refused["events"]] == [("refused", "retry_budget", "retry_budget refused the retry")], "its gate")
    late = of("times_out")
    has(late.attempts[0], failed, "attempt timed out after 500 ms", asio_retry__stopped="attempt_timeout")
    expect(late.end - late.start == second // 2, "a time limit takes its time")


def check_requests(of, spans):
    continued = of("continues").whole
    expect(continued["traceId"] == "0af7651916cd43dd8448eb211c80319c", "a request's trace is continued")
    expect(continued["parentSpanId"] == "b7ad6b7169203331", "its span is the parent")
    expect(continued["flags"] == 769, "which is elsewhere")
    expect(sum(s["traceId"] == continued["traceId"] for s in spans) == 2, "a request without a sample has no span")
    expect(of("malformed").whole["parentSpanId"] == "", "a malformed field begins a trace")
    inner = of("nested")
    outer = [span for span in spans if span["spanId"] == inner.whole["parentSpanId"]]
    expect(len(outer) == 1 and outer[0]["name"] == "attempt", "a nested retry is within the attempt around it")
    expect(outer[0]["traceId"] == inner.whole["traceId"], "and of its trace")


def check_others(of, spans):
    hedge = of("hedge")
    expect(hedge.whole["name"] == "hedge", "a hedge has its name")
    expect([e["name"] for e in hedge.whole["events"]] == ["hedge"], "and its events")
    has(hedge.attempts[0], 0, "", asio_retry__stopped="beaten")
    thrown = [s for s in spans if s["name"] == "attempt" and s["attributes"].get("error.type") == "exception"]
    expect(len(thrown) == 2, "an attempt threw, twice")
    message = "a \"quote\", a \\, a\tb, \x01, \ufffd and €"
    for span in thrown:
        has(span, failed, message)
        expect([(e["name"], e["attributes"]) for e in span["events"]] ==
               [("exception", {"exception.message": message})], "the exception is an event")
    named = of("named")
    name = "orders \"get\" €"
    expect([named.whole["name"], named.attempts[1]["name"]] == ["retry " + name, "attempt " + name], "a policy's name")
    for span in named.attempts + [named.whole]:
        expect(span["attributes"].get("asio_retry.policy") == name, "which is an attribute, too")
    expect("asio_retry.policy" not in hedge.whole["attributes"], "that others have not")
    many = of("many").whole
    expect((len(many["events"]), many["droppedEventsCount"]) == (128, 149 - 128), "a span keeps 128 events")


def refuses(text, old, new, why):
    """The control: the schema tells it apart."""
    expect(old in text, old + " is there")
    status, said = collector_here.post("/v1/traces", text.replace(old, new, 1))
    expect(status == 400 and why in said, f"{new} is refused: {status} {said}")


def main(sample, node, schema):
    global collector_here
    absent = collector.missing(node, schema)
    if absent is not None:
        return absent
    lines = subprocess.run([sample], capture_output=True, text=True, check=True).stdout.splitlines()
    sent = {}
    for name, _, field in (line.split()[1:] for line in lines if line.startswith("sent ")):
        sent.setdefault(name, []).append(field)
    exports = [line.split(" ", 1)[1] for line in lines if line.startswith("export ")]
    expect(lines[-1] == "dropped 0", lines[-1])
    collector_here = collector.Collector(node, schema)
    try:
        for text in exports:
            status, said = collector_here.post("/v1/traces", text)
            expect(status == 200, said)
        spans = collector_here.spans()
        count = sum(len(r["scopeSpans"][0]["spans"]) for t in exports for r in json.loads(t)["resourceSpans"])
        expect(count > 170 and len(spans) == count, f"all {count} spans arrive: {len(spans)}")
        expect(len({span["spanId"] for span in spans}) == count, "each has its own id")

        def of(name):
            return Story(spans, sent[name])

        check_retries(of("succeeds_after_retries"))
        check_failures(of)
        check_requests(of, spans)
        check_others(of, spans)
        refuses(exports[0], '"name"', '"nome"', "no such field")
        refuses(exports[0], '"kind":3', '"kind":"SPAN_KIND_CLIENT"', "not a number")
        refuses(exports[0], '"intValue":"1"', '"intValue":"one"', "came back")
        refuses(exports[0], '"spanId":"', '"spanId":"A', "not such an id")
        refuses(exports[0], '"attributes":[', '"attributes":[7,', "")
        expect(len(collector_here.spans()) == count, "nothing of it is taken")
    finally:
        collector_here.close()
    return exit_code()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
