#pragma once

#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

namespace asio_retry::detail {

/// A value that is set later, and may be removed. Precondition of reading it: it is set.
template <typename T>
class late_value : public std::optional<T> {};

/// A type that is trivial to destroy need not know whether it is set.
template <typename T>
    requires std::is_trivially_destructible_v<T>
class late_value<T> {
public:
    late_value() noexcept {}

    template <typename... Args>
    void emplace(Args&&... args) {
        std::construct_at(std::addressof(value_), std::forward<Args>(args)...);
    }
    void reset() noexcept {}

    T& operator*() noexcept { return value_; }

private:
    union {
        T value_;
    };
};

} // namespace asio_retry::detail
