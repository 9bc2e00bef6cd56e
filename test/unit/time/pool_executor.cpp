#include "time/pool_executor.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/thread_pool.hpp>
#include <gtest/gtest.h>

#include <future>

namespace asio = boost::asio;
using asio_retry::detail::pool_executor;
using asio_retry::detail::queues_operations;

namespace {

struct gone;
struct without_operations {};
struct without_work {
    using operation = asio::detail::scheduler::operation;
    void post_immediate_completion(operation*, bool) {}
};

// Where Asio's scheduler becomes another: the test `renamed_asio` does without it.
TEST(pool_executor, is_possible_only_where_asio_is_as_expected) {
    static_assert(queues_operations<asio::detail::scheduler>);
    static_assert(!queues_operations<gone>);
    static_assert(!queues_operations<without_operations>);
    static_assert(!queues_operations<without_work>);
}

TEST(pool_executor, what_is_queued_for_a_thread_pool_runs_on_its_threads) {
    asio::thread_pool pool(1);
    std::promise<bool> ran;
    pool_executor(pool).execute([&] { ran.set_value(pool.get_executor().running_in_this_thread()); });
    EXPECT_TRUE(ran.get_future().get());
}

TEST(pool_executor, is_another_one_where_work_is_tracked) {
    asio::thread_pool pool(1);
    pool_executor const untracked(pool);
    EXPECT_NE(untracked.require(asio::execution::outstanding_work.tracked), untracked);
    EXPECT_EQ(untracked, pool_executor(pool));
}

// That of a pool waits where nobody can see it. An io_context tells, but has the same scheduler not everywhere.
TEST(pool_executor, a_scheduler_has_work_as_long_as_it_is_tracked) {
    asio::io_context io;
    bool const is_of_a_pool = asio::has_service<asio::detail::scheduler>(io);
    {
        auto const work = pool_executor(io).require(asio::execution::outstanding_work.tracked);
        EXPECT_EQ(work, pool_executor(work));
        io.poll();
        EXPECT_EQ(io.stopped(), !is_of_a_pool);
    }
    io.restart();
    io.poll();
    EXPECT_TRUE(io.stopped());
}

} // namespace
