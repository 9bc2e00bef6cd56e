#include <asio_retry/hedge_policy.hpp>
#include <asio_retry/retry_machine.hpp>
#include <asio_retry/retry_policy.hpp>

#include "support/refuses.hpp"
#include "support/script.hpp"

#include <boost/asio/error.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace asio_retry::test {
namespace {

using testing::Each;
using testing::ElementsAre;

retry_policy const named_orders = endless_every_100ms().max_attempts(2).name("orders.get");

TEST(policy_name, is_a_setting_that_the_last_call_decides) {
    EXPECT_EQ(retry_policy().settings().name, "");
    EXPECT_EQ(named_orders.settings().name, "orders.get");
    EXPECT_EQ(named_orders.clamp().settings().name, "orders.get");
    EXPECT_EQ(named_orders.name("orders.put").settings().name, "orders.put");
    EXPECT_EQ(named_orders.settings().name, "orders.get") << "a setter changes a copy";
    EXPECT_EQ(named_orders.name(std::string("a\0b", 1)).settings().name, "a");
    EXPECT_EQ(hedge_policy(10ms).name("a").max_attempts(3).settings().common.settings().name, "a");
}

TEST(policy_name, that_is_none_is_refused_with_field_value_and_rule) {
    auto const refuses_name = [](std::string const& bad, std::string const& shown, std::string const& rule) {
        auto const call = [&] { return retry_policy().name(bad); };
        EXPECT_THAT(calling(call), refuses("name", '"' + shown + '"', rule));
        auto const of_hedges = [&] { return hedge_policy(10ms).name(bad); };
        EXPECT_THAT(calling(of_hedges), refuses("name", '"' + shown + '"', rule));
    };
    refuses_name("", "", "must have at least one character");
    refuses_name(std::string(129, 'x'), std::string(40, 'x') + "...", "must have at most 128 bytes");
    std::string const rule = "must be UTF-8 without control characters";
    refuses_name("a\nb", "a\\x0ab", rule);
    refuses_name(std::string("a\0b", 3), "a\\x00b", rule);
    refuses_name("\x1b[31m", "\\x1b[31m", rule);
    refuses_name("\x7f", "\\x7f", rule);
    refuses_name("\xc2\x85", "\\xc2\\x85", rule);
    refuses_name("\xe2\x80\xa8", "\\xe2\\x80\\xa8", rule);
    refuses_name("\xe2\x80\xa9", "\\xe2\\x80\\xa9", rule);
    refuses_name("\xef\xbf\xbf", "\\xef\\xbf\\xbf", rule);
    refuses_name("caf\xe9", "caf\\xe9", rule);
    EXPECT_NO_THROW((void)retry_policy().name(std::string(128, 'x')));
    EXPECT_NO_THROW((void)retry_policy().name("caf\u00e9 \"1\" \\ {}"));
}

/// The names that predicates and hooks have seen, for an operation that gives up and one that succeeds.
std::vector<std::string> names_in_hooks(retry_policy const& policy) {
    std::vector<std::string> seen;
    auto const see = [&](retry_event const& event) { seen.emplace_back(event.policy); };
    auto const seeing =
        policy.on_retry(see).on_give_up(see).on_success(see).retry_if([&](retry_event const& e) {
            see(e);
            return true;
        });
    for (bool const succeeds : {false, true}) {
        machine_script script(seeing);
        script.start();
        script.fail();
        script.wake();
        if (succeeds)
            script.machine.on_success(script.begin);
        else
            script.fail();
    }
    return seen;
}

TEST(policy_name, is_in_each_event_of_predicates_and_hooks) {
    EXPECT_THAT(names_in_hooks(named_orders),
                ElementsAre("orders.get", "orders.get", "orders.get", "orders.get", "orders.get", "orders.get",
                            "orders.get"));
    EXPECT_THAT(names_in_hooks(endless_every_100ms().max_attempts(2)), Each(std::string()));
}

// The event of the last hook is made without the policy's own classifier.
TEST(policy_name, is_in_the_event_of_an_end_whose_classifier_throws) {
    std::string seen;
    machine_script script(named_orders.classify([](error_code const&) -> failure_class { throw 1; })
                              .retry_sent(false)
                              .on_give_up([&](retry_event const& event) { seen = event.policy; }));
    script.start();
    script.fail();
    EXPECT_EQ(seen, "orders.get");
}

TEST(policy_name, is_in_each_event_of_an_observer) {
    observed_script operation(named_orders);
    operation.start();
    operation.fail();
    operation.wake();
    operation.machine.on_success(operation.begin);
    ASSERT_EQ(operation.observer->events.size(), 7u);
    for (observation const& event : operation.observer->events)
        EXPECT_EQ(event.policy, "orders.get");

    observed_script nameless;
    nameless.start();
    EXPECT_EQ(nameless.last().policy, "");
}

TEST(policy_name, comes_first_in_the_text_of_an_event) {
    retry_event event;
    event.attempt = 1;
    event.error = boost::asio::error::connection_refused;
    event.delay = 50ms;
    EXPECT_EQ(to_string(event), "attempt 1: Connection refused; next attempt in 50 ms");
    event.policy = "orders.get";
    EXPECT_EQ(to_string(event), "orders.get, attempt 1: Connection refused; next attempt in 50 ms");
    EXPECT_EQ(event.message(), "Connection refused");
    event = {};
    event.policy = "orders.get";
    event.reason = stop_reason::cancelled;
    event.error = detail::aborted_error();
    EXPECT_EQ(to_string(event), "orders.get, no attempt: Operation canceled; gave up: cancelled");
}

TEST(policy_name, of_a_nested_policy_is_its_own) {
    attempt const outer{1};
    EXPECT_EQ(retry_policy().name("inner").nested_in(outer).settings().name, "inner");
    EXPECT_EQ(retry_policy().nested_in(outer).settings().name, "");
}

} // namespace
} // namespace asio_retry::test
