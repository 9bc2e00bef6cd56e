#pragma once

#include <boost/asio/execution/executor.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/query.hpp>
#include <boost/asio/require.hpp>

#include <functional>
#include <new>
#include <utility>

namespace asio_retry::test {

/// Does as another executor does, but calls a function of the test's first, as long as there is one: it may
/// take itself away, or throw, as `out_of_memory` does.
template <typename Inner>
class hooked_executor {
public:
    hooked_executor(Inner inner, std::function<void()>& hook) noexcept
        : inner_(std::move(inner))
        , hook_(&hook) {}

    template <typename Function>
    void execute(Function&& function) const {
        if (auto const hook = *hook_) // a copy, because it may take itself away
            hook();
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
    friend bool operator==(hooked_executor const& a, hooked_executor const& b) noexcept {
        return a.inner_ == b.inner_;
    }
    friend bool operator!=(hooked_executor const& a, hooked_executor const& b) noexcept { return !(a == b); }

private:
    template <typename Other>
    hooked_executor<Other> rewrapped(Other other) const noexcept {
        return {std::move(other), *hook_};
    }

    Inner inner_;
    std::function<void()>* hook_;
};

/// A hook of an executor that has no memory to take a function.
[[noreturn]] inline void out_of_memory() {
    throw std::bad_alloc();
}

} // namespace asio_retry::test
