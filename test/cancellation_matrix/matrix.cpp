#include "matrix.hpp"

#include <cstdlib>
#include <exception>
#include <memory>

namespace asio_retry::test {

std::vector<matrix_case> cases_of(matrix_part const& part) {
    std::vector<matrix_case> cases;
    for (means by : all_means)
        for (kind does : all_kinds)
            for (bool limited : {false, true})
                for (bool passes_all : {false, true}) {
                    matrix_case const c{part.at, by,          does,    part.shape, part.with,
                                        part.on, part.scoped, limited, passes_all};
                    if (!cannot_exist(c))
                        cases.push_back(c);
                }
    return cases;
}

std::vector<matrix_part> parts_of(form shape, executor_kind on, bool scoped) {
    std::vector<matrix_part> parts;
    for (token with : all_tokens)
        for (point at : all_points())
            if (matrix_part const part{shape, on, scoped, with, at}; !cases_of(part).empty())
                parts.push_back(part);
    return parts;
}

// One case runs alone with its name, as a failure prints it, in the environment variable CANCELLATION_CASE.
TEST_P(cancellation_matrix, completes_as_the_table_says) {
    std::unique_ptr<asio::io_context> io;
    char const* const only = std::getenv("CANCELLATION_CASE");
    for (matrix_case const& c : cases_of(GetParam())) {
        std::string const name = name_of(c);
        if (only && name != only)
            continue;
        SCOPED_TRACE(name);
        scenario tested(c, io);
        try {
            tested.run(GetParam().launch);
        } catch (std::exception const& e) {
            ADD_FAILURE() << "thrown: " << e.what();
        }
    }
}

} // namespace asio_retry::test
