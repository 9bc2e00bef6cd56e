#pragma once

#include <asio_retry/error.hpp>

#include <cassert>
#include <concepts>
#include <system_error>
#include <type_traits>
#include <utility>
#include <variant>

namespace asio_retry {

/// The type of `in_place_error`.
struct in_place_error_t {
    explicit in_place_error_t() = default;
};

/// To make a `result` of an error.
inline constexpr in_place_error_t in_place_error{};

/// A value or an error code, for plain and awaitable operations that return what they fail with.
///
/// What `boost::system::result` is where Boost is: with Boost.Asio the library takes that one, and has none of
/// its own. A program that is compiled for both uses what the two have in common, which is all of this.
template <typename T>
class result {
public:
    /// The type of the value.
    using value_type = T;

    /// The type of the error.
    using error_type = error_code;

    /// To make one of an error.
    static constexpr in_place_error_t in_place_error{};

    /// A value, `T()`.
    result()
        requires std::default_initializable<T>
        : state_(std::in_place_index<0>) {}

    /// A value.
    template <typename U = T>
        requires(std::convertible_to<U, T> && !std::same_as<std::remove_cvref_t<U>, result> &&
                 !std::convertible_to<U, error_code>)
    result(U&& value)
        : state_(std::in_place_index<0>, std::forward<U>(value)) {}

    /// An error, of a code or of what converts to one.
    template <std::convertible_to<error_code> U>
        requires(!std::same_as<std::remove_cvref_t<U>, result> && !std::same_as<std::remove_cvref_t<U>, T>)
    result(U&& error)
        : state_(std::in_place_index<1>, std::forward<U>(error)) {}

    /// An error, said so.
    template <typename... Args>
        requires std::constructible_from<error_code, Args...>
    result(in_place_error_t, Args&&... args)
        : state_(std::in_place_index<1>, std::forward<Args>(args)...) {}

    /// Whether it is a value.
    bool has_value() const noexcept { return state_.index() == 0; }

    /// Whether it is an error.
    bool has_error() const noexcept { return !has_value(); }

    /// Whether it is a value.
    explicit operator bool() const noexcept { return has_value(); }

    /// The value; throws a std::system_error of the error if there is none.
    T& value() & {
        throw_error();
        return **this;
    }
    /// The same.
    T const& value() const& {
        throw_error();
        return **this;
    }
    /// The same.
    T&& value() && {
        throw_error();
        return *std::move(*this);
    }

    /// The value. Precondition: it is one.
    T& operator*() & noexcept {
        assert(has_value());
        return *std::get_if<0>(&state_);
    }
    /// The same.
    T const& operator*() const& noexcept {
        assert(has_value());
        return *std::get_if<0>(&state_);
    }
    /// The same.
    T&& operator*() && noexcept {
        assert(has_value());
        return std::move(*std::get_if<0>(&state_));
    }

    /// The value's members. Null if it is an error.
    T* operator->() noexcept { return std::get_if<0>(&state_); }
    /// The same.
    T const* operator->() const noexcept { return std::get_if<0>(&state_); }

    /// The error; that of a success if it is a value.
    error_code error() const noexcept {
        error_code const* const error = std::get_if<1>(&state_);
        return error ? *error : error_code();
    }

    /// Equal values, or equal errors.
    friend bool operator==(result const& a, result const& b) { return a.state_ == b.state_; }

private:
    void throw_error() const {
        if (has_error())
            throw std::system_error(error());
    }

    std::variant<T, error_code> state_;
};

/// A success without a value, or an error code.
template <>
class result<void> {
public:
    /// The type of the value.
    using value_type = void;

    /// The type of the error.
    using error_type = error_code;

    /// To make one of an error.
    static constexpr in_place_error_t in_place_error{};

    /// A success.
    result() noexcept = default;

    /// An error, of a code or of what converts to one.
    template <std::convertible_to<error_code> U>
        requires(!std::same_as<std::remove_cvref_t<U>, result>)
    result(U&& error)
        : result(in_place_error, std::forward<U>(error)) {}

    /// An error, said so.
    template <typename... Args>
        requires std::constructible_from<error_code, Args...>
    result(in_place_error_t, Args&&... args)
        : error_(std::forward<Args>(args)...)
        , has_value_(false) {}

    /// Whether it is a success.
    bool has_value() const noexcept { return has_value_; }

    /// Whether it is an error.
    bool has_error() const noexcept { return !has_value_; }

    /// Whether it is a success.
    explicit operator bool() const noexcept { return has_value_; }

    /// Throws a std::system_error of the error if it is one.
    void value() const {
        if (has_error())
            throw std::system_error(error_);
    }

    /// Nothing. Precondition: it is a success.
    void operator*() const noexcept { assert(has_value()); }

    /// The error; that of a success if it is none.
    error_code error() const noexcept { return error_; }

    /// Two successes, or equal errors.
    friend bool operator==(result const& a, result const& b) noexcept {
        return a.has_value_ == b.has_value_ && a.error_ == b.error_;
    }

private:
    error_code error_;
    bool has_value_ = true;
};

} // namespace asio_retry
