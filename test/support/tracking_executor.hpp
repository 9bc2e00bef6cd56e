#pragma once

#include <boost/asio/execution/executor.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/query.hpp>
#include <boost/asio/require.hpp>

#include <memory>
#include <type_traits>
#include <utility>

namespace asio_retry::test {

namespace asio = boost::asio;

/// The number of the tracking_executor through which the present code runs; 0 if it runs through none.
inline thread_local constinit int running_on = 0;

/// A function that runs with a number in `running_on`. Of one type for all functions, which saves the compiler
/// much work.
class tracked_function {
public:
    struct base {
        virtual ~base() = default;
        virtual void call() = 0;
    };

    template <typename Function>
    struct of final : base {
        explicit of(Function&& f)
            : function(std::move(f)) {}
        explicit of(Function const& f)
            : function(f) {}
        void call() override { std::move(function)(); }
        Function function;
    };

    tracked_function(base* function, int number)
        : function_(function)
        , number_(number) {}

    void operator()() {
        struct restore {
            int const number;
            ~restore() { running_on = number; }
        } const outer{std::exchange(running_on, number_)};
        std::exchange(function_, nullptr)->call();
    }

private:
    std::unique_ptr<base> function_;
    int number_;
};

/// Does as another executor does, and lets what runs through it see its number in `running_on`.
template <typename Inner>
class tracking_executor {
public:
    tracking_executor(Inner inner, int number)
        : inner_(std::move(inner))
        , number_(number) {}

    template <typename Function>
    void execute(Function&& function) const {
        using tracked = tracked_function::of<std::decay_t<Function>>;
        inner_.execute(tracked_function(new tracked(std::forward<Function>(function)), number_));
    }

    template <typename Property>
        requires asio::can_query_v<Inner const&, Property>
    decltype(auto) query(Property const& property) const {
        return asio::query(inner_, property);
    }

    template <typename Property>
        requires asio::can_require_v<Inner const&, Property>
    auto require(Property const& property) const {
        return tracking_executor<std::decay_t<decltype(asio::require(inner_, property))>>(
            asio::require(inner_, property), number_);
    }

    template <typename Property>
        requires(asio::can_prefer_v<Inner const&, Property> && !asio::can_require_v<Inner const&, Property>)
    auto prefer(Property const& property) const {
        return tracking_executor<std::decay_t<decltype(asio::prefer(inner_, property))>>(
            asio::prefer(inner_, property), number_);
    }

    friend bool operator==(tracking_executor const& a, tracking_executor const& b) noexcept {
        return a.inner_ == b.inner_ && a.number_ == b.number_;
    }
    friend bool operator!=(tracking_executor const& a, tracking_executor const& b) noexcept {
        return !(a == b);
    }

private:
    Inner inner_;
    int number_;
};

} // namespace asio_retry::test
