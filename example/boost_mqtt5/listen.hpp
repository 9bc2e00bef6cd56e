#pragma once

#include "broker.hpp"

inline asio::awaitable<void> listen(broker& from, std::string topic, std::function<void(std::string)> hear,
                                    asio_retry::retry_policy policy) {
    auto const once = [=, &from](asio_retry::attempt attempt) -> asio::awaitable<void> {
        from.check({});
        mqtt5::subscribe_topic const wanted{topic, {}};
        auto [failed, codes, props] =
            co_await from.client.async_subscribe(wanted, mqtt5::subscribe_props(), alone);
        from.check(failed, failed ? mqtt5::reason_codes::empty : codes.at(0));
        attempt.mark_healthy();
        for (;;) { // until session_expired: the broker is back and knows of no subscription
            auto [ec, where, text, more] =
                co_await from.client.async_receive(asio::as_tuple(asio::use_awaitable));
            from.check(ec);
            attempt.progress();
            hear(text);
        }
    };
    co_await asio_retry::async_retry(once, policy.deliver_at_once());
}
