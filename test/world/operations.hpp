#pragma once

#include "world/choices.hpp"
#include "world/place.hpp"
#include "world/shared.hpp"

#include <functional>

namespace asio_retry::world {

/// Starts one operation of any form. The place is in use.
void start_operation(place& where, shared_things& shared, choices& dice, duration unit);

/// Uses a ticker, or starts one. The place is in use.
void use_tickers(place& where, shared_things& shared, choices& dice);

/// Retries on this thread, which waits by `advance` in virtual time. The place is in use.
void block(place& where, shared_things& shared, choices& dice, duration unit,
           std::function<void(duration)> const& advance);

} // namespace asio_retry::world
