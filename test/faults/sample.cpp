#include "cancellation_matrix/matrix.hpp"

// A part of the matrix that is soon compiled, for planting faults in headers.

namespace asio_retry::test {
namespace {

template <typename Operation, typename Where, token... Tokens>
std::vector<matrix_part> sampled_parts(executor_kind on) {
    std::vector<matrix_part> sampled;
    for (matrix_part part : parts_of(Operation::shape, on, std::is_same_v<Where, in_scope>)) {
        ((part.with == Tokens ? void(part.launch = launch<Operation, Where, Tokens>) : void()), ...);
        if (part.launch)
            sampled.push_back(part);
    }
    return sampled;
}

auto const name_of_parameter = [](auto const& part) { return name_of(part.param); };

INSTANTIATE_TEST_SUITE_P(token_operation, cancellation_matrix,
                         testing::ValuesIn(sampled_parts<token_operation, on_io_context, token::callback,
                                                         token::awaitable>(executor_kind::io_context)),
                         name_of_parameter);

INSTANTIATE_TEST_SUITE_P(awaitable_operation, cancellation_matrix,
                         testing::ValuesIn(sampled_parts<awaitable_operation, on_any_executor, token::callback,
                                                         token::awaitable>(executor_kind::any)),
                         name_of_parameter);

INSTANTIATE_TEST_SUITE_P(
    token_operation_in_scope, cancellation_matrix,
    testing::ValuesIn(sampled_parts<token_operation, in_scope, token::callback>(executor_kind::strand)),
    name_of_parameter);

} // namespace
} // namespace asio_retry::test
