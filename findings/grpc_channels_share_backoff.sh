#!/bin/sh
# A new gRPC channel fails at once, although the server is up: it inherits an old channel's backoff.
#
# One would expect: a new client, made after the server came back, connects at its first call.
# True is: in a process all channels with one target and equal options share a connection, and its
# backoff. While the old channel waits, which is up to 2 minutes, the new one says UNAVAILABLE without
# trying. `grpc.use_local_subchannel_pool` gives it a connection of its own.
# It matters: to throw the client away and make a new one is the usual way out, and here it does nothing.
# Retries shorter than the backoff are spent without one packet. The error names no reason.
# Needs Node and npm.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' HUP INT TERM
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . @grpc/grpc-js@1.12.5
echo "Node $(node --version), grpc-js $(node -p 'require("@grpc/grpc-js/package.json").version')"

cat >channels.js <<'END'
const grpc = require('@grpc/grpc-js');
const net = require('net');

const same = (bytes) => bytes;
const service = {ask: {
    path: '/shop/ask', requestStream: false, responseStream: false, requestSerialize: same,
    requestDeserialize: same, responseSerialize: same, responseDeserialize: same,
}};
const Client = grpc.makeGenericClientConstructor(service, 'shop');
// A long first backoff, so that there is time to look. It is 1 s by default and doubles up to 2 minutes.
const backoff = {'grpc.initial_reconnect_backoff_ms': 60000};
const credentials = grpc.credentials.createInsecure();
const makeClient = (target, options) => new Client(target, credentials, {...backoff, ...options});
const ask = (name, client) => new Promise((resolve) => {
    client.ask(Buffer.from(''), {deadline: Date.now() + 10000}, (error) => {
        console.log(`${name}: ${error ? grpc.status[error.code] : 'OK'}`);
        resolve();
    });
});

const found = net.createServer().listen(0, '127.0.0.1', () => {
    const target = `127.0.0.1:${found.address().port}`;
    found.close(async () => {
        await ask('server is down, old channel', makeClient(target));
        const server = new grpc.Server();
        server.addService(service, {ask: (call, done) => done(null, Buffer.from(''))});
        const listen = (done) => server.bindAsync(target, grpc.ServerCredentials.createInsecure(), done);
        await new Promise(listen);
        await ask('server is up, new channel', makeClient(target));
        const own = {'grpc.use_local_subchannel_pool': 1};
        await ask('server is up, new channel with a pool of its own', makeClient(target, own));
        process.exit();
    });
});
END
timeout 60 node channels.js >seen
cat seen
diff - seen <<'END' || { echo "This has changed."; exit 1; }
server is down, old channel: UNAVAILABLE
server is up, new channel: UNAVAILABLE
server is up, new channel with a pool of its own: OK
END
