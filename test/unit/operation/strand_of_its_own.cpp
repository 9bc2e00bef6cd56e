#include <asio_retry/detail/handler/operation_executors.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/system_executor.hpp>
#include <boost/asio/thread_pool.hpp>
#include <gtest/gtest.h>

namespace asio_retry::test {
namespace {

using erased_strand = detail::strand_of<boost::asio::any_io_executor>;

// Else Asio allocates each copy of the executor, of which an awaited attempt on a strand makes eight.
TEST(strand_of_its_own, fits_into_the_executor_of_an_operation) {
    boost::asio::io_context io;
    boost::asio::any_io_executor const on_io = erased_strand::make(io.get_executor());
    EXPECT_TRUE(on_io.target<boost::asio::strand<boost::asio::io_context::executor_type>>());
    boost::asio::thread_pool pool(1);
    boost::asio::any_io_executor const on_pool = erased_strand::make(pool.get_executor());
    EXPECT_TRUE(on_pool.target<boost::asio::strand<boost::asio::thread_pool::executor_type>>());
}

TEST(strand_of_its_own, is_on_any_executor) {
    boost::asio::any_io_executor const other = boost::asio::system_executor();
    boost::asio::any_io_executor const on_other = erased_strand::make(other);
    auto const* const strand = on_other.target<boost::asio::strand<boost::asio::any_io_executor>>();
    ASSERT_TRUE(strand);
    EXPECT_EQ(strand->get_inner_executor(), other);
}

} // namespace
} // namespace asio_retry::test
