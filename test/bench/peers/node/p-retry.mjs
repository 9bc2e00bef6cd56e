import pRetry from 'p-retry';
import {main} from './workloads.mjs';

const tenRetries = {retries: 10};
const atOnce = {retries: 10, minTimeout: 0, maxTimeout: 0};
const anHour = 3_600_000;

main('Node p-retry', {
    firstTry: operation => pRetry(operation, tenRetries),
    zeroDelay: operation => pRetry(operation, atOnce),

    // The package has no full jitter: its own jitter at least keeps the whole delay. But a first delay which is
    // uniform in [0, 10 ms] and doubles gives every single wait the same distribution, though an operation's five
    // depend on one another. The package takes the first for a millisecond at least and rounds to milliseconds.
    storm: operation => {
        const first = 10 * Math.random();
        const delay = attempt => Math.round(Math.max(first, 1) * 2 ** (attempt - 1));
        return pRetry(() => operation.attempt(), {
            retries: 10,
            minTimeout: first,
            maxTimeout: 1_000,
            onFailedAttempt: ({attemptNumber}) => { operation.waits(delay(attemptNumber)); },
        });
    },

    waitAnHour: (operation, signal) => pRetry(operation, {retries: 10, minTimeout: anHour, signal}),

    unavailable: {
        storm_1m: 'too large for it: 100 000 operations take 0.5 GB',
        cancel_1m: 'too large for it: a minute of CPU time and 3.8 GB',
    },
});
