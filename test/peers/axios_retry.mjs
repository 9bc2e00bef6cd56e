import {always, ended, failing, record} from './replaced.mjs';
import axios, {AxiosError} from 'axios';
import axiosRetry, {exponentialDelay, linearDelay} from 'axios-retry';

// No network: the adapter is the server.
const play = (options, {status = 503, headers = {}, method = 'get', timeout = 0} = {}) => failures => {
    const operation = failing(failures);
    const adapter = async config => {
        try {
            return {data: operation(), status: 200, statusText: 'OK', headers: {}, config};
        } catch (error) {
            throw new AxiosError(error.message, 'ERR_BAD_RESPONSE', config, {}, {status, headers, config});
        }
    };
    const client = axios.create({adapter, method, timeout});
    axiosRetry(client, options);
    return ended(operation, client.request('http://127.0.0.1/'), error => error instanceof AxiosError);
};
const exponential = {retries: 20, retryDelay: exponentialDelay};

await record('axios-retry', 'node_modules/axios-retry/', {
    defaults: [always, play({})],
    retries: [always, play({retries: 4})],
    exponential: [9, play(exponential)],
    exponential_of: [9, play({retries: 20, retryDelay: (n, error) => exponentialDelay(n, error, 50)})],
    linear: [9, play({retries: 20, retryDelay: linearDelay()})],
    retry_after: [3, play(exponential, {status: 429, headers: {'retry-after': '7'}})],
    post: [always, play({}, {method: 'post'})],
    total_timeout: [always, play({...exponential, retries: 9}, {timeout: 2000})],
});
