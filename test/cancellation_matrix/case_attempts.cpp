#include "case_attempts.hpp"

#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>

namespace asio_retry::test {

namespace {
using type = asio::cancellation_type;
}

void case_attempts::call() {
    ++calls;
    if (on_call)
        on_call();
    if (case_.does == kind::throws && own_result().failed())
        throw boost::system::system_error(own_result());
}

asio::awaitable<int> case_attempts::attempt() {
    if (case_.does == kind::disables_and_fails)
        co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
    else if (case_.passes_all)
        co_await asio::this_coro::reset_cancellation_state(asio::enable_total_cancellation());
    call();
    if (case_.does == kind::completes_inline) {
        if (own_result().failed())
            throw boost::system::system_error(own_result());
        co_return number();
    }
    try {
        co_return co_await async_attempt(asio::use_awaitable);
    } catch (boost::system::system_error const& e) {
        if (case_.does != kind::cleans_up || e.code() != aborted())
            throw;
    }
    co_await asio::this_coro::reset_cancellation_state();
    co_await asio::post(asio::use_awaitable);
    throw boost::system::system_error(asio::error::connection_reset);
}

void case_attempts::on_cancelled(type types) {
    told.push_back(types);
    if (calls <= case_.prior_failures())
        return;
    switch (case_.does) {
    case kind::honours_all:
    case kind::cleans_up:
        return end(aborted());
    case kind::honours_terminal:
        if ((types & type::terminal) != type::none)
            end(aborted());
        return;
    case kind::succeeds_when_cancelled:
        return end({});
    case kind::fails_when_cancelled:
        return end(asio::error::connection_reset);
    default: // takes no notice
        return;
    }
}

error_code case_attempts::own_result() const {
    return calls <= case_.failures() || case_.at.where == place::in_on_give_up ? refused() : error_code();
}

} // namespace asio_retry::test
