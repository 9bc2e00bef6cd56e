#pragma once

#include "broker.hpp"

// A time limit must not reach Boost.MQTT5: it would end the whole client.
inline auto const alone = asio::bind_cancellation_slot(asio::cancellation_slot(), asio::as_tuple);

inline asio::awaitable<void> publish(broker& to, std::string topic, std::string text,
                                     asio_retry::retry_policy policy) {
    auto const once = [=, &to]() -> asio::awaitable<mqtt5::reason_code> {
        if (to.refused)
            co_return to.refused;
        auto [ec, said, props] = co_await to.client.async_publish<mqtt5::qos_e::at_least_once>(
            topic, text, mqtt5::retain_e::no, mqtt5::publish_props(), alone);
        co_return to.answer(ec, said);
    };
    co_await to.retry(once, policy.deliver_at_once());
}
