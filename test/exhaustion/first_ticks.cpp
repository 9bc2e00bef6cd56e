#include <asio_retry/backoff_ticker.hpp>

#include "support/failing_allocation.hpp"
#include "support/hooked_executor.hpp"

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <new>

namespace asio_retry::test {
namespace {

struct thrown_by_handler {}; // no exception that needs memory

struct counted_throw {
    int* calls;

    void operator()(error_code) const {
        ++*calls;
        throw thrown_by_handler();
    }
};

// Called in place, where neither its executor nor the scheduler has memory for its turn.
TEST(first_ticks, whose_handlers_throw_inside_the_initiating_function_end_once) {
    bool called_in_place = false;
    bool short_of_memory = true;
    for (std::uint64_t nth = 1; short_of_memory; ++nth) {
        std::function<void()> hook = out_of_memory;
        int calls = 0;
        boost::asio::io_context io;
        backoff_ticker ticker(io, retry_policy());
        {
            auto handler =
                boost::asio::bind_executor(hooked_executor(io.get_executor(), hook), counted_throw{&calls});
            failing_allocation const failing(memory::global, shortage::lasting, nth);
            try {
                ticker.async_wait(std::move(handler));
            } catch (std::bad_alloc const&) {
                EXPECT_EQ(calls, 0) << "allocation " << nth;
            } catch (thrown_by_handler const&) {
                called_in_place = true;
                EXPECT_EQ(calls, 1) << "allocation " << nth;
            }
            short_of_memory = failing.happened();
        }
    }
    EXPECT_TRUE(called_in_place);
}

} // namespace
} // namespace asio_retry::test
