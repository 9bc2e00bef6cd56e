import {createServer} from 'node:http';
import {always, ended, record} from './replaced.mjs';
import got, {HTTPError} from 'got';

let server = {calls: 0};
const listener = createServer((request, response) => {
    ++server.calls;
    response.writeHead(server.calls <= server.failures ? server.status : 200, server.headers);
    response.end();
});
await new Promise(resolve => { listener.listen(0, '127.0.0.1', resolve); });
const url = `http://127.0.0.1:${listener.address().port}/`;

const play = (retry, {status = 503, headers = {}, method = 'GET'} = {}) => failures => {
    server = {calls: 0, failures, status, headers};
    return ended(server, got(url, {retry, method}), error => error instanceof HTTPError);
};
const many = {limit: 20, noise: 0};

await record('got', 'node_modules/got/', {
    defaults: [always, play({})],
    limit: [always, play({limit: 4})],
    no_retries: [always, play({limit: 0})],
    growth: [9, play(many)],
    noise: [9, play({limit: 20})],
    backoff_limit: [9, play({limit: 20, backoffLimit: 5000})],
    retry_after: [3, play(many, {status: 429, headers: {'retry-after': '7'}})],
    shorter_retry_after: [5, play(many, {status: 429, headers: {'retry-after': '3'}})],
    max_retry_after: [3, play({limit: 20, maxRetryAfter: 5000}, {headers: {'retry-after': '7'}})],
    post: [always, play({}, {method: 'POST'})],
});
listener.close();
listener.closeAllConnections();
