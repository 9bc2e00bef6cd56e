#include "combinations/combination.hpp"

#include <boost/asio/append.hpp>

namespace asio_retry::test {
namespace {

/// Expects an 7 behind the arguments.
struct handler_of_one_more {
    noting_handler inner;

    template <typename Failure>
    void operator()(Failure const& failure, int last) const {
        EXPECT_EQ(last, 7);
        inner(failure);
    }
    template <typename Failure>
    void operator()(Failure const& failure, int value, int last) const {
        EXPECT_EQ(last, 7);
        inner(failure, value);
    }
};

COMBINATION_TEST(append, on_the_given_executor, all_combinations<>) {
    expect_everything_on<Combination>(given, [](auto& t) {
        async_retry(t.given_executor(), t.operation(), t.policy(),
                    asio::append(handler_of_one_more{t.handler()}, 7));
    });
}

} // namespace
} // namespace asio_retry::test
