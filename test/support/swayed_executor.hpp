#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/query.hpp>
#include <boost/asio/require.hpp>

#include <new>
#include <utility>

namespace asio_retry::test {

/// How an executor behaves from its nth function on.
struct sway {
    enum class how { queues, drops, throws, runs_at_once };

    how then = how::queues;
    int functions_before = 0;

    how next() noexcept { return functions_before-- > 0 ? how::queues : then; }
};

/// Does as another executor does until it is swayed: then it destroys a function, throws or runs the function,
/// all inside `execute`, whatever `blocking` it was asked for.
class swayed_executor {
public:
    swayed_executor(boost::asio::any_io_executor inner, sway& state) noexcept
        : inner_(std::move(inner))
        , state_(&state) {}

    template <typename Function>
    void execute(Function&& function) const {
        switch (state_->next()) {
        case sway::how::queues:
            return inner_.execute(std::forward<Function>(function));
        case sway::how::drops: {
            [[maybe_unused]] auto const destroyed = std::forward<Function>(function);
            return;
        }
        case sway::how::throws:
            throw std::bad_alloc();
        case sway::how::runs_at_once:
            auto taken = std::forward<Function>(function);
            return std::move(taken)();
        }
    }
    template <typename Property>
        requires boost::asio::can_require_v<boost::asio::any_io_executor, Property>
    swayed_executor require(Property const& p) const {
        return {boost::asio::require(inner_, p), *state_};
    }
    template <typename Property>
        requires boost::asio::can_prefer_v<boost::asio::any_io_executor, Property>
    swayed_executor prefer(Property const& p) const {
        return {boost::asio::prefer(inner_, p), *state_};
    }
    template <typename Property>
        requires boost::asio::can_query_v<boost::asio::any_io_executor, Property>
    decltype(auto) query(Property const& p) const noexcept {
        return boost::asio::query(inner_, p);
    }
    bool operator==(swayed_executor const& other) const noexcept = default;

private:
    boost::asio::any_io_executor inner_;
    sway* state_;
};

} // namespace asio_retry::test
