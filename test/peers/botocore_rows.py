"""What the standard mode of Debian's python3-botocore does, told as its endpoint tells it."""
from functools import partial
from types import SimpleNamespace

from replaced import ALWAYS, record, wait
import botocore
from botocore.awsrequest import AWSResponse
from botocore.retries import quota, standard

service = SimpleNamespace(error_shapes=[], service_model=SimpleNamespace(service_name="s3"), name="GetObject")


def play(failures, attempts=standard.DEFAULT_MAX_ATTEMPTS, status=503, code=None):
    policy = standard.RetryPolicy(standard.StandardRetryConditions(attempts), standard.ExponentialBackoff())
    tokens = standard.RetryQuotaChecker(quota.RetryQuota())
    handler = standard.RetryHandler(policy, standard.RetryEventAdapter(), tokens)
    calls = 0
    delay = 0
    while delay is not None:
        if calls > 0:
            wait(delay)
        calls += 1
        answer = AWSResponse("", status if calls <= failures else 200, {}, None)
        parsed = {"Error": {"Code": code}} if code and calls <= failures else {}
        delay = handler.needs_retry(response=(answer, parsed), attempts=calls, operation=service, caught_exception=None,
                                    request_dict={"context": {}})
    return calls


record(botocore.__version__, {
    "defaults": (ALWAYS, play),
    "max_attempts": (ALWAYS, partial(play, attempts=5)),
    "transient": (12, partial(play, attempts=20)),
    "throttled": (12, partial(play, attempts=20, status=400, code="ThrottlingException")),
    "status_429_alone": (12, partial(play, status=429)),
    "quota": (ALWAYS, partial(play, attempts=200)),
})
