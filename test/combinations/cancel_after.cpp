#include "combinations/combination.hpp"

#if __has_include(<boost/asio/cancel_after.hpp>)
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancel_after.hpp>
#include <boost/asio/strand.hpp>
#define ASIO_RETRY_TEST_CANCEL_AFTER
#endif

namespace asio_retry::test {
namespace {

#ifdef ASIO_RETRY_TEST_CANCEL_AFTER

template <typename>
class cancel_after : public testing::Test {};
TYPED_TEST_SUITE(cancel_after, all_combinations<>, combination_name);

TYPED_TEST(cancel_after, does_nothing_when_the_operation_is_faster) {
    expect_everything_on<TypeParam>(given, [](auto& t) {
        // The timer and the operation must not meet on two threads.
        auto const strand = asio::make_strand(t.given_executor());
        async_retry(t.given_executor(), t.operation(), t.policy(),
                    asio::cancel_after(1h, asio::bind_executor(strand, t.handler())));
    });
}

// The same types as above. The timer is real and the wait on virtual time, which does not move.
TEST(cancel_after_of_a_waiting_operation, ends_it) {
    asio::io_context io;
    virtual_time time(io);
    story failing(1000, io.get_executor());
    auto const policy = failing.policy().unlimited_attempts().backoff(constant(1h));
    async_retry(tracking_executor(io.get_executor(), given), token_operation::make(failing, nullptr), policy,
                asio::cancel_after(0s, noting_handler(failing, nullptr)));
    io.run();
    failing.expect_called_on(given);
    EXPECT_EQ(failing.attempts(), 1);
    ASSERT_EQ(failing.results().size(), 1u);
    EXPECT_EQ(failing.results()[0].error, aborted());
    EXPECT_EQ(scheduler(io).pending(), 0u);
}

#endif

} // namespace
} // namespace asio_retry::test
