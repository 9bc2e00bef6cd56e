#include "support/function_test.hpp"

namespace asio_retry::test {
namespace {

class function_test : public testing::Test {
public:
    explicit function_test(void (*body)())
        : body_(body) {}

private:
    void TestBody() override { body_(); }

    void (*body_)();
};

} // namespace

testing::TestInfo* register_function(char const* suite, char const* name, char const* file, int line,
                                     void (*body)()) {
    return testing::RegisterTest(suite, name, nullptr, nullptr, file, line,
                                 [body]() -> testing::Test* { return new function_test(body); });
}

} // namespace asio_retry::test
