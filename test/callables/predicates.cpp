#include <asio_retry/fail_if.hpp>
#include <asio_retry/retry.hpp>
#include <asio_retry/retry_machine.hpp>

#include "callables/zoo.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace asio_retry::test {
namespace {

bool is_retried(retry_policy const& policy, verdict const& failure) {
    retry_machine machine(policy);
    random source(1);
    machine.start();
    return machine.on_failure(failure, {}, source).what == retry_action::kind::wait;
}

TEST(callables, decision_40_a_predicate_on_codes_may_be_a_class_of_any_shape) {
    bool answer = false;
    std::function<bool(error_code const&)> const body = [&](error_code const&) { return answer; };
    auto const check = [&](char const* name, retry_policy const& policy) {
        for (bool const each : {true, false}) {
            answer = each;
            EXPECT_EQ(is_retried(policy, verdict::failure(detail::timed_out_error())), each) << name;
        }
    };
    zoo<bool(error_code const&)>::each(body, [&]<typename Animal>(char const* name, Animal&& animal) {
        check(name, retry_policy().retry_if(std::forward<Animal>(animal)));
    });
}

TEST(callables, decision_40_a_predicate_on_exceptions_may_be_a_class_of_any_shape) {
    bool answer = false;
    std::function<bool(std::exception_ptr const&)> const body = [&](std::exception_ptr const& e) {
        return e && answer;
    };
    auto const check = [&](char const* name, retry_policy const& policy) {
        for (bool const each : {true, false}) {
            answer = each;
            auto const thrown = std::make_exception_ptr(std::runtime_error("no"));
            EXPECT_EQ(is_retried(policy, verdict::failure(thrown)), each) << name;
        }
    };
    zoo<bool(std::exception_ptr const&)>::each(body, [&]<typename Animal>(char const* name, Animal&& animal) {
        check(name, retry_policy().retry_if(std::forward<Animal>(animal)));
    });
}

TEST(callables, decision_40_a_predicate_of_fail_if_may_be_a_class_of_any_shape) {
    std::function<bool(int const&)> const body = [](int const& value) { return value < 3; };
    int calls = 0;
    auto const count = [&] { return ++calls; };
    auto const policy = retry_policy().backoff(constant(duration::zero()));
    auto const check = [&](char const* name, int value) {
        EXPECT_EQ(value, 3) << name;
        calls = 0;
    };
    zoo<bool(int const&)>::each(body, [&]<typename Animal>(char const* name, Animal&& animal) {
        check(name, retry(fail_if(count, std::forward<Animal>(animal)), policy));
    });
}

struct response {
    int status = 0;
    bool is_overloaded() const { return status == 503; }
    bool failed = false;
};

TEST(callables, decision_40_a_predicate_of_fail_if_may_be_a_member_of_the_result) {
    int calls = 0;
    auto const get = [&] { return response{++calls == 1 ? 503 : 200, calls == 2}; };
    auto const policy = retry_policy().backoff(constant(duration::zero()));
    EXPECT_EQ(retry(fail_if(get, &response::is_overloaded), policy).status, 200);
    EXPECT_EQ(calls, 2);
    calls = 1;
    EXPECT_FALSE(retry(fail_if(get, &response::failed), policy).failed);
    EXPECT_EQ(calls, 3);
}

TEST(callables, decision_40_a_predicate_of_a_rule_may_be_a_class_of_any_shape) {
    std::function<bool(error_code const&)> const body = [](error_code const&) { return true; };
    auto const check = [](char const* name, retry_policy const& policy) {
        EXPECT_FALSE(is_retried(policy, verdict::failure(detail::timed_out_error()))) << name;
    };
    zoo<bool(error_code const&)>::each(body, [&]<typename Animal>(char const* name, Animal&& animal) {
        check(name, retry_policy().max_attempts_when(std::forward<Animal>(animal), 1));
    });
}

} // namespace
} // namespace asio_retry::test
