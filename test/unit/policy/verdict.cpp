#include <asio_retry/verdict.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/system/errc.hpp>
#include <boost/system/system_error.hpp>

#include <stdexcept>
#include <system_error>

namespace asio_retry::test {
namespace {

TEST(verdict, success_carries_nothing) {
    verdict const v = verdict::success();
    EXPECT_TRUE(v.succeeded());
    EXPECT_FALSE(v.is_rejected());
    EXPECT_FALSE(v.error());
    EXPECT_EQ(v.exception(), nullptr);
}

TEST(verdict, failure_by_code_keeps_the_code) {
    verdict const v = verdict::failure(detail::timed_out_error());
    EXPECT_FALSE(v.succeeded());
    EXPECT_FALSE(v.is_rejected());
    EXPECT_EQ(v.error(), detail::timed_out_error());
    EXPECT_EQ(v.exception(), nullptr);
}

TEST(verdict, failure_by_exception_keeps_the_exception_and_the_code_in_it) {
    auto const e = std::make_exception_ptr(boost::system::system_error(detail::timed_out_error()));
    verdict const v = verdict::failure(e);
    EXPECT_FALSE(v.succeeded());
    EXPECT_FALSE(v.is_rejected());
    EXPECT_EQ(v.error(), detail::timed_out_error());
    EXPECT_EQ(v.exception(), e);
}

TEST(verdict, an_exception_without_a_code_is_named_operation_threw) {
    verdict const v = verdict::failure(std::make_exception_ptr(std::runtime_error("x")));
    EXPECT_EQ(v.error(), error::operation_threw);
    EXPECT_NE(v.exception(), nullptr);
}

TEST(verdict, a_rejected_result_is_a_failure_of_its_own_kind) {
    verdict const v = verdict::rejected();
    EXPECT_FALSE(v.succeeded());
    EXPECT_TRUE(v.is_rejected());
    EXPECT_EQ(v.error(), error::result_rejected);
    EXPECT_EQ(v.exception(), nullptr);
    EXPECT_FALSE(verdict::failure(error_code(error::result_rejected)).is_rejected());
}

TEST(verdict, decision_38_what_came_too_late_is_timed_out) {
    verdict const refused = verdict::timed_out(verdict::failure(error_code(error::exhausted)));
    EXPECT_FALSE(refused.succeeded());
    EXPECT_FALSE(refused.is_permanent());
    EXPECT_EQ(refused.error(), detail::timed_out_error());
    EXPECT_EQ(refused.exception(), nullptr);
    EXPECT_FALSE(verdict::timed_out(verdict::rejected()).is_rejected());
    EXPECT_EQ(verdict::timed_out(verdict::rejected({true, {}, pushback::after(duration(5))})).said(),
              pushback::after(duration(5)))
        << "what the peer said holds all the same";

    auto const own = std::make_exception_ptr(std::runtime_error("x"));
    verdict const thrown = verdict::timed_out(verdict::failure(own));
    EXPECT_EQ(code_of(thrown.exception()), detail::timed_out_error());
    try {
        std::rethrow_exception(thrown.exception());
    } catch (std::nested_exception const& e) {
        EXPECT_EQ(e.nested_ptr(), own);
    }
    EXPECT_TRUE(verdict::timed_out(verdict::failure(std::make_exception_ptr(permanent(own)))).is_permanent());
}

TEST(verdict, decision_48_what_is_marked_stays_marked_also_the_abort_itself) {
    for (error_code const& abort :
         {detail::aborted_error(), make_error_code(boost::system::errc::operation_canceled),
          error_code(std::make_error_code(std::errc::operation_canceled)),
          error_code(std::error_code(detail::aborted_error().value(), std::system_category()))}) {
        EXPECT_TRUE(verdict::timed_out(verdict::failure(error_code(permanent(abort)))).is_permanent());
        auto const thrown = std::make_exception_ptr(permanent(boost::system::system_error(abort)));
        EXPECT_TRUE(verdict::timed_out(verdict::failure(thrown)).is_permanent());
    }
}

} // namespace
} // namespace asio_retry::test
