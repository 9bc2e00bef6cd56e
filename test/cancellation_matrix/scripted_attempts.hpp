#pragma once

#include "matrix_case.hpp"

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/system/error_code.hpp>

#include <functional>
#include <utility>
#include <vector>

namespace asio_retry::test {

/// The attempts of one case, which do what the case says.
class scripted_attempts {
public:
    scripted_attempts(asio::io_context& io, matrix_case const& c)
        : case_(c)
        , timer_(io, asio::steady_timer::time_point::max()) {}

    unsigned calls = 0;
    std::vector<asio::cancellation_type_t> told;
    std::function<void()> on_call;

    bool pending() const { return pending_; }

    /// Whether there is an attempt that ends when asked to.
    bool can_end() const {
        return pending_ && !(case_.does == kind::never_completes && calls > case_.prior_failures());
    }

    /// Queues the completion of the pending attempt, which ends as it does by itself.
    void end() { end(own_result()); }

    template <typename Token>
    auto async_attempt(Token&& token) {
        return asio::async_initiate<Token, void(boost::system::error_code, int)>(
            [this](auto handler) {
                if (case_.does == kind::completes_inline)
                    return std::move(handler)(own_result(), number());
                slot_ = asio::get_associated_cancellation_slot(handler);
                begin(asio::bind_cancellation_slot(asio::cancellation_slot(), std::move(handler)));
            },
            token);
    }

    /// What a callable does before it starts the operation.
    void call();

    asio::awaitable<int> attempt();

private:
    using handler_type = asio::any_completion_handler<void(boost::system::error_code, int)>;

    void begin(handler_type handler);
    void end(boost::system::error_code const& result);
    void on_cancelled(asio::cancellation_type_t types);
    boost::system::error_code own_result() const;
    int number() const { return static_cast<int>(calls); }

    matrix_case const& case_;
    asio::steady_timer timer_; // holds the handler of the pending attempt
    asio::cancellation_slot slot_;
    boost::system::error_code result_;
    bool pending_ = false;
};

} // namespace asio_retry::test
