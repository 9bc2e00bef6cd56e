# ceiling(workload most): instructions per operation, with g++ 12 -O2 and Boost 1.81: what was counted, and a twentieth.
ceiling(first_try_callback 990)
ceiling(first_try_awaitable 2040)
ceiling(first_try_cancellable 5800)
ceiling(zero_delay_callback 5750)
ceiling(five_waits_callback 19200)
ceiling(five_waits_awaitable 30900)
ceiling(cancel_callback 1130)
