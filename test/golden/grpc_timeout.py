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
    for letter, one in UNITS:
        for count in [0, 1, 7, 42, 100, 999, 12345, 2562047, 2562048, 9999999, 10000000, 99999998, 99999999]:
            yield f"{count}{letter}"
        yield from [f"00000001{letter}", f"000000001{letter}", f"100000000{letter}", f"99999999999999999999{letter}"]
        yield from [letter, f"-1{letter}", f"+1{letter}", f"1.5{letter}", f"1 {letter}", f"1{letter}{letter}", f"{letter}1"]
        yield from [f"1e3{letter}", f"0x1{letter}", f"1_0{letter}", f"1{letter}s", f"1{letter};", f"٣{letter}"]
    yield from ["", "1", "12345678", "123456789", "1h", "1s", "1U", "1N", "1ms", "1us", "1ns", "1min", "1D", "1d", "1µ"]
    yield from ["inf", "infinity", "Infinitym", "nanm", "1S,1S", "1S 1S", "1H30M", '"1S"', "1S\x01", "\x001S"]


def lefts():
    edges = {0, 1, 2, 99, GREATEST, GREATEST - 1, -1, -GREATEST}
    for _, one in UNITS:
        for edge in [one, 10 * one, 10**8 * one]:
            edges |= {n for n in (edge - one, edge - 1, edge, edge + 1, edge + one - 1, edge + one)}
        edges |= {12345678 * one, 1234567 * one + one // 2, 3 * one // 2}
    edges |= {99_950_000, 100_000_001, 1_500_000_000, 86_400 * 10**9, 365 * 86_400 * 10**9}
    return sorted(n for n in edges if n <= GREATEST)


print("way,text,ns")
for text in texts():
    ns = meant_by(text)
    quoted = '"' + text.replace('"', '""') + '"' if '"' in text or "," in text else text
    if not any(ord(c) < 32 for c in text):
        print(f"read,{quoted},{'none' if ns is None else ns}")
for left in lefts():
    print(f"written,{written(left)},{left}")
