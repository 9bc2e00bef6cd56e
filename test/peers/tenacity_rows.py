"""What Debian's python3-tenacity does."""
import importlib.metadata
from functools import partial

from replaced import ALWAYS, Failure, Operation, record, wait
import tenacity
from tenacity import stop_after_attempt, stop_after_delay, wait_exponential, wait_exponential_jitter, wait_fixed


def play(failures, **options):
    operation = Operation(failures)
    options.setdefault("sleep", wait)
    try:
        tenacity.Retrying(**options)(operation)
    except (Failure, tenacity.RetryError):
        pass
    return operation.calls


def waiting(strategy):
    return 9, partial(play, wait=strategy, stop=stop_after_attempt(20))


def stopping(stop):
    return ALWAYS, partial(play, wait=wait_fixed(3), stop=stop)


newer = {
    "stop_before_delay": stopping(tenacity.stop_before_delay(10)),
    "stop_before_delay_exactly": stopping(tenacity.stop_before_delay(9)),
} if hasattr(tenacity, "stop_before_delay") else {}
record(importlib.metadata.version("tenacity"), {
    "defaults": (12, play),
    "stop_after_attempt": stopping(stop_after_attempt(5)),
    "stop_after_delay": stopping(stop_after_delay(10)),
    "stop_after_delay_exactly": stopping(stop_after_delay(9)),
    "stop_attempts_or_delay": stopping(stop_after_attempt(5) | stop_after_delay(7)),
    "wait_fixed": waiting(wait_fixed(3)),
    "wait_none": waiting(tenacity.wait_none()),
    "wait_random": waiting(tenacity.wait_random(1, 3)),
    "wait_incrementing": waiting(tenacity.wait_incrementing(1, 2, 10)),
    "wait_incrementing_defaults": waiting(tenacity.wait_incrementing()),
    "wait_exponential": waiting(wait_exponential(multiplier=0.05, max=2)),
    "wait_exponential_exp_base": waiting(wait_exponential(multiplier=0.05, exp_base=3)),
    "wait_exponential_min": waiting(wait_exponential(multiplier=0.05, max=2, min=0.3)),
    "wait_exponential_defaults": waiting(wait_exponential()),
    "wait_random_exponential": waiting(tenacity.wait_random_exponential(multiplier=0.05, max=2)),
    "wait_random_exponential_defaults": waiting(tenacity.wait_random_exponential()),
    "wait_exponential_jitter": waiting(wait_exponential_jitter(initial=0.05, max=2, jitter=0.4)),
    "wait_exponential_jitter_defaults": waiting(wait_exponential_jitter()),
    "wait_chain": waiting(tenacity.wait_chain(wait_fixed(1), wait_fixed(2), wait_fixed(5))),
    **newer,
})
