#pragma once

#include "support/scripted_operation.hpp"

#include <asio_retry/error.hpp>

#include <exception>

namespace asio_retry::test {

/// How often the coroutines of a test have ended, and how the last one did. A fixture derives from it.
struct coroutine_ends {
    int completions = 0;
    error_code result;

    /// A handler for co_spawn.
    auto note_end() {
        return [this](std::exception_ptr e) {
            ++completions;
            result = e ? code_of(e) : error_code();
        };
    }
};

} // namespace asio_retry::test
