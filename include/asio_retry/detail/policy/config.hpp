#pragma once

#include <boost/version.hpp>

/// ASIO_RETRY_DECL marks what the compiled library exports. The shared target sets ASIO_RETRY_SHARED.
#if defined(ASIO_RETRY_SHARED) && defined(_WIN32)
#if defined(ASIO_RETRY_BUILDING)
#define ASIO_RETRY_DECL __declspec(dllexport)
#else
#define ASIO_RETRY_DECL __declspec(dllimport)
#endif
#elif defined(ASIO_RETRY_SHARED)
#define ASIO_RETRY_DECL __attribute__((visibility("default")))
#else
#define ASIO_RETRY_DECL
#endif

/// Marks the symbols of asio_retry_json. It is never a DLL: a DLL is linked with all that it needs, and the
/// program decides where Boost.JSON comes from.
#if defined(_WIN32)
#define ASIO_RETRY_JSON_DECL
#else
#define ASIO_RETRY_JSON_DECL ASIO_RETRY_DECL
#endif

/// Like ASIO_RETRY_DECL, for a template that each program instantiates: it is one type in all of them.
#if defined(_WIN32)
#define ASIO_RETRY_DECL_TEMPLATE
#else
#define ASIO_RETRY_DECL_TEMPLATE __attribute__((visibility("default")))
#endif

/// Whether programs leave the instantiation of a template to the library. g++ exports from a DLL only functions
/// that are defined outside the class, so with mingw each program instantiates them.
#if defined(ASIO_RETRY_SHARED) && defined(__MINGW32__)
#define ASIO_RETRY_LEAVES_INSTANTIATION 0
#else
#define ASIO_RETRY_LEAVES_INSTANTIATION 1
#endif

/// The marks of its declaration and its definition. MSVC wants the export at the definition, where GCC ignores
/// it.
#if defined(_MSC_VER) && defined(ASIO_RETRY_BUILDING)
#define ASIO_RETRY_DECL_INSTANTIATION
#define ASIO_RETRY_DEFINE_INSTANTIATION ASIO_RETRY_DECL
#else
#define ASIO_RETRY_DECL_INSTANTIATION ASIO_RETRY_DECL
#define ASIO_RETRY_DEFINE_INSTANTIATION
#endif

/// MSVC ignores the standard's name for compatibility with its own older binaries.
#if defined(_MSC_VER)
#define ASIO_RETRY_NO_UNIQUE_ADDRESS [[msvc::no_unique_address]]
#else
#define ASIO_RETRY_NO_UNIQUE_ADDRESS [[no_unique_address]]
#endif

/// Declares a member or constructor that only a mistake chooses. The compiler says `message` at the line of the
/// mistake: ASIO_RETRY_REFUSES(message, typename T) void member(T) ASIO_RETRY_REFUSED;
///
/// ASIO_RETRY_REFUSES_OVERLOADED(message) void function(...) ASIO_RETRY_REFUSED; is for overloaded functions as
/// arguments. Clang goes on to complain of such an argument after any attribute but diagnose_if, which it
/// ignores at constructors.
#define ASIO_RETRY_CALLS_IT ": pass a lambda that calls it, as in [] { return open(); }"
#if defined(__clang__)
#define ASIO_RETRY_REFUSED
#define ASIO_RETRY_REFUSES(message, ...)                                                                       \
    template <__VA_ARGS__>                                                                                     \
    __attribute__((unavailable(message)))
#define ASIO_RETRY_REFUSES_OVERLOADED(message)                                                                 \
    template <typename = void>                                                                                 \
    _Pragma("clang diagnostic push") _Pragma("clang diagnostic ignored \"-Wgcc-compat\"") __attribute__((      \
        diagnose_if(true, message ASIO_RETRY_CALLS_IT, "error"))) _Pragma("clang diagnostic pop")
#else
#define ASIO_RETRY_REFUSED = delete
#define ASIO_RETRY_REFUSES(message, ...) template <asio_retry::detail::sentence Message = message, __VA_ARGS__>
#define ASIO_RETRY_REFUSES_OVERLOADED(message)                                                                 \
    template <asio_retry::detail::sentence Message = message ASIO_RETRY_CALLS_IT>
#endif

/// Appends the version of Boost to a name: `name_with_boost_108100`, or `name_with_boost_108100_without_rtti`.
/// Executors and gates of code without RTTI mean nothing to a library that has it.
#define ASIO_RETRY_WITH_BOOST(name) ASIO_RETRY_WITH_BOOST_OF(name, BOOST_VERSION)
#define ASIO_RETRY_WITH_BOOST_OF(name, version) ASIO_RETRY_WITH_BOOST_NUMBER(name, version) // expands it
#if defined(__GNUC__) && !defined(__GXX_RTTI)
#define ASIO_RETRY_WITH_BOOST_NUMBER(name, number) name##_with_boost_##number##_without_rtti
#else
#define ASIO_RETRY_WITH_BOOST_NUMBER(name, number) name##_with_boost_##number
#endif

namespace asio_retry::detail {

/// A text as a template argument, which g++ and MSVC show.
template <unsigned Size>
struct sentence {
    constexpr sentence(char const (&from)[Size]) noexcept {
        for (unsigned i = 0; i != Size; ++i)
            text[i] = from[i];
    }
    char text[Size] = {};
};

/// Only a library of the same version that was built with the same Boost, and with RTTI if the program has it,
/// defines it. Headers and a library that differ in one of them do not link.
ASIO_RETRY_DECL extern unsigned char const ASIO_RETRY_WITH_BOOST(library_is_version_0_4);

#if defined(__ELF__)
#define ASIO_RETRY_KEEP [[gnu::used, gnu::retain]] // retained by --gc-sections
#elif defined(__GNUC__)
#define ASIO_RETRY_KEEP [[gnu::used]]
#endif

#if defined(ASIO_RETRY_KEEP)
// Its name has the version too: else the linker would keep one of the two in a program with two versions of
// Boost.
ASIO_RETRY_KEEP inline unsigned char const* const
    ASIO_RETRY_WITH_BOOST(needs_library) = &ASIO_RETRY_WITH_BOOST(library_is_version_0_4);
#elif defined(_MSC_VER)
#define ASIO_RETRY_TEXT_OF(version) ASIO_RETRY_TEXT_OF_NUMBER(version) // expands it
#define ASIO_RETRY_TEXT_OF_NUMBER(number) #number
#pragma detect_mismatch("asio_retry", "0.4") // checks what is linked statically
#pragma detect_mismatch("asio_retry with Boost", ASIO_RETRY_TEXT_OF(BOOST_VERSION))
#endif

} // namespace asio_retry::detail
