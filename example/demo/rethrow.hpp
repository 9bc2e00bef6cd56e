#pragma once

#include <exception>

namespace demo {

/// Completion token for coroutines that nobody waits for: lets what escapes from them escape from run().
inline constexpr auto rethrow = [](std::exception_ptr e) {
    if (e)
        std::rethrow_exception(e);
};

} // namespace demo
