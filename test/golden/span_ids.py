#!/usr/bin/env python3
"""Prints span_ids.csv: the ids of spans that retry_traces makes, worked out without the library.

Operations are numbered from 1, and each has the stream of its number. The id of its trace is the first two numbers of
that stream under the seed. The id of a span is the first number of that stream under the seed + 1 + the number of the
attempt. The operation's own span is that of attempt 0. An id that would be 0 is 1.
"""
from generator.split_mix_64 import MASK, Random

print("seed,operation,attempt,trace_id,span_id")
for seed in (0, 7, MASK):
    for operation in (1, 2):
        for attempt in (0, 1, 2):
            trace = Random(seed, operation)
            high, low = trace.next() or 1, trace.next()
            span = Random((seed + 1 + attempt) & MASK, operation).next() or 1
            print(f"{seed},{operation},{attempt},{high:016x}{low:016x},{span:016x}")
