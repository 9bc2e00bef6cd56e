#pragma once

#include <boost/asio/execution/executor.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/query.hpp>
#include <boost/asio/require.hpp>

#include <new>
#include <utility>

namespace asio_retry::test {

/// Does as another executor does, and has no memory to take a function while it is told so.
template <typename Inner>
class scarce_executor {
public:
    scarce_executor(Inner inner, bool const& is_scarce) noexcept
        : inner_(std::move(inner))
        , is_scarce_(&is_scarce) {}

    template <typename Function>
    void execute(Function&& function) const {
        if (*is_scarce_)
            throw std::bad_alloc();
        inner_.execute(std::forward<Function>(function));
    }
    template <typename Property>
        requires boost::asio::can_require_v<Inner const&, Property>
    auto require(Property const& p) const {
        return rewrapped(boost::asio::require(inner_, p));
    }
    template <typename Property>
        requires boost::asio::can_prefer_v<Inner const&, Property>
    auto prefer(Property const& p) const {
        return rewrapped(boost::asio::prefer(inner_, p));
    }
    template <typename Property>
        requires boost::asio::can_query_v<Inner const&, Property>
    decltype(auto) query(Property const& p) const noexcept {
        return boost::asio::query(inner_, p);
    }
    friend bool operator==(scarce_executor const& a, scarce_executor const& b) noexcept {
        return a.inner_ == b.inner_;
    }
    friend bool operator!=(scarce_executor const& a, scarce_executor const& b) noexcept { return !(a == b); }

private:
    template <typename Other>
    scarce_executor<Other> rewrapped(Other other) const noexcept {
        return {std::move(other), *is_scarce_};
    }

    Inner inner_;
    bool const* is_scarce_;
};

} // namespace asio_retry::test
