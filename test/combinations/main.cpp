#include <gmock/gmock.h>

#include <iostream>

// A listing without the types, whose names are longer than all else and which CMake would put into those of the
// tests.
int main(int argc, char** argv) {
    testing::InitGoogleMock(&argc, argv);
    if (!GTEST_FLAG_GET(list_tests))
        return RUN_ALL_TESTS();
    auto const& all = *testing::UnitTest::GetInstance();
    for (int s = 0; s < all.total_test_suite_count(); ++s) {
        auto const& suite = *all.GetTestSuite(s);
        std::cout << suite.name() << ".\n";
        for (int t = 0; t < suite.total_test_count(); ++t)
            std::cout << "  " << suite.GetTestInfo(t)->name() << '\n';
    }
}
