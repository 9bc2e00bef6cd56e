import {ConstantBackoff, DelegateBackoff, ExponentialBackoff, handleAll, retry} from 'cockatiel';
import {main} from './workloads.mjs';

const exponential = retry(handleAll, {maxAttempts: 10, backoff: new ExponentialBackoff()});
const atOnce = retry(handleAll, {maxAttempts: 10, backoff: new ConstantBackoff(0)});
const fullJitter = retry(handleAll, {
    maxAttempts: 10,
    backoff: new DelegateBackoff(({attempt, result}) =>
        result.error.waits(Math.random() * Math.min(1_000, 10 * 2 ** (attempt - 1)))),
});

const noCancellation = 'its waits cannot be aborted: the signal is seen after the delay only';

main('Node cockatiel', {
    firstTry: operation => exponential.execute(operation),
    zeroDelay: operation => atOnce.execute(operation),
    storm: operation => fullJitter.execute(() => operation.attempt()),
    unavailable: {
        storm_1m: 'too large for it: 100 000 operations take 0.6 GB',
        cancel_100k: noCancellation,
        cancel_1m: noCancellation,
    },
});
