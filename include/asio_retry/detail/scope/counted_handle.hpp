#pragma once

#include <utility>

namespace asio_retry::detail {

/// One of the owners that something counts by itself, with functions for a pointer to it: `add_owner` and
/// `remove_owner`, which destroys it if that was the last.
template <typename T>
class counted_handle {
public:
    counted_handle() noexcept = default;
    explicit counted_handle(T* owned) noexcept
        : owned_(owned) {
        if (owned_)
            add_owner(owned_);
    }
    counted_handle(counted_handle const& other) noexcept
        : counted_handle(other.owned_) {}
    counted_handle(counted_handle&& other) noexcept
        : owned_(other.detach()) {}
    counted_handle& operator=(counted_handle other) noexcept {
        std::swap(owned_, other.owned_);
        return *this;
    }
    ~counted_handle() { reset(); }

    explicit operator bool() const noexcept { return owned_ != nullptr; }
    T* get() const noexcept { return owned_; }
    T* operator->() const noexcept { return owned_; }
    T& operator*() const noexcept { return *owned_; }

    void reset() noexcept {
        if (T* const owned = detach())
            remove_owner(owned);
    }

    /// It stays counted.
    T* detach() noexcept { return std::exchange(owned_, nullptr); }

private:
    T* owned_ = nullptr;
};

} // namespace asio_retry::detail
