#!/bin/sh
# Node's request timeout begins when the agent has a free socket, not when the request begins.
#
# One would expect: `http.get({agent, timeout: 500})` reports a timeout after 500 ms.
# True is: with `maxSockets` requests wait in the agent's queue. `timeout` is the idle time of the socket,
# so it counts from the moment a request has one. In the queue no time limit holds at all.
# It matters: if a server hangs, each request in the queue waits for all requests before it: the tenth
# reports its timeout after ten times the time. Retries join the end of this queue. `AbortSignal.timeout`
# as `signal` limits the whole request.
# Needs Node.
set -eu
echo "Node $(node --version)"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' HUP INT TERM
cd "$folder"

cat >queue.js <<'END'
const http = require('http');

const server = http.createServer(() => {}); // hangs
server.listen(0, '127.0.0.1', async () => {
    const start = Date.now();
    const ask = (agent, limit) => new Promise((resolve) => {
        const request = http.get({host: '127.0.0.1', port: server.address().port, agent, ...limit});
        request.on('timeout', () => request.destroy(new Error('timeout')));
        request.on('error', () => resolve(Date.now() - start));
    });
    const inOneQueue = async (makeLimit) => {
        const agent = new http.Agent({maxSockets: 1, keepAlive: true});
        const began = Date.now() - start;
        const ends = await Promise.all(Array.from({length: 5}, () => ask(agent, makeLimit())));
        return ends.map((end) => Math.floor((end - began) / 500) * 0.5 + ' s').join(', ');
    };
    console.log(`timeout: 500 gives up after ${await inOneQueue(() => ({timeout: 500}))}`);
    console.log(`signal: AbortSignal.timeout(500) gives up after ${
        await inOneQueue(() => ({signal: AbortSignal.timeout(500)}))}`);
    process.exit();
});
END
timeout 60 node queue.js >seen
cat seen
diff - seen <<'END' || { echo "This has changed."; exit 1; }
timeout: 500 gives up after 0.5 s, 1 s, 1.5 s, 2 s, 2.5 s
signal: AbortSignal.timeout(500) gives up after 0.5 s, 0.5 s, 0.5 s, 0.5 s, 0.5 s
END
