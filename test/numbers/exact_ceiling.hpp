#pragma once

#include "numbers/any_shape.hpp"

#include <cstdint>

namespace asio_retry::test {

/// The ceilings that the definition of a shape allows, worked out with 256 significant bits.
struct allowed_ceilings {
    duration least, greatest;
};

allowed_ceilings exact_ceiling(shape_fields const& shape, std::uint64_t failures);

} // namespace asio_retry::test
