#pragma once

#include <gtest/gtest.h>

#include <cstdint>

namespace asio_retry::lab {

/// The figures of the studies are no luck: each is reached with all of these, of which a sanitized build has
/// one.
template <typename Check>
void with_three_seeds(Check const& check) {
    for (std::uint64_t const seed : {ASIO_RETRY_SEEDS}) {
        SCOPED_TRACE(seed);
        check(seed);
    }
}

} // namespace asio_retry::lab
