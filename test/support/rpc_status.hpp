#pragma once

#include <asio_retry/error.hpp>
#include <asio_retry/failure_class.hpp>
#include <asio_retry/failure_of.hpp>

#include "support/post_completion.hpp"

#include <boost/asio/async_result.hpp>
#include <boost/asio/io_context.hpp>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace asio_retry::test {

/// A disposition as gRPC has one: a number and a text, and neither an error_code nor an exception.
struct rpc_status {
    int number = 0;
    std::string text;
    error_code local; ///< of a failure that no server has told

    friend bool operator==(rpc_status const&, rpc_status const&) = default;
};

inline rpc_status unavailable(std::string text = "try later") {
    return {14, std::move(text), {}};
}

/// Names of the library that this namespace has too, and that take its types.
template <typename... Anything>
void set_failure(rpc_status const&, Anything&&...) = delete;
template <typename... Anything>
void error_in(rpc_status const&, Anything&&...) = delete;

/// Failed as the code says.
inline rpc_status local_status(error_code const& code) {
    return {code ? 2 : 0, code ? "local" : "", code};
}

/// The code of a status that a server has told.
class rpc_category_type final : public boost::system::error_category {
public:
    char const* name() const noexcept override { return "test.rpc"; }
    std::string message(int value) const override { return "rpc " + std::to_string(value); }
};
inline error_code rpc_code(int number) {
    static rpc_category_type const category;
    return error_code(number, category);
}

/// An asynchronous operation `void(rpc_status, int)` that posts the next status, and the number of attempts.
struct scripted_calls {
    std::vector<rpc_status> statuses; ///< success when they are used up
    std::size_t made = 0;

    rpc_status next() {
        std::size_t const index = made++;
        return index < statuses.size() ? statuses[index] : rpc_status();
    }

    template <typename Token>
    auto async_call(boost::asio::io_context& io, Token&& token) {
        return boost::asio::async_initiate<Token, void(rpc_status, int)>(
            [](auto handler, boost::asio::io_context* context, scripted_calls* calls) {
                rpc_status next = calls->next();
                post_completion(*context, std::move(handler), std::move(next), static_cast<int>(calls->made));
            },
            token, &io, this);
    }
};

} // namespace asio_retry::test

template <>
struct asio_retry::failure_of<asio_retry::test::rpc_status> {
    using status = asio_retry::test::rpc_status;

    static bool failed(status const& s) noexcept { return s.number != 0; }
    static error_code code(status const& s) { return s.local ? s.local : asio_retry::test::rpc_code(s.number); }
    static failure_class classify(status const& s) {
        return s.local ? asio_retry::classify(s.local) : classify_grpc(s.number);
    }
    static status make(error_code const& code) { return asio_retry::test::local_status(code); }
};
