#include <asio_retry/observe/retry_metrics.hpp>
#include <asio_retry/observe/retry_traces.hpp>

#include "support/failing_allocation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace asio_retry::test {
namespace {

using testing::HasSubstr;
using testing::Not;

// A name without memory at its first event has no place later either: its operations end where they began.
TEST(named_policies, without_memory_are_counted_as_other) {
    retry_metrics metrics;
    observation event;
    event.policy = "orders.get";
    {
        failing_allocation const none(memory::global, shortage::lasting, 1);
        metrics.on_event(event);
        EXPECT_TRUE(none.happened());
    }
    event.what = observation::kind::ended;
    metrics.on_event(event);
    event.policy = "search";
    metrics.on_event(event);
    std::string const text = metrics.prometheus();
    EXPECT_THAT(text, HasSubstr(R"({policy="other",reason="succeeded",retried="false"} 2)"));
    EXPECT_THAT(text, HasSubstr(R"(asio_retry_pending{policy="other"} )"));
    EXPECT_THAT(text, Not(HasSubstr("orders.get")));
    EXPECT_THAT(text, Not(HasSubstr("search")));
}

// The place that the span took is free again.
TEST(named_policies, without_memory_for_the_name_drop_the_span) {
    retry_traces traces({.greatest = 1});
    std::string const name(100, 'n');
    observation event;
    event.operation = 1;
    event.policy = name;
    {
        failing_allocation const none(memory::global, shortage::lasting, 1);
        traces.on_event(event);
        EXPECT_TRUE(none.happened());
    }
    EXPECT_EQ(traces.dropped(), 1u);
    for (auto const what : {observation::kind::started, observation::kind::ended}) {
        event.operation = 2;
        event.what = what;
        traces.on_event(event);
    }
    EXPECT_EQ(traces.dropped(), 1u);
    EXPECT_EQ(traces.ended(), 1u);
}

} // namespace
} // namespace asio_retry::test
