#include <asio_retry/async_retry.hpp>

#include <asio_retry/virtual_time.hpp>

#include "support/coroutine_ends.hpp"
#include "support/scripted_operation.hpp"

#include <boost/asio.hpp>
#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <exception>
#include <stdexcept>

// How often what an attempt throws is thrown again. Where the standard library cannot be asked what was thrown,
// it is thrown to be looked at, as often as there is something to ask.
#if defined(__GLIBCXX__) && defined(__GXX_RTTI)

#ifndef _WIN32
#include <dlfcn.h>
#endif

namespace {
std::atomic<std::size_t> raised = 0;
}

/// In place of the runtime's: every throw, and every std::rethrow_exception, comes here.
#ifdef _WIN32 // where the linker puts it in place
extern "C" int __real__Unwind_RaiseException(void*);
extern "C" int __wrap__Unwind_RaiseException(void* exception) {
    ++raised;
    return __real__Unwind_RaiseException(exception);
}
#else
extern "C" int _Unwind_RaiseException(void* exception) {
    using function = int(void*);
    static auto* const of_the_runtime =
        reinterpret_cast<function*>(::dlsym(RTLD_NEXT, "_Unwind_RaiseException"));
    ++raised;
    return of_the_runtime(exception);
}
#endif

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;

struct own_error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// How often anything is thrown for each attempt that fails in this way.
template <typename Fail>
std::size_t thrown_per_attempt(Fail fail, retry_policy const& policy) {
    constexpr std::size_t attempts = 100;
    asio::io_context io;
    virtual_time time(io);
    std::size_t failed = 0;
    auto const attempt = [&]() -> asio::awaitable<void> {
        co_await asio::post(asio::use_awaitable);
        if (++failed == attempts)
            co_return;
        fail();
    };
    std::size_t const before = raised;
    asio::co_spawn(io, async_retry(attempt, policy.unlimited_attempts(), asio::use_awaitable),
                   [](std::exception_ptr e) { EXPECT_FALSE(e); });
    time.run();
    EXPECT_EQ(failed, attempts);
    std::size_t const thrown = raised - before;
    EXPECT_EQ(thrown % (attempts - 1), 0u);
    return thrown / (attempts - 1);
}

// Asio throws it again for a coroutine that awaits the attempt in the usual way. Where attempts are spawned,
// two do: the library's, which loses the type of the value, and the one that is spawned.
TEST(thrown_attempts, are_thrown_as_seldom_as_can_be) {
    constexpr std::size_t expected = awaits_itself ? 1 : 3;
    auto const policy = retry_policy().backoff(constant(1ms));
    for (auto const& tried : {policy, policy.attempt_timeout(1h)}) {
        EXPECT_EQ(thrown_per_attempt([] { throw boost::system::system_error(refused()); }, tried), expected);
        EXPECT_EQ(thrown_per_attempt([] { throw own_error("failed"); }, tried), expected);
        EXPECT_EQ(thrown_per_attempt([] { throw 7; }, tried), expected);
    }
}

} // namespace
} // namespace asio_retry::test

#endif
