#pragma once

#include "broker.hpp"

inline asio::awaitable<void> listen(broker& from, std::string topic, std::function<void(std::string)> hear,
                                    asio_retry::retry_policy policy) {
    auto const once = [=, &from](asio_retry::attempt attempt) -> asio::awaitable<mqtt5::reason_code> {
        if (from.refused)
            co_return from.refused;
        mqtt5::subscribe_topic const wanted{topic, {}};
        auto [failed, said, props] =
            co_await from.client.async_subscribe(wanted, mqtt5::subscribe_props(), alone);
        if (auto const no = from.answer(failed, said.at(0)))
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
    co_await from.retry(once, policy.deliver_at_once());
}
