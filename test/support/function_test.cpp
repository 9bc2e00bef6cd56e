#include "support/function_test.hpp"

namespace asio_retry::test {
testing::TestInfo* register_function(char const* suite, char const* name, char const* file, int line,
                                     void (*body)()) {
    return testing::RegisterTest(suite, name, nullptr, nullptr, file, line,
                                 [body]() -> testing::Test* { return new function_test(body); });
}

} // namespace asio_retry::test
