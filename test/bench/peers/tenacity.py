# Measures Debian's python3-tenacity on asyncio: tenacity.py WORKLOAD [--quick]
import asyncio
import gc
import json
import os
import statistics
import sys
import time

# This file has the package's name and would be found in its place.
sys.path.pop(0)
import tenacity

QUICK = "--quick" in sys.argv
REPETITIONS = 1 if QUICK else 5
WAITS_OF_OPERATION = 5

ten_attempts = tenacity.stop_after_attempt(10)


class Failure(Exception):
    pass


async def first_try():
    async def operation():
        pass

    retrying = tenacity.AsyncRetrying(
        stop=ten_attempts, wait=tenacity.wait_random_exponential(multiplier=0.01, max=1)
    )
    return await sequential(2_000 if QUICK else 20_000, lambda: retrying(operation))


async def zero_delay():
    async def operation(failures):
        if failures:
            failures.pop()
            raise Failure

    retrying = tenacity.AsyncRetrying(stop=ten_attempts, wait=tenacity.wait_none())
    return await sequential(500 if QUICK else 5_000, lambda: retrying(operation, [None] * 3))


async def sequential(count, begin):
    cpu = []
    for i in range(REPETITIONS + 1):
        gc.collect()
        before = time.process_time_ns()
        for _ in range(count):
            await begin()
        cpu.append((time.process_time_ns() - before) / count)
    warmed_up = cpu[1:]
    return {"cpu_ns": statistics.median(warmed_up)}


class StormOperation:
    __slots__ = ("late", "failures", "due")

    def __init__(self, late):
        self.late = late
        self.failures = 0

    async def attempt(self):
        if self.failures:
            self.late.append(time.monotonic() - self.due)
        if self.failures < WAITS_OF_OPERATION:
            self.failures += 1
            raise Failure


def note_wait(retry_state):
    operation = retry_state.args[0]
    operation.due = time.monotonic() + retry_state.next_action.sleep


full_jitter = tenacity.AsyncRetrying(
    stop=ten_attempts,
    wait=tenacity.wait_random_exponential(multiplier=0.01, max=1),
    before_sleep=note_wait,
)


async def run_storm(count):
    late = []
    await asyncio.gather(
        *(full_jitter(StormOperation.attempt, StormOperation(late)) for _ in range(count))
    )
    return late


async def storm(count, repetitions):
    await run_storm(1_000)
    late = []
    cpu = []
    for _ in range(repetitions):
        gc.collect()
        before = time.process_time_ns()
        late += await run_storm(count)
        cpu.append((time.process_time_ns() - before) / (count * WAITS_OF_OPERATION))
    late.sort()
    return {
        "cpu_ns": statistics.median(cpu),
        "late_p50_us": round(1e6 * late[len(late) // 2]),
        "late_p99_us": round(1e6 * late[len(late) * 99 // 100]),
        "late_max_us": round(1e6 * late[-1]),
    }


async def cancel(count):
    async def operation():
        raise Failure

    retrying = tenacity.AsyncRetrying(stop=ten_attempts, wait=tenacity.wait_fixed(3600))
    running = [None] * count
    memory = resident_memory()
    for i in range(count):
        running[i] = asyncio.create_task(retrying(operation))
    await asyncio.sleep(0.1)
    used = resident_memory() - memory

    before = time.process_time_ns()
    for task in running:
        task.cancel()
    await asyncio.gather(*running, return_exceptions=True)
    cpu = time.process_time_ns() - before
    return {"cpu_ns": cpu / count, "bytes": used / count}


def resident_memory():
    gc.collect()
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


WORKLOADS = {
    "first_try": first_try,
    "zero_delay": zero_delay,
    "storm_1k": lambda: storm(1_000, REPETITIONS),
    "storm_100k": lambda: storm(100_000, 1),
    "cancel_100k": lambda: cancel(100_000),
    "cancel_1m": lambda: cancel(1_000_000),
}

UNAVAILABLE = {"storm_1m": "too large for it: three minutes of CPU time"}


def main():
    workload = sys.argv[1]
    if workload in UNAVAILABLE:
        result = {"unavailable": UNAVAILABLE[workload]}
    else:
        result = asyncio.run(WORKLOADS[workload]())
    print(json.dumps({"workload": workload, "contender": "Python tenacity", **result}))


main()
