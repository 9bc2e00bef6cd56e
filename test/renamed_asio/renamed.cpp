#include "time/one_thread.hpp"
#include "time/pool_executor.hpp"

#include <asio_retry/asio_retry.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>

#include <chrono>
#include <type_traits>

namespace asio_retry {

// Here Asio's names are others: else the tests would say nothing.
static_assert(!detail::has_coroutine_entry<boost::asio::any_io_executor>);
static_assert(!detail::has_coroutine_entry<boost::asio::io_context::executor_type>);
static_assert(std::is_same_v<detail::pool_executor, detail::context_executor>);

namespace test {

boost::asio::awaitable<int> answer() {
    co_return 42;
}

boost::asio::awaitable<int> ask(retry_scope& scope) {
    co_return co_await async_retry(scope, answer, retry_policy().total_timeout(std::chrono::seconds(1)));
}

} // namespace test
} // namespace asio_retry
