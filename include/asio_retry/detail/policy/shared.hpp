#pragma once

#include <asio_retry/detail/policy/config.hpp>
#include <asio_retry/detail/policy/refuse.hpp>

#include <atomic>
#include <cstddef>
#include <functional>
#include <string_view>
#include <type_traits>
#include <utility>

namespace asio_retry::detail {

/// A value that all copies share, or none. It takes one word, because each operation has one.
template <typename T>
class shared_value {
public:
    shared_value() noexcept = default;

    static shared_value make() {
        shared_value made;
        made.shared_ = new counted();
        return made;
    }

    /// Makes a copy and lets `change` change it.
    template <typename Change>
    static shared_value make(T const& from, Change change) {
        shared_value made;
        made.shared_ = new counted(from);
        change(made.shared_->value);
        return made;
    }

    shared_value(shared_value const& other) noexcept
        : shared_(other.shared_) {
        if (shared_)
            shared_->owners.fetch_add(1, std::memory_order_relaxed);
    }
    shared_value(shared_value&& other) noexcept
        : shared_(std::exchange(other.shared_, nullptr)) {}
    shared_value& operator=(shared_value other) noexcept {
        std::swap(shared_, other.shared_);
        return *this;
    }
    ~shared_value() {
        if (shared_) // most are moved from, which the compiler then sees at their destruction
            give_up(shared_);
    }

    T* get() const noexcept { return shared_ ? &shared_->value : nullptr; }
    T* operator->() const noexcept { return get(); }
    explicit operator bool() const noexcept { return shared_ != nullptr; }

private:
    struct counted {
        counted() = default;
        explicit counted(T const& from)
            : value(from) {}
        T value{};
        std::atomic<std::size_t> owners = 1;
    };

    static void give_up(counted* shared) noexcept {
        if (shared->owners.fetch_sub(1, std::memory_order_acq_rel) == 1)
            delete shared;
    }

    counted* shared_ = nullptr;
};

[[noreturn]] ASIO_RETRY_DECL void throw_bad_function_call();

/// A user's callable that all copies share, as policies share it with their operations. std::function would
/// copy it.
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
        if constexpr (may_be_empty<callable>)
            detail::refuse_if_empty(field, f);
        // Copied as const, so that a constructor that takes anything is not chosen as the copy constructor.
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
            shared_->destroy(*shared_);
    }

    explicit operator bool() const noexcept { return shared_ != nullptr; }

    /// Throws std::bad_function_call if this is empty.
    Result operator()(Args... args) const {
        if (!shared_)
            throw_bad_function_call();
        return shared_->call(*shared_, std::forward<Args>(args)...);
    }

private:
    struct shared {
        Result (*call)(shared& self, Args... args);
        void (*destroy)(shared& self) noexcept;
        std::atomic<std::size_t> owners = 1;
    };

    // A program has one for each callable, so they are few functions: four. std::make_shared would be thirty,
    // virtual functions two more, std::invoke three more.
    template <typename F>
    struct shared_callable final : shared {
        template <typename From>
        shared_callable(std::in_place_t, From&& from)
            : shared{&call_function, &destroy_it}
            , function(std::forward<From>(from)) {}

        static Result call_function(shared& self, Args... args) {
            F& f = static_cast<shared_callable&>(self).function;
            if constexpr (std::is_member_pointer_v<F>)
                return static_cast<Result>(std::invoke(f, std::forward<Args>(args)...));
            else
                return static_cast<Result>(f(std::forward<Args>(args)...));
        }
        static void destroy_it(shared& self) noexcept { delete static_cast<shared_callable*>(&self); }

        F function;
    };

    shared* shared_ = nullptr;
};

} // namespace asio_retry::detail
