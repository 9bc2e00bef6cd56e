#pragma once

#include <asio_retry/detail/policy/config.hpp>
#include <asio_retry/detail/policy/empty_function.hpp>

#include <atomic>
#include <cstddef>
#include <functional>
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
            shared_ = new shared_callable<callable>(std::in_place, std::as_const(f));
        else
            shared_ = new shared_callable<callable>(std::in_place, std::forward<F>(f));
    }

    shared_function(shared_function const& other) noexcept
        : shared_(other.shared_) {
        if (shared_)
            shared_->owners.fetch_add(1, std::memory_order_relaxed);
    }
    shared_function(shared_function&& other) noexcept
        : shared_(std::exchange(other.shared_, nullptr)) {}
    shared_function& operator=(shared_function other) noexcept {
        std::swap(shared_, other.shared_);
        return *this;
    }
    ~shared_function() {
        if (shared_ && shared_->owners.fetch_sub(1, std::memory_order_acq_rel) == 1)
            delete shared_;
    }

    explicit operator bool() const noexcept { return shared_ != nullptr; }

    /// Throws std::bad_function_call if this is empty.
    Result operator()(Args... args) const {
        if (!shared_)
            throw_bad_function_call();
        return shared_->call(std::forward<Args>(args)...);
    }

private:
    struct shared {
        virtual ~shared() = default;
        virtual Result call(Args... args) = 0;
        std::atomic<std::size_t> owners = 1;
    };

    // In one class of one's own: std::make_shared would compile thirty functions for each callable.
    template <typename F>
    struct shared_callable final : shared {
        template <typename From>
        shared_callable(std::in_place_t, From&& from)
            : function(std::forward<From>(from)) {}
        Result call(Args... args) override {
            return static_cast<Result>(std::invoke(function, std::forward<Args>(args)...));
        }
        F function;
    };

    shared* shared_ = nullptr;
};

} // namespace asio_retry::detail
