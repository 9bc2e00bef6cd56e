import {always, ended, failing, record} from './replaced.mjs';
import {ConstantBackoff, ExponentialBackoff, IterableBackoff, fullJitterGenerator, halfJitterGenerator, handleAll,
    noJitterGenerator, retry} from 'cockatiel';

const play = options => failures => {
    const operation = failing(failures);
    return ended(operation, retry(handleAll, options).execute(operation));
};
const growing = options => play({maxAttempts: 20, backoff: new ExponentialBackoff(options)});

await record('cockatiel', 'node_modules/cockatiel/', {
    max_attempts: [always, play({maxAttempts: 4})],
    no_limit: [12, play({})],
    constant: [9, play({maxAttempts: 20, backoff: new ConstantBackoff(70)})],
    schedule: [9, play({maxAttempts: 20, backoff: new IterableBackoff([10, 20, 50])})],
    exponential: [12, growing({})],
    no_jitter: [12, growing({generator: noJitterGenerator})],
    full_jitter: [12, growing({generator: fullJitterGenerator})],
    half_jitter: [12, growing({generator: halfJitterGenerator})],
});
