#!/usr/bin/env python3
"""Prints gcra.csv, worked out from the definition of the generic cell rate algorithm, without the library.

The virtual scheduling algorithm of ITU-T I.371, annex A, with the increment T and the limit tau:

  The first cell arrives at ta(1): TAT = ta(1).
  Cell k arrives at ta(k):
    TAT < ta(k):        TAT = ta(k), then as below
    TAT > ta(k) + tau:  the cell does not conform, and TAT stays
    otherwise:          the cell conforms, and TAT = TAT + T

A row has one cell that arrives: `asked`, and the earliest time from then on at which it conforms: `begins`. Both are
nanoseconds since the first cell. In a script `polls` a cell that does not conform is discarded. In a script `waits` it
is held until it conforms, and arrives then. In a script `leaves` a cell with `left` is held and discarded at once.

T is per / n, rounded up to whole nanoseconds, and tau is (burst - 1) T.
"""
MASK = 2**64 - 1


class Random:
    """SplitMix64."""

    def __init__(self, seed):
        self.state = seed

    def up_to(self, most):
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        z = (self.state ^ (self.state >> 30)) * 0xBF58476D1CE4E5B9 & MASK
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB & MASK
        return (z ^ (z >> 31)) % (most + 1)


class VirtualScheduling:
    def __init__(self, increment, limit):
        self.increment, self.limit, self.tat = increment, limit, None

    def conforms(self, ta):
        return self.tat is None or self.tat <= ta + self.limit

    def take(self, ta):
        assert self.conforms(ta)
        if self.tat is None or self.tat < ta:
            self.tat = ta
        self.tat += self.increment

    def earliest(self, ta):
        return ta if self.conforms(ta) else self.tat - self.limit


MS, S = 10**6, 10**9
RATES = [(10, S), (3, S), (7, 60 * S), (100, S), (1, 250 * MS)]


def rows_of(way, n, per, burst, random):
    increment = -(-per // n)
    cells = VirtualScheduling(increment, (burst - 1) * increment)
    asked, left = 0, 0
    for _ in range(40):
        begins = cells.earliest(asked)
        if way == "leaves":
            left = int(begins > asked and random.up_to(2) == 0)
        if begins == asked or (way != "polls" and not left):
            cells.take(begins)
        yield f"{way},{n},{per},{burst},{asked},{begins},{left}"
        if random.up_to(9) == 0:
            asked += random.up_to(4 * burst * increment)  # an idle time
        elif random.up_to(4) == 0:
            asked = max(asked, begins)  # to the nanosecond
        elif random.up_to(2) != 0:
            asked += random.up_to(increment * (3 if way == "polls" else 2) // 2)


print("way,n,per,burst,asked,begins,left")
source = Random(371)
for way in ["waits", "polls", "leaves"]:
    for n, per in RATES:
        for burst in [1, 2, 3, 10]:
            for row in rows_of(way, n, per, burst, source):
                print(row)
