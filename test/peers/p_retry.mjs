import {always, ended, failing, record} from './replaced.mjs';
import pRetry from 'p-retry';

const play = options => failures => {
    const operation = failing(failures);
    return ended(operation, pRetry(operation, options));
};

// The number of failures that the package has told of, in place of the number of calls.
const told = options => async failures => {
    let count = 0;
    const onFailedAttempt = () => {
        ++count;
    };
    await play({...options, onFailedAttempt})(failures);
    return count;
};

await record('p-retry', 'node_modules/p-retry/', {
    defaults: [always, play({})],
    retries: [always, play({retries: 4})],
    no_retries: [always, play({retries: 0})],
    growth: [9, play({retries: 20, minTimeout: 50, factor: 3})],
    randomize: [9, play({retries: 20, minTimeout: 100, randomize: true})],
    max_timeout: [9, play({retries: 20, minTimeout: 100, maxTimeout: 2000, randomize: true})],
    max_retry_time: [always, play({retries: 20, minTimeout: 1000, maxRetryTime: 10_000})],
    infinite_retries: [12, play({retries: Infinity})],
    told: [always, told({retries: 2})],
    told_although_not_retried: [always, told({retries: 2, shouldRetry: () => false})],
});
