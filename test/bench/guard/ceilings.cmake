# ceiling(workload most): instructions per operation, with g++ 12 -O2 and Boost 1.81: what was counted, and a twentieth.
# 910 before an operation that asks nothing and tells nobody had a way of its own to begin and to end.
# 827 before the handler of an attempt could belong to one that is left behind.
ceiling(first_try_callback 840)
# 2000 before it was seen to that a value may throw as its result is made.
# Below 2010 before hooks were told of the same kind of failure as gates.
ceiling(first_try_awaitable 2030)
ceiling(first_try_cancellable 2370)
# Below 2835, and 1540 with a callback, before the wheel looked whether the next slot is empty, and followed the clock.
ceiling(first_try_limited 2880)
ceiling(first_try_limited_strand 3622)
# 7261 and 8001 while the attempts of an operation in a scope had a coroutine of their own, 2880 and 3566 while it had a std::mutex.
# Below 3202 with limits while a child scope copied what its parents stand for, and for the reasons above.
ceiling(first_try_scoped 2800)
ceiling(first_try_scoped_limited 3310)
# 5892, and 5476 before: a failure asks for the cap of its part of a chain and for the first ceiling that is not zero, and
# whether its error is an abort in any category. 6190 before the decision had named steps, of which the first says what
# gates hear whether there is a retry or not, and before a failure was asked whether it is a certificate's.
ceiling(zero_delay_callback 6700)
# 19 063 before there were gates, and 18 999 before a failed attempt was known to have been told to stop, or to have sent
# something.
# 19 316 for the same reasons.
# 19 425 while a wait that was alone in its slot was moved to all lower levels.
ceiling(five_waits_callback 19000)
ceiling(five_waits_awaitable 29700)
# 1130 while the scheduler had a std::mutex, and 1124 before an attempt noted when it began and whether it has sent something.
ceiling(cancel_callback 1048)
# first_try_callback with what operations share.
ceiling(first_try_budget 1250)
ceiling(first_try_breaker 1690)
# 2033 while the machine said inline whether it is observed, which every header that includes it paid for.
ceiling(first_try_metrics 2130)
# With a handler, under two limits of time; and a hedge that is not needed, at most half as much again.
ceiling(first_try_limited_callback 1580)
ceiling(first_try_hedged 2270)
