#include <asio_retry/async_hedge.hpp>
#include <asio_retry/async_retry.hpp>
#include <asio_retry/before_retry.hpp>
#include <asio_retry/fail_if.hpp>
#include <asio_retry/retry.hpp>
#include <asio_retry/retry_scope.hpp>
#include <asio_retry/with_hooks.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include <chrono>
#include <exception>
#include <string_view>
#include <utility>

// Functions of a program that take anything, with names of the library's own: they must neither be called in
// the place of those nor be found beside them.
namespace names_of_a_program {

#define ASIO_RETRY_TEST_TAKES_ANYTHING(name)                                                                   \
    template <typename... Anything>                                                                            \
    void name(Anything&&...) = delete;
ASIO_RETRY_TEST_TAKES_ANYTHING(unpack)
ASIO_RETRY_TEST_TAKES_ANYTHING(decide)
ASIO_RETRY_TEST_TAKES_ANYTHING(go_on)
ASIO_RETRY_TEST_TAKES_ANYTHING(refuse_if_empty)
ASIO_RETRY_TEST_TAKES_ANYTHING(refuse_if_empty_executor)
ASIO_RETRY_TEST_TAKES_ANYTHING(exhausted_with)
ASIO_RETRY_TEST_TAKES_ANYTHING(judged_as)
ASIO_RETRY_TEST_TAKES_ANYTHING(initiate)
ASIO_RETRY_TEST_TAKES_ANYTHING(await_retry)
ASIO_RETRY_TEST_TAKES_ANYTHING(post_turn)
ASIO_RETRY_TEST_TAKES_ANYTHING(post_to)
ASIO_RETRY_TEST_TAKES_ANYTHING(queue_turn)
ASIO_RETRY_TEST_TAKES_ANYTHING(error_of)
ASIO_RETRY_TEST_TAKES_ANYTHING(error_in)
ASIO_RETRY_TEST_TAKES_ANYTHING(to_returned)
ASIO_RETRY_TEST_TAKES_ANYTHING(set_failure)
ASIO_RETRY_TEST_TAKES_ANYTHING(retry)
ASIO_RETRY_TEST_TAKES_ANYTHING(get)
#undef ASIO_RETRY_TEST_TAKES_ANYTHING

struct reply {
    int number = 0;
};

struct plain_operation {
    reply operator()() const { return {3}; }
};

struct awaitable_operation {
    boost::asio::awaitable<reply> operator()() const { co_return reply{3}; }
};

struct step {
    void operator()() const {}
};

struct predicate {
    bool operator()(reply const& judged) const { return judged.number == 0; }
};

struct hook {
    void operator()(asio_retry::retry_event const&) const {}
};

struct handler {
    int* sum;
    void operator()(std::exception_ptr, reply got) const { *sum += got.number; }
};

} // namespace names_of_a_program

namespace asio_retry::test {
namespace {

using namespace names_of_a_program;
using namespace std::chrono_literals;

TEST(names_of_a_program, are_not_taken_for_the_librarys) {
    boost::asio::io_context io;
    retry_scope scope(io.get_executor());
    retry_policy const policy = retry_policy().max_attempts(2).backoff(constant(1ms));
    auto const wrapped = [](auto operation) {
        return with_hooks(fail_if(before_retry(std::move(operation), step()), predicate()).or_error(), hook(),
                          hook());
    };
    int sum = 0;
    EXPECT_EQ(asio_retry::retry(plain_operation(), policy).number, 3);
    EXPECT_EQ(asio_retry::retry(wrapped(plain_operation()), policy).number, 3);
    async_retry(io.get_executor(), plain_operation(), policy, handler{&sum});
    async_retry(scope, awaitable_operation(), policy, handler{&sum});
    async_retry(scope, wrapped(plain_operation()), policy, handler{&sum});
    async_retry(io.get_executor(), wrapped(awaitable_operation()), policy, handler{&sum});
    async_hedge(scope, plain_operation(), hedge_policy(1ms), handler{&sum});
    async_hedge(io.get_executor(), awaitable_operation(), hedge_policy(1ms), handler{&sum});
    io.run();
    EXPECT_EQ(sum, 18);
}

} // namespace
} // namespace asio_retry::test
