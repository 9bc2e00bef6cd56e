#pragma once

#include "support/post_completion.hpp"

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/error_code.hpp>
#include <boost/system/system_error.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace asio_retry::test {

namespace asio = boost::asio;
using boost::system::error_code;

inline error_code refused() {
    return asio::error::connection_refused;
}
inline error_code aborted() {
    return asio::error::operation_aborted;
}
inline error_code timed_out() {
    return asio::error::timed_out;
}

/// How the attempts end, one after the other; success when the errors are used up.
struct script {
    std::vector<error_code> errors;
    std::size_t attempts = 0;

    static script failures(std::size_t count) { return {std::vector<error_code>(count, refused())}; }

    error_code next() {
        std::size_t const index = attempts++;
        return index < errors.size() ? errors[index] : error_code();
    }
};

/// An asynchronous operation `void(error_code, int)` that posts the script's next error and the number of
/// attempts.
template <typename Token>
auto async_scripted(asio::io_context& io, script& s, Token&& token) {
    return asio::async_initiate<Token, void(error_code, int)>(
        [](auto handler, asio::io_context* context, script* played) {
            error_code const ec = played->next();
            post_completion(*context, std::move(handler), ec, static_cast<int>(played->attempts));
        },
        token, &io, &s);
}

/// The same, completing inside the initiating function.
template <typename Token>
auto async_inline(script& s, Token&& token) {
    return asio::async_initiate<Token, void(error_code, int)>(
        [](auto handler, script* played) {
            error_code const ec = played->next();
            std::move(handler)(ec, static_cast<int>(played->attempts));
        },
        token, &s);
}

/// A coroutine that takes a turn of its executor, and throws the script's next error.
inline asio::awaitable<void> awaitable_scripted(script& s) {
    error_code const ec = s.next();
    co_await asio::post(asio::use_awaitable);
    if (ec)
        throw boost::system::system_error(ec);
}

/// An operation `void(error_code)` that fails, on the executor of its handler.
struct refusing_operation {
    template <typename Token>
    auto operator()(Token&& token) const {
        return asio::async_initiate<Token, void(error_code)>(
            [](auto handler) {
                auto const executor = asio::get_associated_executor(handler);
                post_completion(executor, std::move(handler), refused());
            },
            token);
    }
};

/// Attempts that stay pending until the test completes them, and note the cancellation they are sent.
class pending_attempts {
public:
    explicit pending_attempts(asio::io_context& io)
        : io_(io) {}

    /// What an attempt does when it is cancelled: by default, it ends with operation_aborted.
    std::function<void(pending_attempts&, asio::cancellation_type_t)> on_cancel =
        [](pending_attempts& self, asio::cancellation_type_t) { self.complete(aborted()); };

    std::size_t started = 0;
    std::vector<asio::cancellation_type_t> cancellations;

    bool pending() const { return static_cast<bool>(complete_); }

    /// Queues the completion of the pending attempt.
    void complete(error_code ec, int value = 0) { std::exchange(complete_, nullptr)(ec, value); }

    template <typename Token>
    auto async_attempt(Token&& token) {
        return asio::async_initiate<Token, void(error_code, int)>(
            [](auto handler, pending_attempts* self) { self->begin(std::move(handler)); }, token, this);
    }
    template <typename Handler>
    void begin(Handler handler) {
        ++started;
        auto slot = asio::get_associated_cancellation_slot(handler);
        if (slot.is_connected())
            slot.assign([this](asio::cancellation_type_t type) {
                cancellations.push_back(type);
                if (pending() && on_cancel)
                    on_cancel(*this, type);
            });
        auto shared = std::make_shared<Handler>(std::move(handler));
        complete_ = [shared, io = &io_](error_code ec, int value) {
            post_completion(*io, std::move(*shared), ec, value);
        };
    }

private:
    asio::io_context& io_;
    std::function<void(error_code, int)> complete_;
};

/// What a completion handler was given.
struct completion_record {
    int count = 0;
    error_code error;
    int value = 0;

    auto handler() {
        return [this](error_code ec, int v) {
            ++count;
            error = ec;
            value = v;
        };
    }
};

} // namespace asio_retry::test
