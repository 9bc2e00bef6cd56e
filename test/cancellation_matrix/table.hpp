#pragma once

#include "matrix_case.hpp"

#include <asio_retry/stop_reason.hpp>

#include <boost/asio/cancellation_type.hpp>
#include <boost/system/error_code.hpp>

#include <optional>
#include <vector>

namespace asio_retry::test {

/// What a case must come to.
struct expectation {
    bool completes = true;
    bool at_once = false; ///< without anybody ending an attempt and without time passing
    boost::system::error_code error;
    unsigned attempts = 0;                           ///< how often the operation was called
    unsigned retries = 0;                            ///< how often on_retry was called
    std::vector<asio::cancellation_type_t> told;     ///< what the attempts were told
    std::optional<stop_reason> reason;               ///< what on_give_up was called with
    std::optional<boost::system::error_code> failed; ///< the failure that on_give_up must have been told of
};

/// The table: a pure function, which never asks the library. Precondition: !cannot_exist(c).
expectation expected(matrix_case const& c);

} // namespace asio_retry::test
