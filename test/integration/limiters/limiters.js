// A server that grants one request in a second, by a rate limiter that others have written.
// usage: node limiters.js FOLDER-WITH-NODE-MODULES LIMITER PORT
"use strict";
const http = require("http");
const path = require("path");
const {createRequire} = require("module");

const [folder, limiter, port] = process.argv.slice(2);
const load = createRequire(path.resolve(folder, "package.json"));
const window = 1000;
const where = {port: Number(port), host: "127.0.0.1"};

function express(...limits) {
  const app = load("express")();
  for (const limit of limits) app.use(limit);
  app.get("/", (request, response) => response.send("granted"));
  app.listen(where.port, where.host);
}

function express_rate_limit(options) {
  const {rateLimit} = load("express-rate-limit");
  return rateLimit({windowMs: window, limit: 1, legacyHeaders: false, standardHeaders: false, ...options});
}

async function fastify(options) {
  const app = load("fastify")();
  await app.register(load("@fastify/rate-limit"), {max: 1, timeWindow: window, ...options});
  app.get("/", () => "granted");
  await app.listen(where);
}

const limiters = {
  draft_7: () => express(express_rate_limit({standardHeaders: "draft-7"})),
  draft_8: () => express(express_rate_limit({standardHeaders: "draft-8"})),
  legacy: () => express(express_rate_limit({legacyHeaders: true})),

  // Two lines of RateLimit; the second limit is used up, for two seconds.
  two_limits: () => express(
    express_rate_limit({standardHeaders: "draft-8", limit: 1000, identifier: "many, or so; r=0; t=99"}),
    express_rate_limit({standardHeaders: "draft-8", windowMs: 2 * window, identifier: "few"})),

  slow_down: () => express(load("express-slow-down").slowDown(
    {windowMs: 60 * window, delayAfter: 1, delayMs: () => 1, legacyHeaders: true})),

  fastify: () => fastify({}),
  fastify_ban: () => fastify({ban: 0}),

  koa() {
    const app = new (load("koa"))();
    app.use(load("koa-ratelimit")({driver: "memory", db: new Map(), duration: window, max: 1, id: () => "all"}));
    app.use(context => { context.body = "granted"; });
    app.listen(where.port, where.host);
  },

  async hapi() {
    const server = load("@hapi/hapi").server(where);
    await server.register({
      plugin: load("hapi-rate-limit"),
      options: {userLimit: 1, pathLimit: false, userCache: {expiresIn: window}},
    });
    server.route({method: "GET", path: "/", handler: () => "granted"});
    await server.start();
  },

  // Its `fetch` in Node's own server.
  hono() {
    const app = new (load("hono").Hono)();
    const {rateLimiter} = load("hono-rate-limiter");
    app.use(rateLimiter({windowMs: window, limit: 1, standardHeaders: "draft-7", keyGenerator: () => "all"}));
    app.get("/", context => context.text("granted"));
    http.createServer(async (request, response) => {
      const answer = await app.fetch(new Request("http://localhost" + request.url));
      response.writeHead(answer.status, Object.fromEntries(answer.headers));
      response.end(await answer.text());
    }).listen(where);
  },

  // As its page says: the server sets the field itself, here to fractions of a second.
  flexible() {
    const {RateLimiterMemory} = load("rate-limiter-flexible");
    const limit = new RateLimiterMemory({points: 1, duration: window / 1000});
    http.createServer((request, response) => limit.consume("all").then(
      () => response.end("granted"),
      refused => {
        response.writeHead(429, {"Retry-After": refused.msBeforeNext / 1000});
        response.end();
      })).listen(where);
  },
};

limiters[limiter]();
