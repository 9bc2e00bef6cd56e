#pragma once

// Whether a sanitizer, which multiplies the time, watches the tests: 1 or 0.
#if defined(__SANITIZE_THREAD__)
#define ASIO_RETRY_TEST_THREAD_SANITIZER 1
#elif defined(__SANITIZE_ADDRESS__)
#define ASIO_RETRY_TEST_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define ASIO_RETRY_TEST_THREAD_SANITIZER 1
#elif __has_feature(address_sanitizer)
#define ASIO_RETRY_TEST_ADDRESS_SANITIZER 1
#endif
#endif

#if defined(ASIO_RETRY_TEST_THREAD_SANITIZER) || defined(ASIO_RETRY_TEST_ADDRESS_SANITIZER)
#define ASIO_RETRY_TEST_SANITIZED 1
#else
#define ASIO_RETRY_TEST_SANITIZED 0
#endif
