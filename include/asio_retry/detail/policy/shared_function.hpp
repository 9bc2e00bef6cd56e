#pragma once

#include <asio_retry/detail/policy/config.hpp>
#include <asio_retry/detail/policy/empty_function.hpp>

#include <functional>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>

namespace asio_retry::detail {

[[noreturn]] ASIO_RETRY_DECL void throw_bad_function_call();

/// A user's callable, shared by all copies of this, as policies share it with their operations: std::function
/// would copy it.
template <typename Signature>
class shared_function;

template <typename Result, typename... Args>
class shared_function<Result(Args...)> {
public:
    shared_function() noexcept = default;

    /// Throws std::invalid_argument, naming `field`, if `f` is empty.
    template <typename F>
        requires std::is_invocable_r_v<Result, std::decay_t<F>&, Args...>
    shared_function(std::string_view field, F&& f) {
        using callable = std::decay_t<F>;
        refuse_if_empty(field, f);
        // Copied as const, lest a constructor from anything be taken for that which copies.
        if constexpr (std::is_lvalue_reference_v<F> && std::is_constructible_v<callable, callable const&>)
            callable_ = std::make_shared<callable>(std::as_const(f));
        else
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
            throw_bad_function_call();
        return call_(callable_.get(), std::forward<Args>(args)...);
    }

private:
    std::shared_ptr<void> callable_;
    Result (*call_)(void*, Args...) = nullptr;
};

} // namespace asio_retry::detail
