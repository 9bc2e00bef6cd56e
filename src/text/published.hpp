#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <thread>
#include <utility>

namespace asio_retry::detail {

/// A value that one thread replaces while others read it. A reader waits for nobody.
///
/// A reader counts itself, reads the value where the pointer leads, and counts itself out. A writer sets the
/// pointer, and waits until the readers that may still read the old value have gone. New readers must not delay
/// the writer. So there are two counts, and the writer sends new readers to the other count before it waits.
/// This is "Left-Right" of Ramalhete and Correia, with one copy of the value instead of two.
template <typename Value>
class published {
public:
    explicit published(std::unique_ptr<Value const> first) noexcept
        : current_(first.release()) {}
    published(published const&) = delete;
    published& operator=(published const&) = delete;
    ~published() { delete current_.load(); }

    /// Returns `look(value)`. `look` must not throw, or take long: a writer waits for it.
    template <typename Look>
    auto read(Look look) const noexcept {
        std::atomic<std::size_t>& readers = readers_[side_.load()];
        readers.fetch_add(1);
        auto result = look(std::as_const(*current_.load()));
        readers.fetch_sub(1);
        return result;
    }

    /// Only one thread at a time may call it. Returns the old value, which nobody reads any more.
    std::unique_ptr<Value const> replace(std::unique_ptr<Value const> next) noexcept {
        std::unique_ptr<Value const> old(current_.exchange(next.release()));
        std::size_t const side = side_.load(), other = 1 - side;
        wait_for_readers(other); // a reader may have loaded `side_` before the last `replace`
        side_.store(other);
        wait_for_readers(side);
        return old;
    }

private:
    void wait_for_readers(std::size_t side) const noexcept {
        constexpr int turns = 64; // then a reader whose thread does not run may need this processor
        for (int turn = 0; readers_[side].load() != 0; ++turn)
            if (turn < turns)
                std::this_thread::yield();
            else
                std::this_thread::sleep_for(std::chrono::microseconds(50));
    }

    std::atomic<Value const*> current_;
    std::atomic<std::size_t> side_ = 0;
    std::array<std::atomic<std::size_t>, 2> mutable readers_{};
};

} // namespace asio_retry::detail
