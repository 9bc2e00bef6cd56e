#pragma once

#include "broker.hpp"

#include <boost/asio/experimental/channel.hpp>

inline asio::awaitable<void> listen(broker& from, std::string topic, std::function<void(std::string)> hear,
                                    asio_retry::retry_policy policy) {
    using boost::system::error_code;
    using reply = asio::awaitable<mqtt5::reason_code>;
    using channel = asio::experimental::channel<void(error_code, error_code, mqtt5::reason_code)>;
    auto const answers = std::make_shared<channel>(from.executor, 1);
    // A time limit ends an attempt, and the client goes on asking for the next one.
    auto once = [=, &from, asked = false](asio_retry::attempt attempt) mutable -> reply {
        if (from.refused)
            co_return from.refused;
        if (!std::exchange(asked, true))
            from.client.async_subscribe(mqtt5::subscribe_topic{topic, {}}, mqtt5::subscribe_props(),
                                        [answers](error_code ec, auto const& said, auto const&) {
                                            answers->try_send(error_code(), ec, said.at(0));
                                        });
        auto [failed, said] = co_await answers->async_receive(asio::use_awaitable);
        asked = false;
        if (auto const no = from.answer(failed, said))
            co_return no;
        attempt.mark_healthy();
        for (;;) { // until session_expired: the broker is back and knows of no subscription
            auto [ec, where, text, more] =
                co_await from.client.async_receive(asio::as_tuple(asio::use_awaitable));
            if (ec)
                co_return from.answer(ec, {});
            attempt.progress();
            hear(text);
        }
    };
    co_await from.retry(once, policy);
}
