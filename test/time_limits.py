#!/usr/bin/env python3
"""Fails where an example or a page shows a policy whose delays are too long for its time limit, and names the line.
usage: time_limits.py SOURCE_DIR

A delay that would end after the limit ends the operation at once. So such a policy gives up during an outage, by
chance.
"""
import pathlib
import re
import sys

UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1, "min": 60, "h": 3600}
GREATEST_SHARE = 1 / 3
MANY = 100


def seconds(text):
    match = re.fullmatch(r"([\d.]+)(us|ms|s|min|h)", text)
    return float(match[1]) * UNITS[match[2]] if match else None


def argument(chain, setter):
    match = re.search(rf"\b{setter}\(([^(),]*)", chain)
    return match and match[1]


def longest_delay(chain):
    """The longest delay in seconds if the backoff is constant or exponential. None for all others."""
    if "backoff(" not in chain:
        chain += ".backoff(exponential(100ms).cap(20s))"
    if argument(chain, "constant"):
        return seconds(argument(chain, "constant"))
    first = seconds(argument(chain, "exponential") or "")
    if first is None:
        return None
    attempts = MANY if "unlimited_attempts" in chain else int(argument(chain, "max_attempts") or 3)
    factor = re.search(r"exponential\([^(),]*, ([\d.]+)\)", chain)
    uncapped = first * float(factor[1] if factor else 2) ** (attempts - 2)
    return min(uncapped, seconds(argument(chain, "cap") or "") or uncapped)


def is_too_long(chain):
    limit = seconds(argument(chain, "total_timeout") or argument(chain, "max_elapsed") or "")
    longest = longest_delay(chain)
    return bool(limit and longest and longest > limit * GREATEST_SHARE * 1.001) and "clamp()" not in chain


def as_chain(literals):
    """Of a policy as parse_policy reads it, the setters."""
    text = "".join(re.findall(r'"([^"]*)"', literals))
    number = r"(?:base=|factor=)?([^,()=]*)"
    text = re.sub(rf"exponential\({number}, {number}, cap=([^()]*)\)", r"backoff(exponential(\1, \2).cap(\3))", text)
    return re.sub(rf"exponential\({number}, cap=([^()]*)\)", r"backoff(exponential(\1).cap(\2))", text)


def policies_in(text):
    """The setters of each policy, and where it begins."""
    for match in re.finditer(r"retry_policy\(\)(\s*\.[^;]*)", text):
        yield match[1], match.start()
    for match in re.finditer(r'parse_policy\(\s*("[^;]*")\s*\)', text):
        yield as_chain(match[1]), match.start()


def places_in(file):
    text = re.sub(r" *//.*", "", file.read_text(encoding="utf-8"))
    for chain, begin in policies_in(text):
        if is_too_long(chain):
            yield f"{file}:{text.count(chr(10), 0, begin) + 1}"


def examine_the_rule():
    for code, answer in (("retry_policy().max_attempts(50).total_timeout(10s)", True),
                         ("retry_policy().total_timeout(10s)", False),
                         ("retry_policy().unlimited_attempts().max_elapsed(1min)", False),
                         ("retry_policy().unlimited_attempts().max_elapsed(59s)", True),
                         ("retry_policy().backoff(exponential(1ms, 3)).max_attempts(9).total_timeout(6s)", True),
                         ("retry_policy().backoff(exponential(1ms, 3)).max_attempts(8).total_timeout(6s)", False),
                         ("retry_policy().backoff(constant(3s)).total_timeout(5s)", True),
                         ("retry_policy().backoff(constant(3s)).total_timeout(5s).clamp()", False),
                         ('parse_policy("exponential(1s, cap=4s) unlimited_attempts() "\n  "max_elapsed(11s)")', True),
                         ('parse_policy("exponential(1s, cap=4s) unlimited_attempts() "\n  "max_elapsed(12s)")', False),
                         ('parse_policy("exponential(base=1s, factor=2, cap=9s) max_elapsed(2s)")', True)):
        (chain, _), = policies_in(code)
        if is_too_long(chain) != answer:
            sys.exit(f"{code} should be {'too long' if answer else 'all right'}")


examine_the_rule()
root = pathlib.Path(sys.argv[1])
files = [root / "README.md", *root.glob("doc/**/*.md"), *root.glob("example/**/*.[ch]pp")]
found = [f"{place}: the longest delay exceeds a third of the time limit" for file in files for place in places_in(file)]
sys.exit("\n".join(found) or 0)
