#pragma once

#include <boost/function.hpp>

#include <array>
#include <atomic>
#include <concepts>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace asio_retry::test {

/// What users plug in: classes of every shape that a person might give to a callable. Each calls the body that
/// it was made from. Most are what a null pointer, a string or anything can be made into, or compared with.
template <typename Signature>
struct zoo;

template <typename R, typename... A>
struct zoo<R(A...)> {
    using body = std::function<R(A...)>;

    struct aggregate {
        body const* to;
        R operator()(A... a) const { return (*to)(a...); }
    };

    /// As one that has a logger, and a name for it.
    struct aggregate_of_pointers {
        std::atomic<int>* load = nullptr;
        char const* name = nullptr;
        body const* to = nullptr;
        R operator()(A... a) { return (*to)(a...); }
    };

    struct from_shared_pointer {
        from_shared_pointer(std::shared_ptr<body const> shared)
            : to(std::move(shared)) {}
        std::shared_ptr<body const> to;
        R operator()(A... a) const { return (*to)(a...); }
    };

    struct from_string {
        from_string(std::string n, body const* b = nullptr)
            : name(std::move(n))
            , to(b) {}
        std::string name;
        body const* to;
        R operator()(A... a) const { return (*to)(a...); }
    };

    struct from_view {
        from_view(std::string_view n, body const* b = nullptr)
            : name(n)
            , to(b) {}
        std::string_view name;
        body const* to;
        R operator()(A... a) const { return (*to)(a...); }
    };

    struct from_anything {
        template <typename T>
        from_anything(T const& value, body const* b = nullptr)
            : size(sizeof(value))
            , to(b) {}
        std::size_t size;
        body const* to;
        R operator()(A... a) const { return (*to)(a...); }
    };

    /// Its constructor would be taken for that which copies.
    struct greedy {
        template <typename T>
        explicit greedy(T&& pointer)
            : to(std::forward<T>(pointer)) {}
        body const* to;
        R operator()(A... a) const { return (*to)(a...); }
    };

    struct from_pointer_explicitly {
        explicit from_pointer_explicitly(body const* b)
            : to(b) {}
        body const* to;
        R operator()(A... a) const { return (*to)(a...); }
    };

    struct equal_to_anything {
        body const* to;
        template <typename T>
        bool operator==(T const&) const {
            return true;
        }
        R operator()(A... a) const { return (*to)(a...); }
    };

    struct equality_is_no_bool {
        body const* to;
        struct expression {};
        template <typename T>
        expression operator==(T const&) const {
            return {};
        }
        R operator()(A... a) const { return (*to)(a...); }
    };

    struct equality_does_not_compile {
        body const* to;
        template <typename T>
        bool operator==(T const& other) const {
            return other.no_such_member;
        }
        R operator()(A... a) const { return (*to)(a...); }
    };

    struct without_equality {
        body const* to;
        bool operator==(without_equality const&) const = delete;
        bool operator==(std::nullptr_t) const = delete;
        R operator()(A... a) const { return (*to)(a...); }
    };

    /// What that says is not that it is empty.
    struct convertible_to_bool {
        body const* to;
        operator bool() const { return false; }
        R operator()(A... a) const { return (*to)(a...); }
    };

    struct equal_to_null_and_false {
        equal_to_null_and_false(std::nullptr_t)
            : to(nullptr) {}
        explicit equal_to_null_and_false(body const* b)
            : to(b) {}
        body const* to;
        explicit operator bool() const { return false; }
        bool operator==(std::nullptr_t) const { return true; }
        R operator()(A... a) const { return (*to)(a...); }
    };

    struct move_only {
        explicit move_only(body const* b)
            : to(std::make_unique<body const*>(b)) {}
        std::unique_ptr<body const*> to;
        R operator()(A... a) { return (**to)(a...); }
    };

    struct only_copied {
        explicit only_copied(body const* b)
            : to(b) {}
        only_copied(only_copied const&) = default;
        body const* const to;
        R operator()(A... a) const { return (*to)(a...); }
    };

    struct stateful {
        body const* to;
        int calls = 0;
        R operator()(A... a) {
            ++calls;
            return (*to)(a...);
        }
    };

    struct sealed final {
        body const* to;
        R operator()(A... a) const { return (*to)(a...); }
    };

    struct for_lvalues {
        body const* to;
        R operator()(A... a) & { return (*to)(a...); }
    };

    struct for_const_lvalues {
        body const* to;
        R operator()(A... a) const& { return (*to)(a...); }
    };

    struct not_throwing {
        body const* to;
        R operator()(A... a) const noexcept { return (*to)(a...); }
    };

    struct const_or_not {
        body const* to;
        R operator()(A... a) { return (*to)(a...); }
        R operator()(A... a) const { return (*to)(a...); }
    };

    struct overloaded {
        body const* to;
        struct unrelated {};
        R operator()(A... a) const { return (*to)(a...); }
        void operator()(unrelated, unrelated, unrelated) const {}
    };

    struct of_default_arguments {
        body const* to;
        R operator()(A... a, int = 1, std::string const& = {}) const { return (*to)(a...); }
    };

    struct without_address {
        body const* to;
        void operator&() const = delete;
        R operator()(A... a) const { return (*to)(a...); }
    };

    struct without_comma {
        body const* to;
        template <typename T>
        void operator,(T const&) const = delete;
        R operator()(A... a) const { return (*to)(a...); }
    };

    struct large {
        body const* to;
        std::array<char, 5000> memory{};
        R operator()(A... a) const { return (*to)(a...); }
    };

    struct alignas(64) aligned {
        body const* to;
        R operator()(A... a) const { return (*to)(a...); }
    };

    struct polymorphic {
        explicit polymorphic(body const* b)
            : to(b) {}
        polymorphic(polymorphic const&) = default;
        virtual ~polymorphic() = default;
        virtual R operator()(A... a) const { return (*to)(a...); }
        body const* to;
    };

    /// A template over a signature, but no function that may be empty.
    template <typename S>
    struct recorder {
        body const* to;
        R operator()(A... a) const { return (*to)(a...); }
    };

    struct inherits_a_function : body {
        explicit inherits_a_function(body const& b)
            : body(b) {}
    };

    static R free_function(A... a) { return (*current)(a...); }
    static R function_without_throw(A... a) noexcept { return (*current)(a...); }
    static inline body const* current = nullptr;

    /// `visit(name, animal)` for each, as an rvalue, and as lvalues if it can be copied.
    template <typename Visit>
    static void each(body const& b, Visit visit) {
        current = &b;
        auto const show = [&]<typename Animal>(char const* name, Animal&& animal) {
            if constexpr (std::is_copy_constructible_v<Animal>) {
                visit(name, animal);
                visit(name, std::as_const(animal));
            }
            visit(name, std::move(animal));
        };
        show("aggregate", aggregate{&b});
        show("aggregate_of_pointers", aggregate_of_pointers{nullptr, nullptr, &b});
        show("from_shared_pointer", from_shared_pointer(std::make_shared<body const>(b)));
        show("from_string", from_string("name", &b));
        show("from_view", from_view("name", &b));
        show("from_anything", from_anything(5, &b));
        visit("greedy", greedy(&b));
        show("from_pointer_explicitly", from_pointer_explicitly(&b));
        show("equal_to_anything", equal_to_anything{&b});
        show("equality_is_no_bool", equality_is_no_bool{&b});
        show("equality_does_not_compile", equality_does_not_compile{&b});
        show("without_equality", without_equality{&b});
        show("convertible_to_bool", convertible_to_bool{&b});
        show("equal_to_null_and_false", equal_to_null_and_false(&b));
        show("move_only", move_only(&b));
        show("only_copied", only_copied(&b));
        show("stateful", stateful{&b});
        show("sealed", sealed{&b});
        show("for_lvalues", for_lvalues{&b});
        show("for_const_lvalues", for_const_lvalues{&b});
        show("not_throwing", not_throwing{&b});
        show("const_or_not", const_or_not{&b});
        show("overloaded", overloaded{&b});
        show("of_default_arguments", of_default_arguments{&b});
        visit("without_address", without_address{&b});
        show("without_comma", without_comma{&b});
        show("large", large{&b});
        show("aligned", aligned{&b});
        show("polymorphic", polymorphic(&b));
        show("recorder", recorder<R(A...)>{&b});
        show("inherits_a_function", inherits_a_function(b));
        show("std::function", b);
        show("boost::function", boost::function<R(A...)>(b));
        show("lambda", [&b](A... a) { return b(a...); });
        show("mutable lambda",
             [called = &b](A... a) mutable { return (*std::exchange(called, called))(a...); });
        show("lambda that owns", [owned = std::make_unique<body>(b)](A... a) { return (*owned)(a...); });
        show("lambda without a capture", [](A... a) { return (*current)(a...); });
        show("generic lambda",
             [&b](auto&&... a) -> R
                 requires std::invocable<body const&, decltype(a)...>
             { return b(std::forward<decltype(a)>(a)...); });
        show("function pointer", &free_function);
        show("function pointer noexcept", &function_without_throw);
        visit("function", free_function);
        show("std::reference_wrapper", std::ref(b));
        aggregate referred{&b};
        show("std::reference_wrapper of a class", std::ref(referred));
        visit("std::reference_wrapper of a constant", std::cref(referred));
        show("std::bind_front", std::bind_front(&body::operator(), &b));
    }
};

} // namespace asio_retry::test
