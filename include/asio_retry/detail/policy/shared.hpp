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

/// A state that copies share. The last owner destroys it.
struct shared_state {
    void (*destroy)(shared_state& self) noexcept;
    std::atomic<std::size_t> owners = 1;
};

/// An owner of a shared state, or of none. It takes one word, because each operation has several.
class shared_owner {
public:
    shared_owner() noexcept = default;
    shared_owner(shared_owner const& other) noexcept
        : state_(other.state_) {
        if (state_)
            state_->owners.fetch_add(1, std::memory_order_relaxed);
    }
    shared_owner(shared_owner&& other) noexcept
        : state_(std::exchange(other.state_, nullptr)) {}
    shared_owner& operator=(shared_owner other) noexcept {
        std::swap(state_, other.state_);
        return *this;
    }
    ~shared_owner() {
        if (state_) // inline: most owners are moved from, and the compiler sees that
            give_up(*state_);
    }

    explicit operator bool() const noexcept { return state_ != nullptr; }

protected:
    shared_state* state_ = nullptr;

private:
    static void give_up(shared_state& shared) noexcept {
        if (shared.owners.fetch_sub(1, std::memory_order_acq_rel) == 1)
            shared.destroy(shared);
    }
};

/// A value that all copies share, or none.
template <typename T>
class shared_value : public shared_owner {
public:
    static shared_value make() {
        shared_value made;
        made.state_ = new counted();
        return made;
    }

    template <typename Change>
    static shared_value make(T const& from, Change change) {
        shared_value made;
        made.state_ = new counted(from);
        change(*made.get());
        return made;
    }

    T* get() const noexcept { return state_ ? &static_cast<counted*>(state_)->value : nullptr; }
    T& operator*() const noexcept { return static_cast<counted*>(state_)->value; }
    T* operator->() const noexcept { return &**this; }

private:
    struct counted : shared_state {
        template <typename... From>
        explicit counted(From const&... from)
            : shared_state{[](shared_state& self) noexcept { delete static_cast<counted*>(&self); }}
            , value(from...) {}
        T value;
    };
};

[[noreturn]] ASIO_RETRY_DECL void throw_bad_function_call();

/// A user's callable that a policy shares with its copies and operations. std::function would copy it.
template <typename Signature>
class shared_function;

template <typename Result, typename... Args>
class shared_function<Result(Args...)> : public shared_owner {
public:
    shared_function() noexcept = default;

    /// Throws std::invalid_argument, naming `field`, if `f` is empty.
    template <typename F>
        requires std::is_invocable_r_v<Result, std::decay_t<F>&, Args...>
    shared_function(std::string_view field, F&& f) {
        using callable = std::decay_t<F>;
        if constexpr (may_be_empty<callable>)
            detail::refuse_if_empty(field, f);
        // Copied as const: otherwise a greedy constructor template would win over the copy constructor.
        if constexpr (std::is_lvalue_reference_v<F> && std::is_constructible_v<callable, callable const&>)
            state_ = new shared_callable<callable>(std::in_place, std::as_const(f));
        else
            state_ = new shared_callable<callable>(std::in_place, std::forward<F>(f));
    }

    /// Throws std::bad_function_call if this is empty.
    Result operator()(Args... args) const {
        if (!state_)
            throw_bad_function_call();
        auto& self = *static_cast<shared*>(state_);
        return self.call(self, std::forward<Args>(args)...);
    }

private:
    struct shared : shared_state {
        Result (*call)(shared& self, Args... args);
    };

    // Each callable instantiates these functions, so there are only four. std::make_shared would need thirty,
    // virtual functions two more, and std::invoke three more.
    template <typename F>
    struct shared_callable final : shared {
        template <typename From>
        shared_callable(std::in_place_t, From&& from)
            : shared{{[](shared_state& self) noexcept { delete static_cast<shared_callable*>(&self); }},
                     &call_function}
            , function(std::forward<From>(from)) {}

        static Result call_function(shared& self, Args... args) {
            F& f = static_cast<shared_callable&>(self).function;
            if constexpr (std::is_member_pointer_v<F>)
                return static_cast<Result>(std::invoke(f, std::forward<Args>(args)...));
            else
                return static_cast<Result>(f(std::forward<Args>(args)...));
        }

        F function;
    };
};

/// The only owner of an object, or of none. It is an std::unique_ptr without the classes of its tuple.
template <typename T>
class owned {
public:
    owned() noexcept = default;
    explicit owned(T* given) noexcept
        : object_(given) {}
    owned(owned&& other) noexcept
        : object_(std::exchange(other.object_, nullptr)) {}
    owned& operator=(owned&& other) noexcept {
        reset(std::exchange(other.object_, nullptr));
        return *this;
    }
    ~owned() { delete object_; }

    T* get() const noexcept { return object_; }
    T& operator*() const noexcept { return *object_; }
    T* operator->() const noexcept { return object_; }
    void reset(T* given = nullptr) noexcept { delete std::exchange(object_, given); }

private:
    T* object_ = nullptr;
};

} // namespace asio_retry::detail
