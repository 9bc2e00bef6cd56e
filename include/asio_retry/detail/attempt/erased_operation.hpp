#pragma once

#include <asio_retry/attempt.hpp>
#include <asio_retry/detail/attempt/completion.hpp>
#include <asio_retry/detail/attempt/operation_form.hpp>
#include <asio_retry/failure_class.hpp>
#include <asio_retry/retry_machine.hpp>

#include <boost/asio/recycling_allocator.hpp>

#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <tuple>
#include <type_traits>
#include <utility>

namespace asio_retry::detail {

/// A function that judges a result by its values.
template <typename Arguments>
struct result_judge;
template <typename Failure, typename... Values>
struct result_judge<std::tuple<Failure, Values...>> {
    using type = judgement (*)(void* operation, Values const&...);
};

/// A type-erased operation that returns `Awaitable`: one coroutine serves all such operations. A small
/// operation is held in place, any other in memory that Asio recycles.
template <typename Awaitable, bool TakesAttempt, bool JudgesResults>
class erased_operation {
public:
    using signature = typename awaited<typename awaitable_traits<Awaitable>::value_type>::signature;
    using arguments = typename completion<signature>::arguments;

    template <typename Operation>
        requires(!std::is_same_v<std::remove_cvref_t<Operation>, erased_operation>)
    explicit erased_operation(Operation&& given_operation) {
        using callable = std::decay_t<Operation>;
        calls_ = &calls_of<callable>;
        if constexpr (fits<callable>)
            ::new (static_cast<void*>(memory_)) callable(std::forward<Operation>(given_operation));
        else
            ::new (static_cast<void*>(memory_))
                outside<callable>(std::in_place, std::forward<Operation>(given_operation));
    }
    erased_operation(erased_operation&& other) noexcept
        : calls_(std::exchange(other.calls_, nullptr)) {
        if (calls_->relocate)
            calls_->relocate(memory_, other.memory_);
        else
            std::memcpy(memory_, other.memory_, sizeof memory_);
    }
    erased_operation& operator=(erased_operation&&) = delete;
    ~erased_operation() {
        if (calls_ && calls_->destroy)
            calls_->destroy(memory_);
    }

    Awaitable call(attempt const& which) { return calls_->call(memory_, which); }
    template <typename... Values>
    judgement rejects(Values const&... values) {
        return calls_->rejects(memory_, values...);
    }
    void prepare(retry_machine& machine) {
        if (calls_->prepare)
            calls_->prepare(memory_, machine);
    }
    machine_observer* chooser() noexcept { return calls_->chooser ? calls_->chooser(memory_) : nullptr; }

private:
    static constexpr std::size_t capacity = 6 * sizeof(void*);

    template <typename Callable>
    static constexpr bool fits =
        sizeof(Callable) <= capacity && alignof(Callable) <= alignof(std::max_align_t) &&
        std::is_nothrow_move_constructible_v<Callable>;

    template <typename Callable>
    class outside {
        using allocator = boost::asio::recycling_allocator<Callable>;

    public:
        template <typename Operation>
        outside(std::in_place_t, Operation&& given_operation)
            : place_(allocator().allocate(1)) {
            struct unless_built {
                Callable* place;
                ~unless_built() {
                    if (place)
                        allocator().deallocate(place, 1);
                }
            } guard{place_};
            ::new (static_cast<void*>(place_)) Callable(std::forward<Operation>(given_operation));
            guard.place = nullptr;
        }
        outside(outside&& other) noexcept
            : place_(std::exchange(other.place_, nullptr)) {}
        outside& operator=(outside&&) = delete;
        ~outside() {
            if (!place_)
                return;
            std::destroy_at(place_);
            allocator().deallocate(place_, 1);
        }
        Callable& get() noexcept { return *place_; }

    private:
        Callable* place_;
    };

    template <typename Callable>
    using held = std::conditional_t<fits<Callable>, Callable, outside<Callable>>;

    template <typename Callable>
    static Callable& get(void* memory) noexcept {
        auto& in = *std::launder(static_cast<held<Callable>*>(memory));
        if constexpr (fits<Callable>)
            return in;
        else
            return in.get();
    }

    /// Null `relocate`: copy the bytes. Any other null pointer: do nothing.
    struct calls {
        void (*relocate)(void* to, void* from) noexcept;
        void (*destroy)(void*) noexcept;
        Awaitable (*call)(void*, attempt const&);
        typename result_judge<arguments>::type rejects;
        void (*prepare)(void*, retry_machine&);
        machine_observer* (*chooser)(void*) noexcept;
    };

    template <typename Held>
    static void relocate(void* to, void* from) noexcept {
        Held& source = *std::launder(static_cast<Held*>(from));
        ::new (to) Held(std::move(source));
        std::destroy_at(&source);
    }
    template <typename Held>
    static void destroy(void* memory) noexcept {
        std::destroy_at(std::launder(static_cast<Held*>(memory)));
    }

    template <typename Callable>
    static consteval typename result_judge<arguments>::type rejects_of() {
        if constexpr (JudgesResults)
            return [](void* memory, auto const&... values) -> judgement {
                return operation_form<Callable>::rejects(get<Callable>(memory), values...);
            };
        else
            return nullptr;
    }
    template <typename Callable>
    static consteval auto prepare_of() -> void (*)(void*, retry_machine&) {
        if constexpr (operation_form<Callable>::prepares)
            return [](void* memory, retry_machine& machine) {
                operation_form<Callable>::prepare(get<Callable>(memory), machine);
            };
        else
            return nullptr;
    }

    template <typename Callable>
    static consteval auto chooser_of() -> machine_observer* (*)(void*) noexcept {
        if constexpr (operation_form<Callable>::chooses)
            return [](void* memory) noexcept {
                return operation_form<Callable>::chooser_of(get<Callable>(memory));
            };
        else
            return nullptr;
    }

    template <typename Callable>
    static constexpr calls calls_of = {
        std::is_trivially_copyable_v<held<Callable>> ? nullptr : &relocate<held<Callable>>,
        std::is_trivially_destructible_v<held<Callable>> ? nullptr : &destroy<held<Callable>>,
        [](void* memory, attempt const& which) -> Awaitable {
            return operation_form<Callable>::call(get<Callable>(memory), which);
        },
        rejects_of<Callable>(),
        prepare_of<Callable>(),
        chooser_of<Callable>()};

    calls const* calls_;
    alignas(std::max_align_t) std::byte memory_[capacity];
};

template <typename Callable>
inline constexpr bool is_erased = false;
template <typename Awaitable, bool TakesAttempt, bool JudgesResults>
inline constexpr bool is_erased<erased_operation<Awaitable, TakesAttempt, JudgesResults>> = true;

/// The callable that `async_retry` keeps for an operation that returns an awaitable.
template <typename Form>
using erased_operation_of =
    erased_operation<typename Form::result_type, Form::takes_attempt, Form::judges_results>;

template <typename Awaitable, bool TakesAttempt, bool JudgesResults>
struct operation_form<erased_operation<Awaitable, TakesAttempt, JudgesResults>> {
    using erased = erased_operation<Awaitable, TakesAttempt, JudgesResults>;
    using result_type = Awaitable;
    using signature = typename erased::signature;
    static constexpr bool takes_attempt = TakesAttempt;
    static constexpr bool takes_token = false;
    static constexpr bool may_block = false;
    static constexpr bool returns_awaitable = true;
    static constexpr bool returns_operation = false;
    static constexpr bool judges_results = JudgesResults;
    static constexpr bool prepares = true;

    static Awaitable call(erased& operation, attempt const& which) { return operation.call(which); }
    static void prepare(erased& operation, retry_machine& machine) { operation.prepare(machine); }
    static constexpr bool chooses = true; // the operation inside may choose
    static machine_observer* chooser_of(erased& operation) noexcept { return operation.chooser(); }

    template <typename... Values>
    static judgement rejects(erased& operation, Values const&... values) {
        if constexpr (JudgesResults)
            return operation.rejects(values...);
        else
            return {};
    }
};

} // namespace asio_retry::detail
