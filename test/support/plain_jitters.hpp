#pragma once

#include <asio_retry/jitter.hpp>

namespace asio_retry::test {

/// The kinds of jitter that take no parameter, by their number.
inline jitter plain_jitter(int kind) {
    jitter const all[] = {no_jitter(), full_jitter(), equal_jitter(), decorrelated_jitter()};
    return all[kind];
}
inline constexpr int plain_jitters = 4;

} // namespace asio_retry::test
