#pragma once

#include "support/forgotten_handler.hpp"
#include "support/scripted_operation.hpp"

#include <asio_retry/attempt.hpp>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace asio_retry::test {

/// Attempts, several at a time, that stay pending until the test completes them, and note how they are told to
/// stop: then, by default, they end with operation_aborted.
class many_attempts {
public:
    explicit many_attempts(asio::io_context& io)
        : io_(io) {}

    std::function<void(many_attempts&, std::uint64_t)> on_cancel =
        [](many_attempts& self, std::uint64_t number) { self.complete(number, aborted()); };

    std::uint64_t started = 0;
    std::map<std::uint64_t, std::vector<asio::cancellation_type_t>> told;

    bool pending(std::uint64_t number) const { return pending_.contains(number); }

    /// Queues the completion of an attempt.
    void complete(std::uint64_t number, error_code ec, int value = 0) {
        auto const found = pending_.find(number);
        auto finish = std::move(found->second);
        pending_.erase(found);
        finish(ec, value, false);
    }
    /// Completes it where the caller stands.
    void complete_here(std::uint64_t number, error_code ec, int value = 0) {
        auto const found = pending_.find(number);
        auto finish = std::move(found->second);
        pending_.erase(found);
        finish(ec, value, true);
    }
    /// Destroys its handler.
    void drop(std::uint64_t number) { pending_.erase(number); }

    template <typename Token>
    auto operator()(attempt const& which, Token&& token) {
        return asio::async_initiate<Token, void(error_code, int)>(
            [](auto handler, many_attempts* self, std::uint64_t number) {
                ++self->started;
                auto slot = asio::get_associated_cancellation_slot(handler);
                if (slot.is_connected())
                    slot.assign([self, number](asio::cancellation_type_t type) {
                        self->told[number].push_back(type);
                        if (self->pending(number) && self->on_cancel)
                            self->on_cancel(*self, number);
                    });
                auto const executor = asio::get_associated_executor(handler, self->io_.get_executor());
                self->keep(number, executor,
                           std::make_shared<kept_handler<decltype(handler)>>(std::move(handler)));
            },
            token, this, which.number);
    }

private:
    template <typename Executor>
    void keep(std::uint64_t number, Executor const& executor, std::shared_ptr<forgotten_handler> handler) {
        pending_[number] = [executor, handler = std::move(handler)](error_code ec, int value, bool here) {
            if (here)
                return handler->complete(ec, value);
            asio::post(executor, [handler, ec, value] { handler->complete(ec, value); });
        };
    }

    asio::io_context& io_;
    std::map<std::uint64_t, std::function<void(error_code, int, bool)>> pending_;
};

} // namespace asio_retry::test
