#pragma once

#include <asio_retry/detail/policy/config.hpp>

#include <boost/asio/associator.hpp>

#include <cstddef>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

namespace asio_retry::detail {

/// A value that is set later, and may be removed. It is an std::optional without the long header.
template <typename T>
class maybe {
public:
    maybe() noexcept {}
    maybe(maybe const& other)
        requires std::is_copy_constructible_v<T>
    {
        if (other.is_set_)
            emplace(other.value_);
    }
    maybe(maybe&& other) noexcept(std::is_nothrow_move_constructible_v<T>) {
        if (other.is_set_)
            emplace(std::move(other.value_));
    }
    maybe& operator=(maybe&&) = delete;
    ~maybe() {
        if (is_set_)
            std::destroy_at(std::addressof(value_));
    }

    template <typename... Args>
    void emplace(Args&&... args) {
        reset();
        std::construct_at(std::addressof(value_), std::forward<Args>(args)...);
        is_set_ = true;
    }
    void reset() noexcept {
        if (std::exchange(is_set_, false))
            std::destroy_at(std::addressof(value_));
    }

    explicit operator bool() const noexcept { return is_set_; }

    // Precondition: it is set
    T& operator*() noexcept { return value_; }
    T const& operator*() const noexcept { return value_; }
    T* operator->() noexcept { return std::addressof(value_); }
    T const* operator->() const noexcept { return std::addressof(value_); }

private:
    union {
        T value_;
    };
    bool is_set_ = false;
};

/// Like `maybe`, but its user must know whether it is set.
template <typename T>
class late_value : public maybe<T> {};

/// A value that is trivial to destroy does not store whether it is set.
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

template <typename Tuple>
inline constexpr auto places_of = std::make_index_sequence<std::tuple_size_v<std::remove_cvref_t<Tuple>>>();

/// std::apply, except for pointers to members; `places` is `places_of` the tuple. Each call compiles one
/// function where std::apply takes four.
template <typename F, typename Tuple, std::size_t... Places>
decltype(auto) unpack(F&& f, Tuple&& values, std::index_sequence<Places...>) {
    return std::forward<F>(f)(std::get<Places>(static_cast<Tuple&&>(values))...);
}

/// A function that calls the handler with its arguments. It has the executor, the allocator and the slot of the
/// handler. `Presence` lasts as long as the handler.
template <typename Handler, typename Arguments, typename Presence>
class late_completion {
public:
    late_completion(Handler&& handler, Arguments&& values, Presence&& presence)
        : presence_(std::move(presence))
        , handler_(std::move(handler))
        , values_(std::move(values)) {}

    void operator()() { detail::unpack(std::move(handler_), std::move(values_), places_of<Arguments>); }

    Handler const& handler() const noexcept { return handler_; }

private:
    ASIO_RETRY_NO_UNIQUE_ADDRESS Presence presence_;
    Handler handler_;
    Arguments values_;
};

} // namespace asio_retry::detail

template <template <typename, typename> class Associator, typename Handler, typename Arguments,
          typename Presence, typename Default>
struct boost::asio::associator<Associator, asio_retry::detail::late_completion<Handler, Arguments, Presence>,
                               Default> : Associator<Handler, Default> {
    using completion = asio_retry::detail::late_completion<Handler, Arguments, Presence>;

    static typename Associator<Handler, Default>::type get(completion const& late) noexcept {
        return Associator<Handler, Default>::get(late.handler());
    }
    static auto get(completion const& late, Default const& otherwise) noexcept
        -> decltype(Associator<Handler, Default>::get(late.handler(), otherwise)) {
        return Associator<Handler, Default>::get(late.handler(), otherwise);
    }
};
