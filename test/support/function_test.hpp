#pragma once

#include <gtest/gtest.h>

namespace asio_retry::test {

/// A test that is a function.
class function_test : public testing::Test {
public:
    explicit function_test(void (*body)())
        : body_(body) {}

private:
    void TestBody() override { body_(); }

    void (*body_)();
};

/// Registers one.
testing::TestInfo* register_function(char const* suite, char const* name, char const* file, int line,
                                     void (*body)());

} // namespace asio_retry::test

// A class of a test's own, and what makes it, are nine functions for each test, which g++ compiles in as long
// as a small test, and registers in twice the time.
#undef TEST
#define TEST(suite, name)                                                                                      \
    struct suite##_##name##_Test : testing::Test {                                                             \
        static void body();                                                                                    \
    };                                                                                                         \
    static testing::TestInfo* const suite##_##name##_info =                                                    \
        asio_retry::test::register_function(#suite, #name, __FILE__, __LINE__, &suite##_##name##_Test::body);  \
    void suite##_##name##_Test::body()
