#include "matrix.hpp"

#include <cstddef>

namespace asio_retry::test {
namespace {

// A case that is dropped, or a suite that is not linked, is noticed here.
TEST(cancellation_matrix_count, every_case_is_generated) {
    std::size_t parts = 0, cases = 0;
    auto const count = [&](form shape, executor_kind on, bool scoped, bool with_futures = true) {
        for (matrix_part const& part : parts_of(shape, on, scoped)) {
            if (!with_futures && part.with == token::future)
                continue;
            ++parts;
            cases += cases_of(part).size();
        }
    };
    for (form shape : {form::token_operation, form::awaitable_operation})
        for (executor_kind on : {executor_kind::io_context, executor_kind::strand, executor_kind::any})
            for (bool scoped : {false, true})
                count(shape, on, scoped);
    for (form shape : {form::token_operation, form::awaitable_operation})
        count(shape, executor_kind::io_context, false);                    // at endpoints
    count(form::token_operation, executor_kind::io_context, false, false); // with a disposition
    EXPECT_EQ(cases, 248'334u);
    EXPECT_EQ(parts, 3855u);

    auto const& tests = *testing::UnitTest::GetInstance();
    EXPECT_EQ(static_cast<std::size_t>(tests.total_test_count()), parts + 1);
}

} // namespace
} // namespace asio_retry::test
