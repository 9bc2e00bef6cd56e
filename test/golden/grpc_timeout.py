#!/usr/bin/env python3
"""Prints grpc_timeout.csv, worked out from the grammar of gRPC over HTTP/2, without the library.

  Timeout      -> "grpc-timeout" TimeoutValue TimeoutUnit
  TimeoutValue -> {positive integer as ASCII string of at most 8 digits}
  TimeoutUnit  -> Hour "H" / Minute "M" / Second "S" / Millisecond "m" / Microsecond "u" / Nanosecond "n"

A row `read` has a text, and the nanoseconds that it means, held at those of 63 bits; none if it has another form. A row
`written` has the nanoseconds that are left, and the greatest text that means no more of them: of the finest unit that
8 digits can count. Zero, which the grammar lacks, is read as zero and written as 0m.
"""
import re

UNITS = [("n", 1), ("u", 10**3), ("m", 10**6), ("S", 10**9), ("M", 60 * 10**9), ("H", 3600 * 10**9)]
GREATEST = 2**63 - 1


def meant_by(text):
    if not re.fullmatch(r"[0-9]{1,8}[HMSmun]", text, re.ASCII):
        return None
    return min(GREATEST, int(text[:-1]) * dict(UNITS)[text[-1]])


def written(left):
    if left <= 0:
        return "0m"
    return next(f"{left // one}{letter}" for letter, one in UNITS if left // one < 10**8)


def texts():
    yield "0n"
    for letter, _ in UNITS:
        yield from [f"1{letter}", f"99999999{letter}"]
    yield from ["2562047H", "2562048H"]  # the last that 63 bits hold, and the first beyond
    yield from ["00000001n", "000000001n", "100000000n", "99999999999999999999n"]
    yield from ["n", "-1n", "+1n", "1.5n", "1 n", "1nn", "n1", "1e3n", "0x1n", "1_0n", "1ns", "1n;", "٣n"]
    yield from ["", "1", "12345678", "1h", "1U", "1min", "1µ", "inf", "1S,1S", "1H30M"]


def lefts():
    edges = {0, 1, -1, GREATEST, GREATEST - 1, -GREATEST, 99_950_000, 1_500_000_000}
    for _, one in UNITS[:-1]:
        edges |= {10**8 * one - 1, 10**8 * one}
    return sorted(edges)


print("way,text,ns")
for text in texts():
    ns = meant_by(text)
    quoted = '"' + text.replace('"', '""') + '"' if '"' in text or "," in text else text
    if not any(ord(c) < 32 for c in text):
        print(f"read,{quoted},{'none' if ns is None else ns}")
for left in lefts():
    print(f"written,{written(left)},{left}")
