# ceiling(workload most): instructions per operation, with g++ 12 -O2 and Boost 1.81. The count and a twentieth.
ceiling(first_try_callback 100000)
ceiling(first_try_awaitable 100000)
ceiling(zero_delay_callback 100000)
ceiling(five_waits_callback 100000)
ceiling(five_waits_awaitable 100000)
ceiling(cancel_callback 100000)
