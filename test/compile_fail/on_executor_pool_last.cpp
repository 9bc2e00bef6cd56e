// expected: on_executor: an executor or a context that is a variable comes first, and then the function:
// on_executor(pool, f)
#include <asio_retry/on_executor.hpp>

#include <boost/asio/thread_pool.hpp>

int blocking_query();

void ask(boost::asio::thread_pool& pool) {
#ifdef FAULT_REMOVED
    (void)asio_retry::on_executor(pool, blocking_query);
#else
    asio_retry::on_executor(blocking_query, pool);
#endif
}
