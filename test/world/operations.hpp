#pragma once

#include "world/dice.hpp"
#include "world/place.hpp"
#include "world/shared.hpp"

#include <functional>

namespace asio_retry::world {

/// Starts one operation of any form, which shares things with others. The place is in use.
void start_operation(place& where, shared_things& shared, dice& d, duration unit);

/// Uses a ticker, or starts one. The place is in use.
void use_tickers(place& where, shared_things& shared, dice& d);

/// Retries on this thread, which waits by `advance` in virtual time. The place is in use.
void block(place& where, shared_things& shared, dice& d, duration unit,
           std::function<void(duration)> const& advance);

} // namespace asio_retry::world
