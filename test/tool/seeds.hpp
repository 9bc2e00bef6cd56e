#pragma once

#include <gtest/gtest.h>

#include <cstdint>

namespace asio_retry::tool {

/// The figures of the studies are no luck: each is reached with all of these.
template <typename Check>
void with_three_seeds(Check const& check) {
    for (std::uint64_t const seed : {1, 2, 3}) {
        SCOPED_TRACE(seed);
        check(seed);
    }
}

} // namespace asio_retry::tool
