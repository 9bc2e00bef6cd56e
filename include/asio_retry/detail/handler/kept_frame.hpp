#pragma once

#include <boost/asio/detail/thread_context.hpp>
#include <boost/asio/detail/thread_info_base.hpp>

#include <cstddef>
#include <utility>

namespace asio_retry::detail {

/// Memory for the frame of a coroutine. Asio keeps two such pieces for each thread, and of many attempts that
/// end one after the other the rest goes to the heap, from where the next ones take theirs; on several threads
/// by way of a lock which all of them meet at. So a wait takes along the piece of the attempt that has ended,
/// and gives it to the thread on which the next one begins.
///
/// Asio has no public way to ask for it. Where it lacks one of the names that are used here nothing is kept.
class kept_frame {
public:
    kept_frame() noexcept = default;
    kept_frame(kept_frame const&) = delete;
    kept_frame& operator=(kept_frame const&) = delete;
    ~kept_frame() { give_back(); }

    /// Takes a piece from this thread, if that runs a context. Precondition: holds none.
    void take() noexcept { take_from<memory, threads>(); }

    /// Gives it to this thread.
    void give_back() noexcept {
        if (piece_)
            give_to<memory, threads>();
    }

private:
    using memory = boost::asio::detail::thread_info_base;
    using threads = boost::asio::detail::thread_context;

    static constexpr std::size_t size = 128; // or more: what is taken is as large as it was made

    template <typename Memory, typename Threads>
    static constexpr bool keeps = [] {
#if defined(BOOST_ASIO_DISABLE_SMALL_BLOCK_RECYCLING) || defined(BOOST_ASIO_DISABLE_AWAITABLE_FRAME_RECYCLING)
        return false;
#else
        return requires(Memory* of, void* piece, typename Memory::awaitable_frame_tag kind) {
            of = Threads::top_of_thread_call_stack();
            piece = Memory::allocate(kind, of, size);
            Memory::deallocate(kind, of, piece, size);
        };
#endif
    }();

    template <typename Memory, typename Threads>
    void take_from() noexcept {
        if constexpr (keeps<Memory, Threads>) {
            if (Memory* const here = Threads::top_of_thread_call_stack()) {
                try {
                    piece_ = Memory::allocate(typename Memory::awaitable_frame_tag(), here, size);
                } catch (...) { // there is none, nor any other memory
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
