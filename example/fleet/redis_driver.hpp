#pragma once

#include "redis_connection.hpp"

#include <asio_retry/async_retry.hpp>
#include <asio_retry/traffic/fleet_budget.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace fleet {

/// Asks a Redis what a `fleet_budget` wants to know. It is a gate itself, which refuses nothing, so that it
/// hears of each retry that has been decided and asks at once:
///
///     auto const driver = std::make_shared<fleet::redis_driver>(io.get_executor(), server, "budget:orders");
///     asio::co_spawn(io, driver->run(), asio::detached);
///     policy.gate(asio_retry::all_gates({driver->budget(), driver}));
class redis_driver final : public asio_retry::retry_gate, public std::enable_shared_from_this<redis_driver> {
public:
    /// `greeting` are commands for each new connection, such as AUTH and SELECT.
    redis_driver(asio::any_io_executor const& executor, tcp::endpoint server, std::string key,
                 asio_retry::fleet_budget_options const& options = {},
                 std::vector<std::vector<std::string>> greeting = {})
        : strand_(asio::make_strand(executor))
        , wake_up_(strand_)
        , server_(server)
        , key_(std::move(key))
        , greeting_(std::move(greeting))
        , budget_(std::make_shared<asio_retry::fleet_budget>(options)) {}

    std::shared_ptr<asio_retry::fleet_budget> const& budget() const noexcept { return budget_; }

    /// Ends after `stop`, from any thread; a question that is under way then is answered first, or given up.
    asio::awaitable<void> run() {
        auto const self = shared_from_this();
        asio::any_io_executor const strand = strand_;
        auto const asking = [this]() -> asio::awaitable<void> {
            while (!is_stopped_) {
                if (auto const request = budget_->poll(now())) {
                    co_await ask(*request);
                } else {
                    wake_up_.expires_after(std::chrono::milliseconds(100)); // an interval may be over
                    co_await wake_up_.async_wait(asio::as_tuple(asio::use_awaitable));
                }
            }
        };
        co_await asio::co_spawn(strand, asking, asio::use_awaitable);
    }

    void stop() {
        asio::post(strand_, [self = shared_from_this()] {
            self->is_stopped_ = true;
            self->wake_up_.cancel();
        });
    }

    bool acquire(asio_retry::failure_kind, asio_retry::time_point) noexcept override {
        asio::post(strand_, [self = shared_from_this()] { self->wake_up_.cancel(); });
        return true;
    }

    std::uint64_t questions() const noexcept { return questions_; }
    std::uint64_t grants() const noexcept { return grants_; } ///< answers of at least one token
    std::uint64_t unavailable() const noexcept { return unavailable_; }
    std::uint64_t answers() const noexcept { return answers_; } ///< these and others
    bool is_shared() const noexcept { return is_shared_; }      ///< the last question was answered

private:
    static asio_retry::time_point now() { return std::chrono::steady_clock::now(); }

    asio::awaitable<void> ask(asio_retry::fleet_request request) {
        static auto const within_250_ms =
            asio_retry::retry_policy().max_attempts(1).attempt_timeout(std::chrono::milliseconds(250));
        auto const question = [&] { return granted(request); };
        ++questions_;
        std::optional<std::uint32_t> tokens;
        try {
            tokens = co_await asio_retry::async_retry(question, within_250_ms);
        } catch (std::exception const&) { // refused, reset, no answer in time, an error of the script
            connection_.reset();
        }
        if (tokens) {
            budget_->on_granted(*tokens, now());
            grants_ += *tokens != 0;
        } else {
            budget_->on_unavailable(now());
            ++unavailable_;
        }
        is_shared_ = tokens.has_value();
        ++answers_;
    }

    asio::awaitable<std::uint32_t> granted(asio_retry::fleet_request request) {
        if (!connection_) {
            tcp::socket socket(co_await asio::this_coro::executor);
            co_await socket.async_connect(server_, asio::use_awaitable);
            connection_.emplace(std::move(socket));
            for (std::vector<std::string> const& each : greeting_)
                co_await connection_->command(each);
        }
        std::vector<std::string> words{"EVAL", std::string(budget_->script()), "1", key_};
        for (std::string& argument : budget_->arguments(request))
            words.push_back(std::move(argument));
        redis_reply const reply = co_await connection_->command(std::move(words));
        if (reply->type != REDIS_REPLY_INTEGER)
            throw std::runtime_error("the script answers with an integer");
        co_return static_cast<std::uint32_t>(reply->integer);
    }

    asio::strand<asio::any_io_executor> strand_;
    asio::steady_timer wake_up_;
    tcp::endpoint const server_;
    std::string const key_;
    std::vector<std::vector<std::string>> const greeting_;
    std::shared_ptr<asio_retry::fleet_budget> const budget_;
    std::optional<redis_connection> connection_;
    bool is_stopped_ = false;
    std::atomic<bool> is_shared_ = true;
    std::atomic<std::uint64_t> questions_ = 0, answers_ = 0, grants_ = 0, unavailable_ = 0;
};

} // namespace fleet
