#pragma once

#include <cstddef>
#include <utility>

namespace asio_retry::test {

/// What a callback throws when its turn has come.
struct planned_exception {};

/// Throws at the k-th call, counted from 1.
class throws_at {
public:
    explicit throws_at(std::size_t k) noexcept
        : left_(k) {}
    throws_at(throws_at const&) = delete;
    throws_at& operator=(throws_at const&) = delete;

    void operator()() {
        if (left_ != 0 && --left_ == 0)
            throw planned_exception();
    }
    bool has_thrown() const noexcept { return left_ == 0; }
    void stop() noexcept { left_ = 0; }

private:
    std::size_t left_;
};

/// Does something as its value is moved.
template <typename Value>
class throwing_on_move {
public:
    throwing_on_move(Value value, throws_at& plan)
        : value_(std::move(value))
        , plan_(&plan) {}
    throwing_on_move(throwing_on_move&& other)
        : value_((other.plan_->operator()(), std::move(other.value_)))
        , plan_(other.plan_) {}
    throwing_on_move& operator=(throwing_on_move&&) = delete;
    ~throwing_on_move() = default;

    template <typename... Args>
    auto operator()(Args&&... args) -> decltype(std::declval<Value&>()(std::forward<Args>(args)...)) {
        return value_(std::forward<Args>(args)...);
    }

private:
    Value value_;
    throws_at* plan_;
};

} // namespace asio_retry::test
