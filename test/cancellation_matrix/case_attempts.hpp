#pragma once

#include "matrix_case.hpp"
#include "support/scripted_operation.hpp"

#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/system/error_code.hpp>

#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace asio_retry::test {

/// Attempts that stay pending until they do what the case says.
class case_attempts {
public:
    case_attempts(asio::io_context& io, matrix_case const& c)
        : case_(c)
        , io_(io)
        , attempts_(io) {
        attempts_.on_cancel = [this](pending_attempts&, asio::cancellation_type_t types) {
            on_cancelled(types);
        };
    }
    /// What is pending is destroyed with its context.
    ~case_attempts() {
        if (pending())
            end(aborted());
    }
    case_attempts(case_attempts const&) = delete;
    case_attempts& operator=(case_attempts const&) = delete;

    unsigned calls = 0;
    std::vector<asio::cancellation_type_t> told;
    std::function<void()> on_call;

    bool pending() const { return attempts_.pending(); }

    /// Whether there is an attempt that ends when asked to.
    bool can_end() const {
        return pending() && !(case_.does == kind::never_completes && calls > case_.prior_failures());
    }

    /// Queues the completion of the pending attempt, which ends as it does by itself.
    void end() { end(own_result()); }

    template <typename Token>
    auto async_attempt(Token&& token) {
        return asio::async_initiate<Token, void(error_code, int)>(
            [this](auto handler) {
                if (case_.does == kind::completes_inline)
                    return std::move(handler)(own_result(), number());
                work_.emplace(io_.get_executor());
                attempts_.begin(std::move(handler));
            },
            token);
    }

    /// What a callable does before it starts the operation.
    void call();

    asio::awaitable<int> attempt();

private:
    void end(error_code const& result) {
        attempts_.complete(result, number());
        work_.reset();
    }
    void on_cancelled(asio::cancellation_type_t types);
    error_code own_result() const;
    int number() const { return static_cast<int>(calls); }

    matrix_case const& case_;
    asio::io_context& io_;
    pending_attempts attempts_;
    std::optional<asio::executor_work_guard<asio::io_context::executor_type>> work_;
};

} // namespace asio_retry::test
