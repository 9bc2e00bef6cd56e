#pragma once

#include <asio_retry/detail/config.hpp>

#include <concepts>
#include <cstddef>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

namespace asio_retry::detail {

[[noreturn]] ASIO_RETRY_DECL void refuse_empty_function();

/// A user's callable, shared by all copies of this, as policies share it with their operations: std::function
/// would copy it.
template <typename Signature>
class shared_function;

template <typename Result, typename... Args>
class shared_function<Result(Args...)> {
    // Pointers, and std::function and its kin.
    template <typename F>
    static constexpr bool may_be_empty = std::is_constructible_v<std::decay_t<F>, std::nullptr_t>;

public:
    shared_function() noexcept = default;

    /// Empty if `f` is.
    template <typename F>
        requires(!std::same_as<std::decay_t<F>, shared_function> &&
                 std::is_invocable_r_v<Result, std::decay_t<F>&, Args...>)
    shared_function(F&& f) {
        using callable = std::decay_t<F>;
        if constexpr (may_be_empty<F>)
            if (f == nullptr)
                return;
        callable_ = std::make_shared<callable>(std::forward<F>(f));
        call_ = [](void* function, Args... args) -> Result {
            return static_cast<Result>(
                std::invoke(*static_cast<callable*>(function), std::forward<Args>(args)...));
        };
    }

    explicit operator bool() const noexcept { return call_ != nullptr; }

    /// Throws std::bad_function_call if this is empty.
    Result operator()(Args... args) const {
        if (!call_)
            refuse_empty_function();
        return call_(callable_.get(), std::forward<Args>(args)...);
    }

private:
    std::shared_ptr<void> callable_;
    Result (*call_)(void*, Args...) = nullptr;
};

} // namespace asio_retry::detail
