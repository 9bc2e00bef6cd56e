#pragma once

/// ASIO_RETRY_DECL marks what the compiled library exports. ASIO_RETRY_SHARED is set by the shared target.
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

/// What asio_retry_json exports. It is no DLL: a DLL is linked with all that it needs, and who brings
/// Boost.JSON is the program's to say.
#if defined(_WIN32)
#define ASIO_RETRY_JSON_DECL
#else
#define ASIO_RETRY_JSON_DECL ASIO_RETRY_DECL
#endif

/// As ASIO_RETRY_DECL, for a template, which every program makes itself: it is one type in all of them.
#if defined(_WIN32)
#define ASIO_RETRY_DECL_TEMPLATE
#else
#define ASIO_RETRY_DECL_TEMPLATE __attribute__((visibility("default")))
#endif

/// Whether programs leave a template to the library, which instantiates it. g++ exports from a DLL only those
/// of its functions that are defined outside of the class, so there each program makes them itself.
#if defined(ASIO_RETRY_SHARED) && defined(__MINGW32__)
#define ASIO_RETRY_LEAVES_INSTANTIATION 0
#else
#define ASIO_RETRY_LEAVES_INSTANTIATION 1
#endif

/// What its declaration in a header is marked with, and what its definition. MSVC wants what it exports marked
/// at the definition, where GCC does not heed it.
#if defined(_MSC_VER) && defined(ASIO_RETRY_BUILDING)
#define ASIO_RETRY_DECL_INSTANTIATION
#define ASIO_RETRY_DEFINE_INSTANTIATION ASIO_RETRY_DECL
#else
#define ASIO_RETRY_DECL_INSTANTIATION ASIO_RETRY_DECL
#define ASIO_RETRY_DEFINE_INSTANTIATION
#endif

/// MSVC does not heed the standard's name, because of what it had compiled before.
#if defined(_MSC_VER)
#define ASIO_RETRY_NO_UNIQUE_ADDRESS [[msvc::no_unique_address]]
#else
#define ASIO_RETRY_NO_UNIQUE_ADDRESS [[no_unique_address]]
#endif

namespace asio_retry::detail {

/// The library of the same version defines it, and no other: headers and a library of two versions do not link.
ASIO_RETRY_DECL extern unsigned char const library_is_version_0_2;

#if defined(__GNUC__)
[[gnu::used]] inline unsigned char const* const needs_library = &library_is_version_0_2;
#elif defined(_MSC_VER)
#pragma detect_mismatch("asio_retry", "0.2") // among what is linked statically
#endif

} // namespace asio_retry::detail
