#include <asio_retry/error.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/system/errc.hpp>
#include <boost/system/system_error.hpp>

#include <cerrno>
#include <ios>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

namespace asio_retry::test {
namespace {

struct described_error {
    error value;
    int number;
    char const* message;
    bool thrown_by_callback;
    bool refused = false;
};

described_error const all_errors[] = {
    {error::operation_threw, 1, "the operation threw an exception that carries no error code", false},
    {error::result_rejected, 2, "fail_if rejected the result of the operation", false},
    {error::predicate_threw, 3,
     "a predicate (of retry_if, fail_if, when or max_attempts_when, or classify) threw an exception", true},
    {error::backoff_threw, 4, "the backoff threw an exception, or returned a negative duration", true},
    {error::jitter_threw, 5, "the jitter threw an exception, or returned a negative duration", true},
    {error::hook_threw, 6,
     "a hook (on_retry, on_success, on_give_up or on_hedge, or one of with_hooks) threw an exception", true},
    {error::exhausted, 7, "retrying has ended without success", false},
    {error::attempt_refused, 8, "a gate refused the attempt", false, true},
    {error::circuit_open, 9, "the circuit breaker is open", false, true},
    {error::client_throttled, 10, "the client throttles itself: the server accepts too few of its requests",
     false, true},
    {error::too_many_in_flight, 11, "too many attempts are in flight", false, true},
    {error::cooling_down, 12, "the server has asked clients to wait, and that time is not over", false, true},
};

TEST(error, every_enumerator_is_true_and_has_its_number_and_message) {
    for (described_error const& e : all_errors) {
        error_code const code = e.value;
        EXPECT_TRUE(code) << e.message;
        EXPECT_EQ(code.value(), e.number);
        EXPECT_EQ(code.category(), error_category());
        EXPECT_EQ(code.message(), e.message);
        EXPECT_EQ(code, e.value);
    }
}

TEST(error, unknown_numbers_have_a_message) {
    EXPECT_EQ(error_category().message(99), "unknown asio_retry error");
    EXPECT_EQ(condition_category().message(99), "unknown asio_retry condition");
}

TEST(error, categories_are_named_and_distinct) {
    EXPECT_STREQ(error_category().name(), "asio_retry");
    EXPECT_STREQ(condition_category().name(), "asio_retry.condition");
    EXPECT_NE(error_category(), condition_category());
}

TEST(condition, groups_what_callbacks_threw) {
    for (described_error const& e : all_errors)
        EXPECT_EQ(error_code(e.value) == condition::callback_threw, e.thrown_by_callback) << e.message;
}

TEST(condition, groups_what_gates_refused) {
    for (described_error const& e : all_errors)
        EXPECT_EQ(error_code(e.value) == condition::refused, e.refused) << e.message;
}

TEST(condition, excludes_success_foreign_codes_and_unknown_numbers) {
    EXPECT_FALSE(error_code() == condition::callback_threw);
    EXPECT_FALSE(error_code() == condition::refused);
    EXPECT_FALSE(error_code(0, error_category()) == boost::system::error_condition(0, condition_category()));
    EXPECT_FALSE(error_code(3, boost::system::system_category()) == condition::callback_threw);
    EXPECT_FALSE(error_code(99, error_category()) == condition::callback_threw);
    EXPECT_FALSE(error_code(error::hook_threw) == boost::system::error_condition(99, condition_category()));
}

TEST(condition, has_a_message) {
    EXPECT_EQ(make_error_condition(condition::callback_threw).message(),
              "a callback given to the retry policy threw an exception");
    EXPECT_EQ(make_error_condition(condition::refused).message(), "a gate refused the attempt");
}

TEST(error, borrowed_codes_compare_with_the_portable_conditions) {
#ifndef ASIO_RETRY_STANDALONE // whose codes are equal to no condition in some versions
    EXPECT_TRUE(detail::timed_out_error() == boost::system::errc::timed_out);
    EXPECT_TRUE(detail::aborted_error() == boost::system::errc::operation_canceled);
#endif
    EXPECT_EQ(detail::timed_out_error().category(), boost::system::system_category());
    EXPECT_EQ(detail::aborted_error().category(), boost::system::system_category());
}

TEST(code_of, finds_the_code_in_a_boost_system_error) {
    auto const e = std::make_exception_ptr(boost::system::system_error(detail::timed_out_error(), "context"));
    EXPECT_EQ(code_of(e), detail::timed_out_error());
}

TEST(code_of, finds_the_code_in_a_standard_system_error) {
    EXPECT_EQ(code_of(std::make_exception_ptr(std::ios_base::failure("x", std::io_errc::stream))),
              error_code(std::make_error_code(std::io_errc::stream)));
    EXPECT_TRUE(code_of(std::make_exception_ptr(std::system_error(ENOENT, std::generic_category()))) ==
                boost::system::errc::no_such_file_or_directory);
}

// A Boost error code that travelled in a std::system_error compares equal to what it was.
TEST(code_of, gives_back_the_boost_code_that_a_standard_system_error_carries) {
    std::vector<error_code> codes{detail::aborted_error(), detail::timed_out_error()};
#ifdef __cpp_rtti // without it Boost.System cannot unwrap other categories
    codes.push_back(error::result_rejected);
#endif
    for (error_code const& code : codes)
        EXPECT_EQ(code_of(std::make_exception_ptr(std::system_error(code))), code) << code.message();
}

TEST(code_of, is_never_the_code_of_a_success) {
    EXPECT_EQ(code_of(std::make_exception_ptr(boost::system::system_error(error_code()))),
              error::operation_threw);
    EXPECT_EQ(code_of(std::make_exception_ptr(std::system_error(std::error_code()))), error::operation_threw);
}

TEST(code_of, says_that_memory_ran_out) {
    EXPECT_EQ(code_of(std::make_exception_ptr(std::bad_alloc())), detail::no_memory_error());
}

TEST(code_of, names_every_other_exception) {
    EXPECT_EQ(code_of(std::make_exception_ptr(std::runtime_error("x"))), error::operation_threw);
    EXPECT_EQ(code_of(std::make_exception_ptr(42)), error::operation_threw);
}

} // namespace
} // namespace asio_retry::test
