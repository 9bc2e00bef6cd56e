#include <asio_retry/detail/operation/await_driver.hpp>

#include <boost/asio/detail/thread_context.hpp>
#include <boost/asio/detail/thread_info_base.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <gtest/gtest.h>

#include <thread>

namespace asio_retry::test {
namespace {

using asio_memory = boost::asio::detail::thread_info_base;

constexpr std::size_t size_of_a_frame = 512;

/// As a coroutine does for its frame, on a thread that runs a context.
void* allocate_frame() {
    return asio_memory::allocate(asio_memory::awaitable_frame_tag(),
                                 boost::asio::detail::thread_context::top_of_thread_call_stack(),
                                 size_of_a_frame);
}
void free_frame(void* frame) {
    asio_memory::deallocate(asio_memory::awaitable_frame_tag(),
                            boost::asio::detail::thread_context::top_of_thread_call_stack(), frame,
                            size_of_a_frame);
}

template <typename Function>
void run_on_a_context(Function function) {
    boost::asio::io_context io;
    boost::asio::post(io, function);
    io.run();
}

constexpr bool asio_keeps_any = BOOST_ASIO_RECYCLING_ALLOCATOR_CACHE_SIZE != 0; // not for sanitizers
#if defined(BOOST_ASIO_DISABLE_AWAITABLE_FRAME_RECYCLING)
constexpr bool asio_keeps_frames = false; // no coroutine would have what is kept
#else
constexpr bool asio_keeps_frames = true;
#endif

// Else, of many frames that are freed one after the other and needed again later, all but two are the heap's.
TEST(kept_frame, is_what_an_attempt_has_freed_and_the_next_one_needs_on_whatever_thread) {
    detail::kept_frame kept;
    void* first = nullptr;
    run_on_a_context([&] {
        first = allocate_frame();
        free_frame(first);
        kept.take();
        void* const another = allocate_frame();
        if (asio_keeps_frames || asio_keeps_any) {
            EXPECT_EQ(another != first, asio_keeps_frames);
        }
        free_frame(another);
    });
    std::thread([&] {
        run_on_a_context([&] {
            kept.give_back();
            void* const next = allocate_frame();
            if (asio_keeps_frames && asio_keeps_any) {
                EXPECT_EQ(next, first);
            }
            free_frame(next);
        });
    }).join();
}

TEST(kept_frame, is_freed_or_none_where_no_thread_runs_a_context) {
    detail::kept_frame kept;
    kept.take();
    kept.give_back();
    run_on_a_context([&] {
        free_frame(allocate_frame());
        kept.take();
    });
}

} // namespace
} // namespace asio_retry::test
