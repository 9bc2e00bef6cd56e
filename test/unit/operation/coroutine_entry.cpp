#include <asio_retry/detail/handler/coroutine_entry.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

namespace asio_retry::test {
namespace {

using entry_executor = boost::asio::any_io_executor;

#if defined(ASIO_RETRY_SPAWN_ATTEMPTS)

TEST(coroutine_entry, is_not_used_if_attempts_are_to_be_spawned) {
    static_assert(!detail::has_coroutine_entry<entry_executor>);
}

#else

using known_entry = detail::coroutine_entry<entry_executor>;
using known_thread = boost::asio::detail::awaitable_thread<entry_executor>;
using known_frame = boost::asio::detail::awaitable_frame_base<entry_executor>;

struct without_those_members {};
struct gone;

// Where Asio's coroutines become others the attempts are spawned: the test `renamed_asio` takes that road.
TEST(coroutine_entry, is_possible_only_where_asio_is_as_expected) {
    static_assert(detail::has_coroutine_entry<entry_executor>);
    static_assert(detail::has_coroutine_entry<boost::asio::io_context::executor_type>);
    static_assert(!known_entry::is_possible<without_those_members>());
    static_assert(!known_entry::is_possible<known_thread, gone>());
    static_assert(!known_entry::is_possible<known_thread, without_those_members>());
    static_assert(!known_entry::is_possible<known_thread, known_frame, without_those_members>());
}

#endif

} // namespace
} // namespace asio_retry::test
