import {always, failing, record} from './replaced.mjs';
import {ConfiguredRetryStrategy, StandardRetryStrategy} from '@smithy/util-retry';

// As the clients of the AWS SDK use a strategy, except that the error is judged already.
const play = (strategy, wish, ...errorTypes) => async failures => {
    const operation = failing(failures);
    const retries = strategy();
    let token = await retries.acquireInitialRetryToken('');
    for (;;) {
        try {
            operation();
            retries.recordSuccess(token);
            return operation.calls;
        } catch (error) {
            const errorType = errorTypes[operation.calls % errorTypes.length];
            const retryAfterHint = wish && new Date(Date.now() + wish);
            try {
                token = await retries.refreshRetryTokenForRetry(token, {error, errorType, retryAfterHint});
            } catch {
                return operation.calls;
            }
        }
    }
};
const standard = attempts => () => new StandardRetryStrategy(attempts);

await record('@smithy/util-retry', 'node_modules/@smithy/core/', {
    defaults: [always, play(standard(), 0, 'TRANSIENT')],
    max_attempts: [always, play(standard(5), 0, 'TRANSIENT')],
    throttled_and_transient: [6, play(standard(20), 0, 'TRANSIENT', 'THROTTLING')],
    transient: [12, play(standard(20), 0, 'TRANSIENT')],
    throttled: [9, play(standard(20), 0, 'THROTTLING')],
    quota_of_transient: [always, play(standard(100), 0, 'TRANSIENT')],
    quota_of_throttled: [always, play(standard(200), 0, 'THROTTLING')],
    configured: [9, play(() => new ConfiguredRetryStrategy(20, n => 100 * n), 0, 'TRANSIENT')],
    wish_of_a_second: [3, play(standard(20), 1000, 'THROTTLING')],
    wish_of_a_minute: [9, play(standard(20), 60_000, 'THROTTLING')],
});
