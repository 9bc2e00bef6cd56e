#include <asio_retry/retry.hpp>
#include <asio_retry/retry_policy.hpp>
#include <asio_retry/with_hooks.hpp>

#include "callables/zoo.hpp"

#include <gtest/gtest.h>

namespace asio_retry::test {
namespace {

retry_event event_of_attempt(std::uint64_t number) {
    retry_event event;
    event.attempt = number;
    event.reason = stop_reason::budget;
    return event;
}

/// `set(policy, hook)` gives the policy a hook of any shape, and `hook_of` finds it there.
template <typename Set, typename Hook>
void expect_any_shape(Set set, Hook retry_settings::* hook_of) {
    std::uint64_t told = 0;
    std::function<void(retry_event const&)> const body = [&](retry_event const& e) { told += e.attempt; };
    auto const check = [&](char const* name, retry_policy const& policy) {
        told = 0;
        (policy.settings().*hook_of)(event_of_attempt(4));
        EXPECT_EQ(told, 4u) << name;
    };
    zoo<void(retry_event const&)>::each(body, [&]<typename Animal>(char const* name, Animal&& animal) {
        check(name, set(retry_policy(), std::forward<Animal>(animal)));
    });
}

TEST(callables, decision_40_an_on_retry_hook_may_be_a_class_of_any_shape) {
    expect_any_shape([]<typename Animal>(retry_policy const& p,
                                         Animal&& animal) { return p.on_retry(std::forward<Animal>(animal)); },
                     &retry_settings::on_retry);
}

TEST(callables, decision_40_a_hook_may_return_what_it_likes) {
    std::function<int(retry_event const&)> const body = [](retry_event const&) { return 1; };
    zoo<int(retry_event const&)>::each(body, []<typename Animal>(char const*, Animal&& animal) {
        (void)retry_policy().on_retry(std::forward<Animal>(animal));
    });
}

// The constructor of its class would be taken for that which copies, but for a constant.
TEST(callables, decision_40_a_named_object_is_copied_as_a_constant) {
    std::uint64_t told = 0;
    std::function<void(retry_event const&)> const body = [&](retry_event const& e) { told += e.attempt; };
    zoo<void(retry_event const&)>::greedy hook(&body);
    retry_policy const policy = retry_policy().on_retry(hook).on_give_up(hook);
    policy.settings().on_retry(event_of_attempt(4));
    policy.settings().on_give_up(event_of_attempt(5));
    EXPECT_EQ(told, 9u);
}

TEST(callables, decision_40_an_on_give_up_hook_may_be_a_class_of_any_shape) {
    expect_any_shape(
        []<typename Animal>(retry_policy const& p, Animal&& animal) {
            return p.on_give_up(std::forward<Animal>(animal));
        },
        &retry_settings::on_give_up);
}

TEST(callables, decision_40_so_may_one_that_takes_the_reason_alone) {
    stop_reason told{};
    std::function<void(stop_reason)> const body = [&](stop_reason why) { told = why; };
    auto const check = [&](char const* name, retry_policy const& policy) {
        told = {};
        policy.settings().on_give_up(event_of_attempt(4));
        EXPECT_EQ(told, stop_reason::budget) << name;
    };
    zoo<void(stop_reason)>::each(body, [&]<typename Animal>(char const* name, Animal&& animal) {
        check(name, retry_policy().on_give_up(std::forward<Animal>(animal)));
    });
}

TEST(callables, decision_40_hooks_of_one_operation_may_be_classes_of_any_shape) {
    int calls = 0;
    std::uint64_t told = 0;
    auto const fails_once = [&] { return ++calls % 2 == 1 ? detail::timed_out_error() : error_code(); };
    auto const policy = retry_policy().backoff(constant(duration::zero()));
    std::function<void(retry_event const&)> const body = [&](retry_event const& e) { told += e.attempt; };
    auto const check = [&](char const* name, error_code const& result, std::uint64_t expected) {
        EXPECT_EQ(result, error_code()) << name;
        EXPECT_EQ(told, expected) << name;
        told = 0;
    };
    zoo<void(retry_event const&)>::each(body, [&]<typename Animal>(char const* name, Animal&& animal) {
        check(name, retry(with_hooks(fails_once, nullptr, std::forward<Animal>(animal)), policy), 2);
    });
    zoo<void(retry_event const&)>::each(body, [&]<typename Animal>(char const* name, Animal&& animal) {
        check(name, retry(with_hooks(fails_once, std::forward<Animal>(animal)), policy), 1);
    });
}

} // namespace
} // namespace asio_retry::test
