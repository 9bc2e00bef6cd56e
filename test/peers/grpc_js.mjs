import {always, record} from './replaced.mjs';
import grpc from '@grpc/grpc-js';

const plain = {serialize: value => value, deserialize: bytes => bytes};
const method = {...plain, path: '/peer/Call', requestStream: false, responseStream: false,
    requestSerialize: plain.serialize, requestDeserialize: plain.deserialize,
    responseSerialize: plain.serialize, responseDeserialize: plain.deserialize};
let server = {calls: 0};
const listener = new grpc.Server();
listener.addService({call: method}, {
    call: (_, answer) => {
        ++server.calls;
        if (server.calls > server.failures)
            return answer(null, Buffer.from('done'));
        const metadata = new grpc.Metadata();
        if (server.wish !== undefined && (server.calls % 2 === 1 || server.wish < 0))
            metadata.set('grpc-retry-pushback-ms', String(server.wish));
        answer({code: grpc.status.UNAVAILABLE, metadata});
    },
});
const port = await new Promise((resolve, reject) => {
    listener.bindAsync('127.0.0.1:0', grpc.ServerCredentials.createInsecure(),
        (error, bound) => error ? reject(error) : resolve(bound));
});

const play = (retryPolicy, {wish, limit} = {}) => async failures => {
    server = {calls: 0, failures, wish};
    const config = {loadBalancingConfig: [], methodConfig: [{name: [{}], retryPolicy: {maxAttempts: 5,
        initialBackoff: '0.1s', maxBackoff: '1s', backoffMultiplier: 2, retryableStatusCodes: ['UNAVAILABLE'],
        ...retryPolicy}}]};
    const client = new grpc.Client(`127.0.0.1:${port}`, grpc.credentials.createInsecure(), {
        'grpc.service_config': JSON.stringify(config),
        ...(limit && {'grpc-node.retry_max_attempts_limit': limit}),
    });
    await new Promise((resolve, reject) => {
        client.makeUnaryRequest(method.path, plain.serialize, plain.deserialize, Buffer.from('call'),
            error => error && error.code !== grpc.status.UNAVAILABLE ? reject(error) : resolve());
    });
    client.close();
    return server.calls;
};

await record('@grpc/grpc-js', 'grpc-js/build/src/retrying-call.js', {
    four: [always, play({maxAttempts: 4})],
    five_at_most: [always, play({maxAttempts: 9})],
    limit_of_channel: [always, play({maxAttempts: 9}, {limit: 9})],
    pushback: [3, play({}, {wish: 700})],
    pushback_never: [always, play({}, {wish: -1})],
});
listener.forceShutdown();
