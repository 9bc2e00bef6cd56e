"""SplitMix64, which begins at mix(mix(seed + gamma) ^ mix(~stream)).

A draw from [0, n]: as many high bits of the next number as n has, drawn again while they exceed n; none if n is 0.
"""
MASK = 2**64 - 1
GAMMA = 0x9E3779B97F4A7C15


def mix(z):
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & MASK
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB & MASK
    return z ^ (z >> 31)


class Random:
    def __init__(self, seed, stream):
        self.state = mix(mix((seed + GAMMA) & MASK) ^ mix(~stream & MASK))

    def next(self):
        self.state = (self.state + GAMMA) & MASK
        return mix(self.state)

    def uniform(self, least, greatest):
        span = greatest - least
        if span == 0:
            return least
        while True:
            drawn = self.next() >> (64 - span.bit_length())
            if drawn <= span:
                return least + drawn
