#!/bin/sh
# A second address of a server makes Node fail where one address alone works.
#
# One would expect: a name with two addresses connects if one of them does. RFC 8305 ("happy eyeballs")
# begins with the second address after 250 ms, and lets the first attempt go on.
# True is: `autoSelectFamily`, on since Node 20, ends the first attempt after 250 ms and never comes back
# to it. If the second address is dead, the connection fails, though the first needs 1 s at most.
# It matters: one lost SYN costs 1 s, and so does a far server under load. Each retry begins afresh with
# 250 ms, so no number of retries connects. `autoSelectFamilyAttemptTimeout` sets the time.
# Needs Node.
set -eu
echo "Linux $(uname -r), Node $(node --version), $(python3 --version)"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' HUP INT TERM
cd "$folder"

# Two addresses lose all packets. The first one recovers after 0.4 s, so that the second SYN comes in.
cat >addresses.py <<'END'
import ctypes
import socket
import struct
import sys
import time

SO_ATTACH_FILTER, SO_DETACH_FILTER = 26, 27
drop_all = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0))  # a filter: "return 0"
program = struct.pack("HxxxxxxP", 1, ctypes.addressof(drop_all))
slow = socket.create_server(("127.0.0.1", 0))
dead = socket.create_server(("127.0.0.2", slow.getsockname()[1]))
dead.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, program)
slow.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, program)
print(slow.getsockname()[1], flush=True)
time.sleep(0.4)
slow.setsockopt(socket.SOL_SOCKET, SO_DETACH_FILTER, 0)
sys.stdin.read()
END

cat >connect.js <<'END'
const net = require('net');
const {spawn} = require('child_process');

const connect = (name, addresses, options) => new Promise((resolve) => {
    const servers = spawn('python3', ['addresses.py'], {stdio: ['pipe', 'pipe', 'inherit']});
    servers.stdout.once('data', (port) => {
        const found = addresses.map((address) => ({address, family: 4}));
        const lookup = (host, {all}, done) => (all ? done(null, found) : done(null, found[0].address, 4));
        const socket = net.connect({host: 'server.example', port: Number(port), lookup, ...options});
        const end = (said) => {
            console.log(`${name}: ${said}`);
            clearTimeout(limit);
            socket.destroy();
            servers.kill();
            resolve();
        };
        const limit = setTimeout(() => end('not connected after 10 s'), 10000);
        socket.on('connect', () => end('connected'));
        socket.on('error', (error) => end(error.code));
    });
});
const patient = {autoSelectFamilyAttemptTimeout: 3000};
connect('slow address', ['127.0.0.1'])
    .then(() => connect('slow and dead address', ['127.0.0.1', '127.0.0.2']))
    .then(() => connect('both, 3 s each', ['127.0.0.1', '127.0.0.2'], patient));
END
timeout 60 node connect.js >seen
cat seen
diff - seen <<'END' || { echo "This has changed."; exit 1; }
slow address: connected
slow and dead address: not connected after 10 s
both, 3 s each: connected
END
