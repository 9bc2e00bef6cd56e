// expected: on_executor: the second argument must be a function
#include <asio_retry/on_executor.hpp>

#include <boost/asio/thread_pool.hpp>

int blocking_query();

void ask(boost::asio::thread_pool& pool) {
#ifdef FAULT_REMOVED
    (void)asio_retry::on_executor(pool, blocking_query);
#else
    (void)asio_retry::on_executor(pool, blocking_query());
#endif
}
