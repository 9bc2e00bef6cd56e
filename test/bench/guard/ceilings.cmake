# ceiling(workload most): instructions per operation, with g++ 12 -O2 and Boost 1.81: what was counted, and a twentieth.
# 910 before an operation that asks nothing and tells nobody had a way of its own to begin and to end.
# 827 before the handler of an attempt could belong to one that is left behind.
ceiling(first_try_callback 840)
# 2000 before it was seen to that a value may throw as its result is made.
ceiling(first_try_awaitable 2010)
ceiling(first_try_cancellable 2340)
ceiling(first_try_limited 2835)
ceiling(first_try_limited_strand 3622)
# 7261 and 8001 while the attempts of an operation in a scope had a coroutine of their own, 2880 and 3566 while it had a std::mutex.
ceiling(first_try_scoped 2768)
ceiling(first_try_scoped_limited 3202)
# 5892, and 5476 before: a failure asks for the cap of its part of a chain and for the first ceiling that is not zero, and
# whether its error is an abort in any category. 6190 before the decision had named steps, of which the first says what
# gates hear whether there is a retry or not, and before a failure was asked whether it is a certificate's.
ceiling(zero_delay_callback 6700)
# 19 063 before there were gates, and 18 999 before a failed attempt was known to have been told to stop, or to have sent
# something.
# 19 316 for the same reasons.
ceiling(five_waits_callback 19600)
ceiling(five_waits_awaitable 30804)
# 1130 while the scheduler had a std::mutex, and 1124 before an attempt noted when it began and whether it has sent something.
ceiling(cancel_callback 1048)
# first_try_callback with what operations share.
ceiling(first_try_budget 1250)
ceiling(first_try_breaker 1690)
# 2033 while the machine said inline whether it is observed, which every header that includes it paid for.
ceiling(first_try_metrics 2130)
# With a handler, under two limits of time; and a hedge that is not needed, at most half as much again.
ceiling(first_try_limited_callback 1540)
ceiling(first_try_hedged 2252)
