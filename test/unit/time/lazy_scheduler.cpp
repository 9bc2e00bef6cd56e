#include <asio_retry/detail/time/lazy_scheduler.hpp>

#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

namespace asio_retry::detail {
namespace {

struct lazy_scheduler_test : testing::Test {
    boost::asio::io_context io;
    retry_scheduler& of_context = scheduler(io);
    lazy_scheduler first, second;
};

TEST_F(lazy_scheduler_test, is_that_of_the_context_once_it_is_found) {
    EXPECT_FALSE(first.is_found());
    first.find_in(io, nullptr);
    EXPECT_TRUE(first.is_found());
    EXPECT_EQ(&first.get(), &of_context);
    first.get_random();
    EXPECT_EQ(&first.get(), &of_context);
}

TEST_F(lazy_scheduler_test, has_streams_of_a_seed_in_the_order_in_which_it_is_found) {
    of_context.seed(5);
    first.find_in(io, &io);
    second.take(of_context, &io);
    random expected_first(5, 0), expected_second(5, 1);
    EXPECT_EQ(second.get_random()(), expected_second());
    EXPECT_EQ(first.get_random()(), expected_first());
    EXPECT_EQ(first.get_random()(), expected_first()) << "the same stream";
}

TEST_F(lazy_scheduler_test, takes_no_stream_before_a_number_is_drawn_without_a_seed) {
    first.find_in(io, &io);
    second.find_in(io, &io);
    of_context.seed(5);
    random expected(5, 0);
    EXPECT_EQ(second.get_random()(), expected());
    EXPECT_EQ(second.get_random()(), expected());
}

} // namespace
} // namespace asio_retry::detail
