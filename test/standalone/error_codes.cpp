#include <asio_retry/asio_retry.hpp>

#include <asio.hpp>
#include <gtest/gtest.h>

#include <chrono>
#include <system_error>
#include <type_traits>

#if !defined(ASIO_RETRY_STANDALONE) || defined(BOOST_ASIO_VERSION) || defined(BOOST_VERSION)
#error "these are to be the headers for Asio without Boost"
#endif

namespace {

using namespace std::chrono_literals;

static_assert(std::is_same_v<asio_retry::error_code, std::error_code>);
static_assert(std::is_error_code_enum_v<asio_retry::error>);
static_assert(std::is_error_condition_enum_v<asio_retry::condition>);
static_assert(std::is_base_of_v<std::system_error, asio_retry::exhausted_error<int>>);
static_assert(std::is_same_v<asio_retry::retry_policy, asio_retry::standalone::retry_policy>);

// What a program of standalone Asio writes: its errors are standard ones, and compare with the library's own.

TEST(standalone, error_codes_of_asio_are_the_ones_that_the_library_knows) {
    EXPECT_EQ(asio_retry::detail::timed_out_error(), asio::error::timed_out);
    EXPECT_EQ(asio_retry::detail::no_memory_error(), asio::error::no_memory);
    EXPECT_EQ(asio_retry::detail::no_buffer_space_error(), asio::error::no_buffer_space);
    EXPECT_EQ(asio_retry::detail::aborted_error(), asio::error::operation_aborted);
}

TEST(standalone, error_codes_of_all_categories_are_classified) {
    using asio_retry::classify;
    using asio_retry::failure_kind;
    EXPECT_TRUE(asio_retry::surely_not_done(asio::error::connection_refused));
    EXPECT_TRUE(asio_retry::surely_not_done(std::make_error_code(std::errc::connection_refused)));
    EXPECT_TRUE(asio_retry::surely_not_done(asio::error::host_not_found_try_again)) << "netdb";
    EXPECT_FALSE(asio_retry::worth_retrying(asio::error::service_not_found)) << "addrinfo";
    EXPECT_FALSE(asio_retry::worth_retrying(asio::error::access_denied));
    EXPECT_TRUE(asio_retry::worth_retrying(asio::error::eof)) << "misc";
    EXPECT_EQ(classify(std::error_code()).kind, failure_kind::none);
}

TEST(standalone, error_codes_are_marked_as_permanent_and_found) {
    std::error_code const marked = asio_retry::permanent(std::error_code(asio::error::eof));
    EXPECT_NE(marked, asio::error::eof);
    EXPECT_STREQ(marked.category().name(), asio::error::get_misc_category().name());
    EXPECT_EQ(marked.message(), std::error_code(asio::error::eof).message());
    EXPECT_FALSE(asio_retry::worth_retrying(marked));
    EXPECT_EQ(marked.default_error_condition(), std::error_code(asio::error::eof).default_error_condition());
}

TEST(standalone, operations_complete_with_standard_error_codes) {
    asio::io_context io;
    asio_retry::virtual_time time(io);
    int attempts = 0;
    auto const refuse = [&]() -> std::error_code {
        return ++attempts < 3 ? asio::error::connection_refused : std::error_code();
    };
    std::error_code error = asio::error::eof;
    asio_retry::async_retry(io, refuse, asio_retry::profiles::aws_full_jitter(),
                            [&](std::error_code ec) { error = ec; });
    time.run();
    EXPECT_EQ(error, std::error_code());
    EXPECT_EQ(attempts, 3);
}

TEST(standalone, awaited_operations_throw_standard_errors) {
    asio::io_context io;
    asio_retry::virtual_time time(io);
    std::error_code caught;
    asio::co_spawn(
        io,
        [&]() -> asio::awaitable<void> {
            auto const refuse = []() -> asio::awaitable<int> {
                throw std::system_error(asio::error::connection_refused);
                co_return 1;
            };
            try {
                co_await asio_retry::async_retry(refuse, asio_retry::retry_policy().max_attempts(2));
            } catch (std::system_error const& e) {
                caught = e.code();
            }
        },
        asio::detached);
    time.run();
    EXPECT_EQ(caught, asio::error::connection_refused);
}

} // namespace
