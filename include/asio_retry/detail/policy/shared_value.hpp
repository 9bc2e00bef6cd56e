#pragma once

#include <atomic>
#include <cstddef>
#include <utility>

namespace asio_retry::detail {

/// A value that all copies share, or none. It takes one word, because each operation has one.
template <typename T>
class shared_value {
public:
    shared_value() noexcept = default;

    static shared_value make() {
        shared_value made;
        made.shared_ = new counted();
        return made;
    }

    /// Makes a copy and lets `change` change it.
    template <typename Change>
    static shared_value make(T const& from, Change change) {
        shared_value made;
        made.shared_ = new counted(from);
        change(made.shared_->value);
        return made;
    }

    shared_value(shared_value const& other) noexcept
        : shared_(other.shared_) {
        if (shared_)
            shared_->owners.fetch_add(1, std::memory_order_relaxed);
    }
    shared_value(shared_value&& other) noexcept
        : shared_(std::exchange(other.shared_, nullptr)) {}
    shared_value& operator=(shared_value other) noexcept {
        std::swap(shared_, other.shared_);
        return *this;
    }
    ~shared_value() {
        if (shared_) // most are moved from, which the compiler then sees at their destruction
            give_up(shared_);
    }

    T* get() const noexcept { return shared_ ? &shared_->value : nullptr; }
    T* operator->() const noexcept { return get(); }
    explicit operator bool() const noexcept { return shared_ != nullptr; }

private:
    struct counted {
        counted() = default;
        explicit counted(T const& from)
            : value(from) {}
        T value{};
        std::atomic<std::size_t> owners = 1;
    };

    static void give_up(counted* shared) noexcept {
        if (shared->owners.fetch_sub(1, std::memory_order_acq_rel) == 1)
            delete shared;
    }

    counted* shared_ = nullptr;
};

} // namespace asio_retry::detail
