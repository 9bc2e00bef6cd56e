// A collector's stand-in. It reads each ExportTraceServiceRequest by the schema that OpenTelemetry publishes, and
// answers 400 with the reason where the schema knows a field, a type or an id otherwise. What it shows on /spans has
// been bytes of protobuf in between.
// usage: node otlp_receiver.js FOLDER-WITH-NODE-MODULES
"use strict";
const http = require("http");
const path = require("path");
const generated = "node_modules/@opentelemetry/otlp-transformer/build/src/generated/root.js";
const schema = require(path.resolve(process.argv[2], generated));
const Request = schema.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;

const bytes_of_id = {traceId: 16, spanId: 8, parentSpanId: 8};
const enumerations = ["kind", "code"];
const hex = bytes => bytes.toString("hex");

// OTLP/JSON is protobuf's JSON, except that ids are hexadecimal and enumerations are numbers.
function read_ids(key, value) {
  if (enumerations.includes(key) && !Number.isInteger(value)) throw Error(`${key}: ${value} is not a number`);
  if (!(key in bytes_of_id)) return value;
  const bytes = Buffer.from(String(value), "hex");
  if (bytes.length !== bytes_of_id[key] || hex(bytes) !== value) throw Error(`${key}: "${value}" is not such an id`);
  return bytes;
}

// What the schema does not know has not come back.
function compare(sent, read, where) {
  if (Buffer.isBuffer(sent) || sent === null || typeof sent !== "object") {
    const is_same = Buffer.isBuffer(sent) ? sent.equals(read) : sent === read;
    if (!is_same) throw Error(`${where}: ${sent} came back as ${read}`);
    return;
  }
  for (const key of Object.keys(sent)) {
    if (typeof read !== "object" || !(key in read)) throw Error(`${where}.${key}: the schema has no such field`);
    compare(sent[key], read[key], `${where}.${key}`);
  }
  if (Array.isArray(sent) && sent.length !== read.length) throw Error(`${where}: another length came back`);
}

function decode(bytes) {
  const sent = JSON.parse(new TextDecoder("utf-8", {fatal: true}).decode(bytes), read_ids);
  const message = Request.fromObject(sent);
  const complaint = Request.verify(message);
  if (complaint) throw Error(complaint);
  const read = Request.toObject(Request.decode(Request.encode(message).finish()),
    {longs: String, enums: Number, defaults: true});
  compare(sent, read, "request");
  return read;
}

const value_of = any => Object.values(any).find(value => value !== null);
const values = list => Object.fromEntries(list.map(({key, value}) => [key, value_of(value)]));
function shown(span, resource, scope) {
  return {
    ...span, traceId: hex(span.traceId), spanId: hex(span.spanId), parentSpanId: hex(span.parentSpanId),
    attributes: values(span.attributes), events: span.events.map(e => ({...e, attributes: values(e.attributes)})),
    resource: values(resource.attributes), scope: scope.name,
  };
}

const spans = [], complaints = [];
let requests = 0, refusals = []; // statuses for the next requests
const actions = {
  "POST /v1/traces": (body, question) => {
    ++requests;
    if (refusals.length) return [refusals.shift(), "told to refuse"];
    try {
      const type = question.headers["content-type"];
      if (type !== "application/json") throw Error("the media type is " + type);
      for (const {resource, scopeSpans} of decode(body).resourceSpans)
        for (const {scope, spans: some} of scopeSpans) spans.push(...some.map(span => shown(span, resource, scope)));
    } catch (failure) {
      complaints.push(failure.message);
      return [400, failure.message];
    }
    return [200, "{}"];
  },
  "POST /refuse": body => [200, String(refusals = JSON.parse(body))],
  "GET /spans": () => [200, JSON.stringify(spans)],
  "GET /counts": () => [200, JSON.stringify({requests, spans: spans.length, complaints})],
};
const server = http.createServer(async (question, answer) => {
  const chunks = [];
  for await (const chunk of question) chunks.push(chunk);
  const act = actions[question.method + " " + question.url] || (() => [404, "no such page"]);
  const [status, text] = act(Buffer.concat(chunks), question);
  answer.writeHead(status, {"Content-Type": "application/json"}).end(text);
});
server.listen(0, "127.0.0.1", () => console.log("listening on " + server.address().port));
