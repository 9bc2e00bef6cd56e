#include <asio_retry/async_retry.hpp>
#include <asio_retry/virtual_time.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <stdexcept>
#include <utility>

namespace asio_retry::test {
namespace {

namespace asio = boost::asio;

/// Counts its objects, and keeps its result at an address that moving changes.
template <std::size_t Size, std::size_t Alignment = alignof(std::max_align_t), bool Throws = false>
class counted {
public:
    counted(int& alive, int& calls)
        : alive_(&alive)
        , calls_(&calls) {
        ++*alive_;
    }
    counted(counted&& other) noexcept(!Throws)
        : alive_(other.alive_)
        , calls_(other.calls_) {
        ++*alive_;
    }
    counted(counted const&) = delete;
    ~counted() { --*alive_; }

    asio::awaitable<int> operator()() {
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory_.data()) % Alignment, 0u);
        if (++*calls_ % 3 != 0)
            throw std::runtime_error("again");
        co_return *calls_;
    }

private:
    int* alive_;
    int* calls_;
    alignas(Alignment) std::array<unsigned char, Size> memory_{};
};

template <typename Operation>
void expect_retried_and_destroyed() {
    asio::io_context io;
    virtual_time time(io);
    int alive = 0, calls = 0, result = 0;
    auto const retries = [&](int expected) -> asio::awaitable<void> {
        result = co_await async_retry(Operation(alive, calls),
                                      retry_policy().backoff(constant(std::chrono::seconds(1))));
        EXPECT_EQ(result, expected);
    };
    for (int const expected : {3, 6}) { // the second one where the first one was
        asio::co_spawn(io, retries(expected), [](std::exception_ptr e) {
            if (e)
                std::rethrow_exception(e);
        });
        time.run();
        io.restart();
        EXPECT_EQ(result, expected);
        EXPECT_EQ(alive, 0);
    }
}

TEST(erased_operation, may_be_small) {
    expect_retried_and_destroyed<counted<1, 1>>();
}

TEST(erased_operation, may_be_large) {
    expect_retried_and_destroyed<counted<1000>>();
}

TEST(erased_operation, may_be_aligned_more_than_anything) {
    expect_retried_and_destroyed<counted<64, 64>>();
}

/// Finds itself where it was, if it is moved as bytes.
class self_aware {
public:
    self_aware(int& alive, int& calls)
        : self_(this)
        , inner_(alive, calls) {}
    self_aware(self_aware&& other) noexcept
        : self_(this)
        , inner_(std::move(other.inner_)) {}
    asio::awaitable<int> operator()() {
        EXPECT_EQ(self_, this);
        return inner_();
    }

private:
    self_aware* self_;
    counted<1, 1> inner_;
};

TEST(erased_operation, may_point_to_itself) {
    expect_retried_and_destroyed<self_aware>();
}

struct alignas(32) small_and_aligned {
    void const** called_at;

    asio::awaitable<void> operator()() const {
        *called_at = this;
        co_return;
    }
};

// Whose memory is aligned for what is aligned less.
TEST(erased_operation, may_be_small_and_aligned_more_than_anything) {
    using erased = detail::erased_operation<asio::awaitable<void>, false, false>;
    static_assert(alignof(erased) < alignof(small_and_aligned));
    alignas(32) std::byte memory[32 + sizeof(erased)];
    void const* called_at = nullptr;
    for (std::size_t const offset : {std::size_t(0), alignof(erased)}) {
        auto* const operation = ::new (memory + offset) erased(small_and_aligned{&called_at});
        asio::io_context io;
        asio::co_spawn(io, operation->call(attempt()), asio::detached);
        io.run();
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(called_at) % 32, 0u);
        std::destroy_at(operation);
    }
}

TEST(erased_operation, may_throw_when_it_is_moved) {
    expect_retried_and_destroyed<counted<1, 1, true>>();
}

// Nothing is left behind, and the exception comes out of the initiating function, where the operation is given.
TEST(erased_operation, may_not_be_copied_for_an_exception) {
    struct uncopyable {
        std::shared_ptr<int> held;
        std::array<char, 200> memory{};
        explicit uncopyable(std::shared_ptr<int> h)
            : held(std::move(h)) {}
        uncopyable(uncopyable const&) { throw std::runtime_error("no copy"); }
        asio::awaitable<void> operator()() const { co_return; }
    };
    auto const held = std::make_shared<int>();
    uncopyable const operation(held);
    EXPECT_THROW(static_cast<void>(async_retry(operation, retry_policy())), std::runtime_error);
    EXPECT_EQ(held.use_count(), 2);
}

// Whoever does not await it has destroyed it.
TEST(erased_operation, is_destroyed_with_an_awaitable_that_nobody_awaits) {
    int alive = 0, calls = 0;
    {
        auto const forgotten = async_retry(counted<1000>(alive, calls), retry_policy());
        EXPECT_EQ(alive, 1);
    }
    EXPECT_EQ(alive, 0);
    EXPECT_EQ(calls, 0);
}

} // namespace
} // namespace asio_retry::test
