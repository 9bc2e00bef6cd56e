#include "combinations/combination.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/deferred.hpp>

namespace asio_retry::test {
namespace {

template <typename>
class as_tuple : public testing::Test {};
TYPED_TEST_SUITE(as_tuple, all_combinations<>, combination_name);

template <typename... Values>
asio::awaitable<void> note(story& s, asio::awaitable<std::tuple<Values...>> awaited) {
    auto const values = co_await std::move(awaited);
    s.complete(std::apply([](auto const&... v) { return outcome_of(v...); }, values));
}

TYPED_TEST(as_tuple, of_use_awaitable) {
    expect_everything_on<TypeParam>(own, [](auto& t) {
        t.spawn([&t] {
            return note(t.told(), async_retry(t.operation(), t.policy(), asio::as_tuple(asio::use_awaitable)));
        });
    });
}

TYPED_TEST(as_tuple, of_deferred_awaited) {
    expect_everything_on<TypeParam>(own, [](auto& t) {
        t.spawn([&t]() -> asio::awaitable<void> {
            auto retry = async_retry(t.operation(), t.policy(), asio::as_tuple(asio::deferred));
            auto const values = co_await std::move(retry);
            t.told().complete(std::apply([](auto const&... v) { return outcome_of(v...); }, values));
        });
    });
}

} // namespace
} // namespace asio_retry::test
