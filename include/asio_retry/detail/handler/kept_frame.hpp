#pragma once

#include <asio_retry/detail/handler/asio.hpp>

#include <boost/asio/awaitable.hpp>

#include <cassert>
#include <cstddef>
#include <utility>

namespace asio_retry::detail {

/// Memory for a coroutine's frame, kept during a wait. Asio caches two such pieces per thread. When many
/// attempts end one after the other, further frames go back to the heap, and the next attempts take theirs from
/// there. On several threads they all meet at the heap's lock. So a wait keeps the piece of the attempt that
/// has ended, and gives it to the thread on which the next attempt begins.
///
/// Asio has no public way to ask for the piece. If Asio lacks a name that is used here, nothing is kept.
class kept_frame {
public:
    kept_frame() noexcept = default;
    kept_frame(kept_frame const&) = delete;
    kept_frame& operator=(kept_frame const&) = delete;
    ~kept_frame() { give_back(); }

    /// Takes a piece from this thread, if the thread runs a context. Precondition: holds none.
    void take() noexcept {
        assert(!piece_);
        take_from<memory, threads>();
    }

    /// Gives the piece to this thread.
    void give_back() noexcept {
        if (piece_)
            give_to<memory, threads>();
    }

private:
    using memory = boost::asio::detail::thread_info_base;
    using threads = boost::asio::detail::thread_context;

    static constexpr std::size_t size = 128; // or more: a piece has the size that it was allocated with

    template <typename Memory, typename Threads>
    static constexpr bool keeps = [] {
#if defined(BOOST_ASIO_DISABLE_SMALL_BLOCK_RECYCLING) || defined(BOOST_ASIO_DISABLE_AWAITABLE_FRAME_RECYCLING)
        return false;
#else
        return requires(Memory* of, void* piece) {
            of = Threads::top_of_thread_call_stack();
            piece = Memory::allocate(typename Memory::awaitable_frame_tag(), of, size);
            Memory::deallocate(typename Memory::awaitable_frame_tag(), of, piece, size);
        };
#endif
    }();

    template <typename Memory, typename Threads>
    void take_from() noexcept {
        if constexpr (keeps<Memory, Threads>) {
            if (Memory* const here = Threads::top_of_thread_call_stack()) {
                try {
                    piece_ = Memory::allocate(typename Memory::awaitable_frame_tag(), here, size);
                } catch (...) { // no piece is cached, and the heap is empty too
                }
            }
        }
    }

    template <typename Memory, typename Threads>
    void give_to() noexcept {
        if constexpr (keeps<Memory, Threads>)
            Memory::deallocate(typename Memory::awaitable_frame_tag(), Threads::top_of_thread_call_stack(),
                               std::exchange(piece_, nullptr), size);
    }

    void* piece_ = nullptr;
};

} // namespace asio_retry::detail
