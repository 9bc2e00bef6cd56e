#pragma once

#include "launch.hpp"

#include <gtest/gtest.h>

#include <iosfwd>
#include <string>
#include <vector>

namespace asio_retry::test {

/// The cases of one test: all means and all kinds at one point, with one token on one executor.
struct matrix_part {
    form shape;
    executor_kind on;
    bool scoped;
    token with;
    point at;
    scenario::launcher launch = nullptr;
};

/// Those that can exist.
std::vector<matrix_case> cases_of(matrix_part const& part);

/// All parts that have cases.
std::vector<matrix_part> parts_of(form shape, executor_kind on, bool scoped);

inline std::string name_of(matrix_part const& part) {
    return name_of(part.at) + "_" + std::string(name_of(part.with));
}

inline void PrintTo(matrix_part const& part, std::ostream* out) {
    *out << name_of(part);
}

class cancellation_matrix : public testing::TestWithParam<matrix_part> {};

template <typename Operation, typename Where>
std::vector<matrix_part> launched_parts(executor_kind on) {
    std::vector<matrix_part> parts = parts_of(Operation::shape, on, std::is_same_v<Where, in_scope>);
    for (matrix_part& part : parts)
        part.launch = launcher_for<Operation, Where>(part.with);
    if constexpr (has_disposition<Operation>)
        std::erase_if(parts, [](matrix_part const& part) { return !part.launch; });
    return parts;
}

} // namespace asio_retry::test

#define ASIO_RETRY_MATRIX(name, operation, where, executor)                                                    \
    INSTANTIATE_TEST_SUITE_P(name, cancellation_matrix,                                                        \
                             testing::ValuesIn(launched_parts<operation, where>(executor)),                    \
                             [](auto const& part) { return name_of(part.param); })
