#include <asio_retry/detail/operation/await_driver.hpp>

#include <boost/asio/awaitable.hpp>

#include <cassert>
#include <cstddef>
#include <utility>

namespace boost::asio::detail {
class thread_info_base;
class thread_context;
} // namespace boost::asio::detail

// Asio caches the memory of two frames per thread. When many attempts end one after the other, further frames
// go back to the heap, and the next attempts take theirs from there. On several threads they all meet at the
// heap's lock. So a wait keeps the piece of memory of the ended attempt, and gives it to the thread that begins
// the next attempt.
//
// Asio has no public way to ask for the piece. If Asio lacks a name that is used here, nothing is kept.
namespace asio_retry::detail {

namespace {

using memory = boost::asio::detail::thread_info_base;
using threads = boost::asio::detail::thread_context;

// Asio gives any cached piece of this size or more, and notes the true size in the piece.
constexpr std::size_t least_size = 128;

/// The parameters are always `memory` and `threads`: only in a template may a name be missing.
template <typename Memory, typename Threads>
constexpr bool keeps = [] {
#if defined(BOOST_ASIO_DISABLE_SMALL_BLOCK_RECYCLING) || defined(BOOST_ASIO_DISABLE_AWAITABLE_FRAME_RECYCLING)
    return false;
#else
    return requires(Memory* of, void* piece) {
        of = Threads::top_of_thread_call_stack();
        piece = Memory::allocate(typename Memory::awaitable_frame_tag(), of, least_size);
        Memory::deallocate(typename Memory::awaitable_frame_tag(), of, piece, least_size);
    };
#endif
}();

template <typename Memory, typename Threads>
void* take_from_thread() noexcept {
    if constexpr (keeps<Memory, Threads>) {
        if (Memory* const here = Threads::top_of_thread_call_stack()) {
            try {
                return Memory::allocate(typename Memory::awaitable_frame_tag(), here, least_size);
            } catch (...) { // no piece is cached, and the heap is empty too
            }
        }
    }
    return nullptr;
}

template <typename Memory, typename Threads>
void give_to_thread([[maybe_unused]] void* piece) noexcept {
    if constexpr (keeps<Memory, Threads>)
        Memory::deallocate(typename Memory::awaitable_frame_tag(), Threads::top_of_thread_call_stack(), piece,
                           least_size);
}

} // namespace

void kept_frame::take() noexcept {
    assert(!piece_);
    piece_ = take_from_thread<memory, threads>();
}

void kept_frame::free_piece() noexcept {
    give_to_thread<memory, threads>(std::exchange(piece_, nullptr));
}

} // namespace asio_retry::detail
