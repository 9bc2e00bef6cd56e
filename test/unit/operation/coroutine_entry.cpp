#include <asio_retry/detail/handler/coroutine_entry.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

namespace asio_retry::test {
namespace {

#if defined(ASIO_RETRY_SPAWN_ATTEMPTS)
constexpr bool finds_asio_as_expected = false;
#else
constexpr bool finds_asio_as_expected = true;
#endif

// Where Asio's coroutines become others the attempts are spawned: the test `renamed_asio` takes that road.
TEST(coroutine_entry, is_used_where_asio_is_as_expected) {
    static_assert(detail::has_coroutine_entry<boost::asio::any_io_executor> == finds_asio_as_expected);
    static_assert(detail::has_coroutine_entry<boost::asio::io_context::executor_type> ==
                  finds_asio_as_expected);
}

} // namespace
} // namespace asio_retry::test
