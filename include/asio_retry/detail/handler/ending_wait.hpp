#pragma once

#include <new>

namespace asio_retry::detail {

/// Ends a wait whose time has come: queues its turn, or, where its executor takes nothing, goes on where it
/// stands. Returns false, for the scheduler to try again later, if there is no memory to queue it.
template <typename Post, typename End>
bool end_wait(Post post, End end) {
    try {
        post();
    } catch (std::bad_alloc const&) {
        return false;
    } catch (...) {
        end();
    }
    return true;
}

} // namespace asio_retry::detail
