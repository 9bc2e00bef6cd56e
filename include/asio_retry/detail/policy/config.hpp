#pragma once

/// ASIO_RETRY_DECL marks the symbols that the compiled library exports. The shared target sets
/// ASIO_RETRY_SHARED.
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

namespace asio_retry::detail {

/// Only the library of the same version defines it: headers and a library of two versions do not link.
ASIO_RETRY_DECL extern unsigned char const library_is_version_0_3;

#if defined(__GNUC__)
[[gnu::used]] inline unsigned char const* const needs_library = &library_is_version_0_3;
#elif defined(_MSC_VER)
#pragma detect_mismatch("asio_retry", "0.3") // checks what is linked statically
#endif

} // namespace asio_retry::detail
