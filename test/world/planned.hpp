#pragma once

#include "world/place.hpp"

namespace asio_retry::world {

/// Starts an operation that shares nothing with others, in virtual time; its model watches each step.
void start_planned(place& where, dice& d);

} // namespace asio_retry::world
