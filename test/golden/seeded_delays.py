#!/usr/bin/env python3
"""Prints seeded_delays.csv, worked out in whole numbers and fractions, without the library.

The generator is in generator/split_mix_64.py.
"""
from fractions import Fraction
from math import floor

from generator.split_mix_64 import MASK, Random

GREATEST = 2**63 - 1
MS, S = 10**6, 10**9


def nearest(number):
    return floor(number + Fraction(1, 2))


def constant(value):
    return lambda failures: value


def linear(initial, step):
    return lambda failures: initial + step * (failures - 1)


def exponential(base, factor):
    return lambda failures: nearest(base * Fraction(factor) ** (failures - 1))


def truncated_binary(n, t):
    return lambda failures: t >> (n - min(failures, n))


def no_jitter(ceiling, base, cap, previous, random):
    return ceiling


def full(ceiling, base, cap, previous, random):
    return random.uniform(0, ceiling)


def equal(ceiling, base, cap, previous, random):
    return random.uniform(ceiling // 2, ceiling)


def decorrelated(ceiling, base, cap, previous, random):
    return random.uniform(base, max(base, min(cap, 3 * previous)))


def proportional(fraction):
    def draw(ceiling, base, cap, previous, random):
        spread = nearest(ceiling * Fraction(fraction))
        return random.uniform(ceiling - spread, min(cap, ceiling + spread))

    return draw


POLICIES = [
    ("default", exponential(100 * MS, 2), 20 * S, full),
    ("constant_full", constant(1 * S), GREATEST, full),
    ("linear_full", linear(250 * MS, 125 * MS), 1 * S, full),
    ("exponential_none", exponential(333_333_333, 1.1), GREATEST, no_jitter),
    ("exponential_equal", exponential(100 * MS, 1.5), 3 * S, equal),
    ("exponential_full_uncapped", exponential(1 * S, 10), GREATEST, full),
    ("exponential_decorrelated", exponential(100 * MS, 2), 10 * S, decorrelated),
    ("decorrelated_uncapped", exponential(1 * MS, 2), GREATEST, decorrelated),
    ("proportional_half", exponential(500 * MS, 1.5), 60 * S, proportional(0.5)),
    ("proportional_tenth", exponential(77_777_777, 1.3), 1 * S, proportional(0.1)),
    ("proportional_one", constant(GREATEST), GREATEST, proportional(1.0)),
    ("truncated_binary_full", truncated_binary(10, 10 * S), GREATEST, full),
    ("truncated_binary_equal", truncated_binary(70, GREATEST), GREATEST, equal),
]

print("policy,seed,stream,failure,delay_ns")
for name, shape, cap, jitter in POLICIES:
    for seed in (0, 42, MASK):
        for stream in (0, 1, MASK):
            random = Random(seed, stream)
            base = previous = min(cap, shape(1))
            for failure in range(1, 13):
                ceiling = min(cap, shape(failure), GREATEST)
                previous = jitter(ceiling, base, cap, previous, random)
                print(f"{name},{seed},{stream},{failure},{previous}")
