# ceiling(workload most): instructions per operation, with g++ 12 -O2 and Boost 1.81: what was counted, and a twentieth.
# 910 before an operation that asks nothing and tells nobody had a way of its own to begin and to end.
# 827 before the handler of an attempt could belong to one that is left behind.
# 831 before one lifecycle drove callbacks, awaitables and hedges; what follows has that reason where no other is given.
# 866 before an observer could decline an operation, which the machine asks as it is made.
# 885 before the static library was position independent.
ceiling(first_try_callback 895)
# 2000 before it was seen to that a value may throw as its result is made.
# Below 2010 before hooks were told of the same kind of failure as gates.
# 2020 while coroutines had a lifecycle of their own, which nothing else shared; the same for what follows.
# 2180 before a program called the driver of its coroutines in the library, which is compiled once; so do those below.
# 2276 and 2629 before a machine had one field for each fact: a frame of 32 bytes more meets other pieces of Asio's cache.
# 2320 while the driver took the steps of an operation that nothing can interrupt and that asks nobody.
ceiling(first_try_awaitable 2120)
# 2675 before the static library was position independent.
ceiling(first_try_cancellable 2670)
# Below 2835, and 1540 with a callback, before the wheel looked whether the next slot is empty, and followed the clock.
# The time of the clock decides on the level of the wheel: for minutes a wait costs 31 more, with a limit and in a hedge.
# In such minutes they cost 3249 and 3955.
ceiling(first_try_limited 3225)
ceiling(first_try_limited_strand 3950)
# 7261 and 8001 while the attempts of an operation in a scope had a coroutine of their own, 2880 and 3566 while it had a std::mutex.
# Below 3202 with limits while a child scope copied what its parents stand for, and for the reasons above.
# 3030, and 3555 with limits, for the same reason; 3180 before the limits of an operation were a class of their own.
# 3190 before the static library was position independent.
ceiling(first_try_scoped 3180)
ceiling(first_try_scoped_limited 3635)
# 5892, and 5476 before: a failure asks for the cap of its part of a chain and for the first ceiling that is not zero, and
# whether its error is an abort in any category. 6190 before the decision had named steps, of which the first says what
# gates hear whether there is a retry or not, and before a failure was asked whether it is a certificate's.
# 6637 before there was one lifecycle.
# 6827 before what a machine decides was apart from what it tells; so with what follows.
# 6930 before the static library was position independent.
ceiling(zero_delay_callback 6990)
# 19 063 before there were gates, and 18 999 before a failed attempt was known to have been told to stop, or to have sent
# something.
# 19 316 for the same reasons.
# 19 425 while a wait that was alone in its slot was moved to all lower levels.
# 19000 before the static library was position independent.
ceiling(five_waits_callback 19090)
# 28 823 while coroutines had a lifecycle of their own.
# 31200 before the static library was position independent.
ceiling(five_waits_awaitable 31080)
# 1130 while the scheduler had a std::mutex, and 1124 before an attempt noted when it began and whether it has sent something.
# 1044 before there was one lifecycle.
# 1105 before a cancellation asked for the time, because one at the deadline is the deadline.
# 1135 before a verdict and the look for the own context were in the library; a gate costs some more for the verdict.
ceiling(cancel_callback 1160)
# first_try_callback with what operations share.
# 1234 and 1670 before an operation could have a gate of its own, which chooses an endpoint.
# 1278 and 1713 before a gate could answer that the operation may wait.
# 1320 before an admission could have a ticket, by which a breaker knows its probes.
# 1330 and 1760 before the end of an attempt asked whether an operation inside had taken the admission over.
ceiling(first_try_budget 1360)
ceiling(first_try_breaker 1790)
# That gate too; the choice must not depend on how many endpoints there are.
# 3390 and 3460 while each run drew other numbers and measured real answers.
ceiling(first_try_endpoints_3 3255)
ceiling(first_try_endpoints_1000 3365)
# 2033 while the machine said inline whether it is observed, which every header that includes it paid for.
# 2040 before observations named the failure, the gate and the time since the start.
ceiling(first_try_metrics 2390)
# first_try_callback with an observer that does not want the operation.
ceiling(first_try_unsampled 960)
# With a handler, under two limits of time; and a hedge that is not needed, at most half as much again.
ceiling(first_try_limited_callback 1610)
# 2250 before there was one lifecycle.
ceiling(first_try_hedged 2375)
