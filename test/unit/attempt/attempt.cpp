#include <asio_retry/attempt.hpp>

#include <asio_retry/async_retry.hpp>
#include <asio_retry/retry.hpp>
#include <asio_retry/with_hooks.hpp>

#include <boost/asio/io_context.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <exception>
#include <functional>
#include <stdexcept>
#include <type_traits>
#include <vector>

namespace asio_retry::test {
namespace {

TEST(attempt, is_the_first_without_a_deadline_unless_told_otherwise) {
    attempt const first;
    EXPECT_EQ(first.number, 1u);
    EXPECT_EQ(first.deadline, time_point::max());
}

TEST(attempt, is_a_plain_value) {
    static_assert(std::is_aggregate_v<attempt> && std::is_trivially_copyable_v<attempt>);
    attempt const third{3, time_point(std::chrono::seconds(7))};
    attempt const copy = third;
    EXPECT_EQ(copy.number, 3u);
    EXPECT_EQ(copy.deadline, time_point(std::chrono::seconds(7)));
}

/// As one writes it that may be called by hand, too.
struct numbering {
    std::vector<std::uint64_t>* numbers;

    void operator()(attempt which = {}) const {
        numbers->push_back(which.number);
        if (numbers->size() % 3 != 0)
            throw std::runtime_error("no");
    }
};
std::uint64_t number_of(attempt const& which) {
    return which.number;
}

TEST(attempt, is_given_to_an_operation_that_has_a_default_for_it) {
    std::vector<std::uint64_t> numbers;
    auto const policy = retry_policy().backoff(constant(duration::zero()));
    numbering const operation{&numbers};
    retry(operation, policy);
    retry(with_hooks(operation, nullptr), policy);
    retry([operation](attempt which = {}) { operation(which); }, policy);
    EXPECT_THAT(numbers, testing::ElementsAre(1, 2, 3, 1, 2, 3, 1, 2, 3));

    boost::asio::io_context io;
    async_retry(io, numbering{&numbers}, policy,
                [](std::exception_ptr const& thrown) { EXPECT_FALSE(thrown); });
    io.run();
    EXPECT_EQ(numbers.back(), 3u);
    EXPECT_EQ(retry(number_of, policy), 1u);
    EXPECT_EQ(retry(std::bind(number_of, std::placeholders::_1), policy), 1u);
}

TEST(attempt, is_not_given_to_an_overload_that_may_be_called_with_nothing) {
    struct {
        int operator()(attempt const&) const { return 1; }
        int operator()() const { return 0; }
    } const overloaded;
    EXPECT_EQ(retry(overloaded, retry_policy()), 0);
}

} // namespace
} // namespace asio_retry::test
