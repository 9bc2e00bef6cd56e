#include <asio_retry/result.hpp>

#include <asio_retry/async_retry.hpp>
#include <asio_retry/retry.hpp>
#include <asio_retry/virtual_time.hpp>

#include <asio.hpp>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <system_error>
#include <type_traits>
#include <utility>

namespace {

using asio_retry::in_place_error;
using asio_retry::result;

std::error_code const refused = asio::error::connection_refused;

TEST(result, is_a_value) {
    result<std::string> const text = "text";
    EXPECT_TRUE(text);
    EXPECT_TRUE(text.has_value());
    EXPECT_FALSE(text.has_error());
    EXPECT_EQ(text.error(), std::error_code());
    EXPECT_EQ(*text, "text");
    EXPECT_EQ(text.value(), "text");
    EXPECT_EQ(text->size(), 4u);
    EXPECT_EQ(*result<int>(), 0);
}

TEST(result, is_an_error) {
    result<std::string> const failed = refused;
    EXPECT_FALSE(failed);
    EXPECT_TRUE(failed.has_error());
    EXPECT_EQ(failed.error(), refused);
    EXPECT_EQ(failed.operator->(), nullptr);
    EXPECT_EQ(result<std::string>(asio::error::eof).error(), asio::error::eof) << "of what converts to one";
    EXPECT_EQ(result<int>(in_place_error, 3, std::generic_category()).error(),
              std::error_code(3, std::generic_category()));
    try {
        failed.value();
        FAIL();
    } catch (std::system_error const& e) {
        EXPECT_EQ(e.code(), refused);
    }
}

TEST(result, of_an_integer_takes_no_enumeration_of_errors_for_a_value) {
    result<int> const failed = asio::error::connection_refused;
    EXPECT_EQ(failed.error(), refused);
    result<int> const one = 1;
    EXPECT_EQ(*one, 1);
}

TEST(result, gives_its_value_away) {
    result<std::unique_ptr<int>> text = std::make_unique<int>(3);
    std::unique_ptr<int> const moved = std::move(text).value();
    EXPECT_EQ(*moved, 3);
    EXPECT_EQ(*text, nullptr);
    result<std::unique_ptr<int>> other(std::make_unique<int>(4));
    EXPECT_EQ(**std::move(other), 4);
}

TEST(result, compares) {
    EXPECT_EQ(result<int>(1), result<int>(1));
    EXPECT_NE(result<int>(1), result<int>(2));
    EXPECT_NE(result<int>(1), result<int>(refused));
    EXPECT_EQ(result<int>(refused), result<int>(refused));
    EXPECT_EQ(result<void>(), result<void>());
    EXPECT_NE(result<void>(), result<void>(refused));
}

TEST(result, may_be_of_nothing) {
    result<void> const done;
    EXPECT_TRUE(done);
    EXPECT_NO_THROW(done.value());
    EXPECT_EQ(done.error(), std::error_code());
    result<void> const failed = refused;
    EXPECT_FALSE(failed.has_value());
    EXPECT_TRUE(failed.has_error());
    EXPECT_EQ(failed.error(), refused);
    EXPECT_THROW(failed.value(), std::system_error);
    EXPECT_TRUE(result<void>(in_place_error, 0, std::generic_category()).has_error()) << "it was said so";
}

TEST(result, of_an_operation_is_retried) {
    asio::io_context io;
    asio_retry::virtual_time time(io);
    int attempts = 0;
    auto const operation = [&]() -> result<std::string> {
        if (++attempts < 3)
            return refused;
        return "value";
    };
    std::string value;
    asio_retry::async_retry(io, operation, asio_retry::retry_policy(),
                            [&](std::error_code ec, std::string text) {
                                EXPECT_FALSE(ec);
                                value = std::move(text);
                            });
    time.run();
    EXPECT_EQ(value, "value");
    EXPECT_EQ(attempts, 3);
    static_assert(std::is_same_v<decltype(asio_retry::retry(operation, asio_retry::retry_policy())),
                                 result<std::string>>);
}

} // namespace
