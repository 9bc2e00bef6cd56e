#pragma once

#include <boost/system/error_code.hpp>

#include <cstddef>
#include <exception>
#include <stdexcept>
#include <string>
#include <tuple>

namespace asio_retry::bench {

inline bool is_success(boost::system::error_code const& code) {
    return !code;
}
inline bool is_success(std::exception_ptr const& exception) {
    return !exception;
}
inline bool is_success(std::tuple<boost::system::error_code> const& result) {
    return !std::get<0>(result);
}

/// How operations ended, so that none is measured that did something else than asked.
template <typename Counter = std::size_t>
struct tally {
    Counter succeeded{};
    Counter failed{};

    void expect(std::size_t successes, std::size_t failures) const {
        if (succeeded != successes || failed != failures)
            throw std::logic_error(std::to_string(succeeded) + " operations succeeded and " +
                                   std::to_string(failed) + " failed, in place of " +
                                   std::to_string(successes) + " and " + std::to_string(failures));
    }
};

/// A handler for every completion signature.
template <typename Tally>
struct count_end {
    Tally* total;

    template <typename... Results>
    void operator()(Results const&... results) const {
        if ((is_success(results) && ...))
            ++total->succeeded;
        else
            ++total->failed;
    }
};

} // namespace asio_retry::bench
