// The workloads of a package, which an adapter starts: each of its functions returns the promise of one operation.

// The errors of the operations cost no stack traces: these are not the package's.
Error.stackTraceLimit = 0;

const quick = process.argv[3] === '--quick';
const repetitions = quick ? 1 : 5;
const waitsOfOperation = 5;
const failure = new Error('failure');

export async function main(contender, adapter) {
    const workloads = {
        first_try: () => sequential(quick ? 10_000 : 100_000, () => adapter.firstTry(() => 1)),
        // A timer of Node waits for a millisecond at least: few operations.
        zero_delay: () => sequential(quick ? 50 : 300, () => adapter.zeroDelay(failsThrice())),
        storm_1k: () => storm(adapter, 1_000, repetitions),
        storm_100k: () => storm(adapter, 100_000, 1),
        storm_1m: () => storm(adapter, 1_000_000, 1),
        cancel_100k: () => cancel(adapter, 100_000),
        cancel_1m: () => cancel(adapter, 1_000_000),
    };
    const workload = process.argv[2];
    const unavailable = adapter.unavailable[workload];
    const result = unavailable ? {unavailable} : await workloads[workload]();
    console.log(JSON.stringify({workload, contender, ...result}));
}

function failsThrice() {
    let failures = 0;
    return () => {
        if (failures++ < 3)
            throw failure;
    };
}

async function sequential(count, begin) {
    const cpu = [];
    for (let i = 0; i <= repetitions; ++i) {
        gc();
        const before = process.cpuUsage();
        for (let j = 0; j < count; ++j)
            await begin();
        if (i > 0) // the first is the warm-up
            cpu.push(cpuSince(before) / count);
    }
    return {cpu_ns: median(cpu)};
}

// It throws itself: so a policy which all operations share can tell whose delay it draws.
class StormOperation extends Error {
    constructor(late) {
        super('failure');
        this.late = late;
        this.failures = 0;
    }

    waits(milliseconds) {
        this.due = performance.now() + milliseconds;
        return milliseconds;
    }

    attempt() {
        if (this.failures > 0)
            this.late[this.failures - 1] = performance.now() - this.due;
        if (this.failures++ < waitsOfOperation)
            throw this;
    }
}

async function runStorm(adapter, count, late) {
    const running = [];
    for (let i = 0; i < count; ++i) {
        const own = i * waitsOfOperation;
        running.push(adapter.storm(new StormOperation(late.subarray(own, own + waitsOfOperation))));
    }
    await Promise.all(running);
}

async function storm(adapter, count, repetitions) {
    await runStorm(adapter, 1_000, new Float64Array(1_000 * waitsOfOperation));
    const waits = count * waitsOfOperation;
    const all = new Float64Array(repetitions * waits);
    const cpu = [];
    for (let i = 0; i < repetitions; ++i) {
        gc();
        const before = process.cpuUsage();
        await runStorm(adapter, count, all.subarray(i * waits, (i + 1) * waits));
        cpu.push(cpuSince(before) / waits);
    }
    all.sort();
    return {
        cpu_ns: median(cpu),
        late_p50_us: Math.round(1e3 * all[Math.floor(all.length / 2)]),
        late_p99_us: Math.round(1e3 * all[Math.floor(all.length * 0.99)]),
        late_max_us: Math.round(1e3 * all[all.length - 1]),
    };
}

async function cancel(adapter, count) {
    const controllers = new Array(count).fill(null);
    const running = new Array(count).fill(null);
    const memory = heapUsed();
    for (let i = 0; i < count; ++i) {
        controllers[i] = new AbortController();
        running[i] = adapter.waitAnHour(() => { throw failure; }, controllers[i].signal);
    }
    await new Promise(resolve => setTimeout(resolve, 100));
    const bytes = (heapUsed() - memory) / count;

    const before = process.cpuUsage();
    const ended = Promise.allSettled(running);
    for (const controller of controllers)
        controller.abort();
    await ended;
    return {cpu_ns: cpuSince(before) / count, bytes};
}

function cpuSince(before) {
    const {user, system} = process.cpuUsage(before);
    return 1e3 * (user + system);
}

function heapUsed() {
    gc();
    return process.memoryUsage().heapUsed;
}

function median(values) {
    return values.sort((a, b) => a - b)[Math.floor(values.length / 2)];
}
