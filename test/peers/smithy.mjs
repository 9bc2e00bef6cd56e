import {always, failing, record} from './replaced.mjs';
import {ConfiguredRetryStrategy, StandardRetryStrategy} from '@smithy/util-retry';

// As the clients of the AWS SDK use a strategy, except that the error is judged already.
const play = (strategy, errorType, wish) => async failures => {
    const operation = failing(failures);
    const retries = strategy();
    let token = await retries.acquireInitialRetryToken('');
    for (;;) {
        try {
            operation();
            retries.recordSuccess(token);
            return operation.calls;
        } catch (error) {
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
    defaults: [always, play(standard(), 'TRANSIENT')],
    max_attempts: [always, play(standard(5), 'TRANSIENT')],
    transient: [12, play(standard(20), 'TRANSIENT')],
    throttled: [9, play(standard(20), 'THROTTLING')],
    quota_of_transient: [always, play(standard(100), 'TRANSIENT')],
    quota_of_throttled: [always, play(standard(200), 'THROTTLING')],
    configured: [9, play(() => new ConfiguredRetryStrategy(20, n => 100 * n), 'TRANSIENT')],
    wish_of_a_second: [3, play(standard(20), 'THROTTLING', 1000)],
    wish_of_a_minute: [9, play(standard(20), 'THROTTLING', 60_000)],
});
