#pragma once

#include "broker.hpp"

#include <boost/asio/experimental/channel.hpp>

// `topic` is a filter that matches `probe`, a topic to which nobody else publishes.
inline asio::awaitable<void> listen(broker& from, std::string topic, std::string probe,
                                    std::function<void(std::string)> hear, asio_retry::retry_policy policy) {
    using boost::system::error_code;
    using reply = asio::awaitable<mqtt5::reason_code>;
    using channel = asio::experimental::channel<void(error_code, error_code, mqtt5::reason_code)>;
    auto const answers = std::make_shared<channel>(from.executor, 1);
    // A time limit ends an attempt, and the client goes on asking for the next one.
    auto once = [=, &from, asked = false](asio_retry::attempt attempt) mutable -> reply {
        if (from.refused)
            co_return from.refused;
        auto subscribed = [answers, probe, &from](error_code ec, auto const& said, auto const&) {
            auto tell = [answers](error_code failed, mqtt5::reason_code no, auto const&) {
                answers->try_send(error_code(), failed, no);
            };
            if (ec || said.at(0))
                tell(ec, said.at(0), 0);
            else // the broker may grant a topic that its ACL forbids, and never say so
                from.client.async_publish<mqtt5::qos_e::at_least_once>(probe, "", mqtt5::retain_e::no,
                                                                       mqtt5::publish_props(), std::move(tell));
        };
        if (!std::exchange(asked, true)) { // moved, as Boost.MQTT5 1.88 would keep a reference
            mqtt5::subscribe_topic what{topic, {}};
            what.sub_opts.no_local = mqtt5::no_local_e::no; // else the probe does not come back
            from.client.async_subscribe(what, mqtt5::subscribe_props(), std::move(subscribed));
        }
        auto [failed, said] = co_await answers->async_receive(asio::use_awaitable);
        asked = false;
        if (auto const no = from.answer(failed, said))
            co_return no;
        for (;;) { // until session_expired: the broker is back and knows of no subscription
            auto [ec, where, text, more] =
                co_await from.client.async_receive(asio::as_tuple(asio::use_awaitable));
            if (ec)
                co_return from.answer(ec, {});
            attempt.mark_healthy(); // the probe has come, or another message
            attempt.progress();
            if (where != probe)
                hear(text);
        }
    };
    co_await from.retry(once, policy);
}
