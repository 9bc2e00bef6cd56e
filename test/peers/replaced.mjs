// Timers, clock and randomness for a package: imported before it. A wait is noted, takes no time, and moves the clock.
import {readFileSync} from 'node:fs';

const begin = 1_800_000_000_000;
const realTimer = globalThis.setTimeout;
let owner = 'nothing';
let draw = 0;
let clock = 0;
let delays = [];

Math.random = () => draw;
Date.now = () => begin + clock;
Object.defineProperty(performance, 'now', {value: () => clock}); // Node 18 lets nobody assign it

// Other timers belong to Node, or to a part of the package that does not retry.
const isWait = () => new Error().stack.split('\n')[3]?.includes(owner) ?? false;

globalThis.setTimeout = (callback, delay, ...rest) => {
    if (!isWait())
        return realTimer(callback, delay, ...rest);
    delays.push(delay);
    return realTimer(() => {
        clock += delay;
        callback(...rest);
    }, 0);
};

export const draws = [0, 0.5, 1 - 2 ** -53];
export const always = Infinity;

export class Failure extends Error {}

// An operation that fails so often and then succeeds.
export const failing = (failures, error = () => new Failure('failed')) => {
    const operation = () => {
        ++operation.calls;
        if (operation.calls <= failures)
            throw error();
        return 'done';
    };
    operation.calls = 0;
    return operation;
};

// record(PACKAGE, FILE, CASES): a row for each case of {name: [failures, play]} and each draw. `play` makes calls
// until one succeeds or the package gives up, and returns how many. `file` is a part of the path of what waits.
export const record = async (name, file, cases) => {
    owner = file;
    const {version} = JSON.parse(readFileSync(new URL(`node_modules/${name}/package.json`, import.meta.url)));
    for (const [title, [failures, play]] of Object.entries(cases)) {
        for (const [place, each] of draws.entries()) {
            draw = each;
            clock = 0;
            delays = [];
            const calls = await play(failures);
            const nanoseconds = delays.map(delay => Math.round(delay * 1e6));
            console.log([version, title, failures === always ? 'always' : failures, ['0', '0.5', '1'][place], calls,
                nanoseconds.join(' ')].join());
        }
    }
};

// ended(OPERATION, PROMISE): the number of calls once all is over. Any error but the operation's own is a fault.
export const ended = async (operation, promise, isExpected = error => error instanceof Failure) => {
    try {
        await promise;
    } catch (error) {
        if (!isExpected(error))
            throw error;
    }
    return operation.calls;
};
