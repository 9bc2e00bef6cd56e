#include <asio_retry/async_retry.hpp>
#include <asio_retry/fail_if.hpp>
#include <asio_retry/retry.hpp>
#include <asio_retry/with_report.hpp>

#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/function.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <stdexcept>
#include <string>

namespace asio_retry::test {
namespace {

void expect_refused_as_empty(std::string const& field, std::function<void()> const& plug_in) {
    std::string refusal;
    try {
        plug_in();
    } catch (std::invalid_argument const& e) {
        refusal = e.what();
    }
    EXPECT_EQ(refusal, "asio_retry: " + field + " = empty: must be a callable");
}

/// `plug_in(f)` refuses every kind of function of that signature that has none.
template <typename Signature, typename PlugIn>
void expect_refused(std::string const& field, PlugIn plug_in) {
    expect_refused_as_empty(field, [&] { return plug_in(std::function<Signature>()); });
    expect_refused_as_empty(field, [&] { return plug_in(boost::function<Signature>()); });
    expect_refused_as_empty(field, [&] { return plug_in(static_cast<Signature*>(nullptr)); });
}

TEST(callables, decision_40_empty_functions_are_refused_where_they_are_given) {
    retry_policy const policy;
    expect_refused<duration(std::uint64_t)>("backoff", [&](auto f) { return policy.backoff(f); });
    expect_refused<duration(backoff_step, random&)>("jitter", [&](auto f) { return policy.jitter(f); });
    expect_refused<bool(error_code const&)>("retry_if", [&](auto f) { return policy.retry_if(f); });
    expect_refused<bool(std::exception_ptr const&)>("retry_if", [&](auto f) { return policy.retry_if(f); });
    expect_refused<void(retry_event const&)>("on_retry", [&](auto f) { return policy.on_retry(f); });
    expect_refused<void(retry_event const&)>("on_give_up", [&](auto f) { return policy.on_give_up(f); });
    expect_refused<void(stop_reason)>("on_give_up", [&](auto f) { return policy.on_give_up(f); });
}

TEST(callables, decision_40_null_member_pointers_are_refused) {
    bool (error_code::* const failed)() const noexcept = nullptr;
    expect_refused_as_empty("retry_if", [&] { return retry_policy().retry_if(failed); });
    std::uint64_t retry_event::* const number = nullptr;
    expect_refused_as_empty("on_retry", [&] { return retry_policy().on_retry(number); });
}

TEST(callables, decision_40_empty_operations_are_refused_where_they_are_given) {
    retry_policy const policy;
    boost::asio::io_context io;
    retry_report report;
    expect_refused<int()>("retry.operation", [&](auto f) { retry(f, policy); });
    expect_refused<int()>("async_retry.operation",
                          [&](auto f) { async_retry(io, f, policy, boost::asio::detached); });
    expect_refused<int()>("async_retry.operation", [&](auto f) { (void)async_retry(io, f, policy); });
    expect_refused<int()>("fail_if.operation", [](auto f) { return fail_if(f, [](int) { return false; }); });
    expect_refused<bool(int)>("fail_if.predicate", [](auto f) { return fail_if([] { return 1; }, f); });
    expect_refused<int()>("with_report.operation", [&](auto f) { return with_report(f, report); });
    EXPECT_EQ(io.run(), 0u) << "nothing was started";
}

// A policy that was refused a hook keeps the one it had.
TEST(callables, decision_40_a_refusal_changes_nothing) {
    int told = 0;
    retry_policy const policy = retry_policy().on_retry([&](retry_event const&) { ++told; });
    EXPECT_THROW((void)policy.on_retry(std::function<void(retry_event const&)>()), std::invalid_argument);
    policy.settings().on_retry(retry_event());
    EXPECT_EQ(told, 1);
}

} // namespace
} // namespace asio_retry::test
