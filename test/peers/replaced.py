"""Sleeps, clock and randomness for a package: a wait is noted, takes no time, and moves the clock."""
import random
import time

DRAWS = {"0": 0.0, "0.5": 0.5, "1": 1 - 2**-53}
ALWAYS = float("inf")

draw = 0.0
clock = 0.0
delays = []


class Failure(Exception):
    pass


def wait(seconds):
    global clock
    delays.append(seconds)
    clock += seconds


random.random = lambda: draw
random.uniform = lambda low, high: low + (high - low) * draw
time.monotonic = lambda: clock
time.time = lambda: 1_800_000_000 + clock
time.sleep = wait


class Operation:
    """Fails so often and then succeeds."""

    def __init__(self, failures):
        self.failures = failures
        self.calls = 0

    def __call__(self):
        self.calls += 1
        if self.calls <= self.failures:
            raise Failure


def record(version, cases):
    """A row for each case of {name: (failures, play)} and each draw. `play` makes calls until one succeeds or the
    package gives up, and returns how many."""
    global draw, clock
    for name, (failures, play) in cases.items():
        for place, draw in DRAWS.items():
            clock = 0.0
            delays.clear()
            calls = play(failures)
            nanoseconds = " ".join(str(round(delay * 1e9)) for delay in delays)
            print(version, name, "always" if failures == ALWAYS else failures, place, calls, nanoseconds, sep=",")
