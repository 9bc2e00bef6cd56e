#pragma once

#include <asio_retry/async_retry.hpp>
#include <asio_retry/permanent.hpp>
#include <boost/mqtt5.hpp>

namespace asio = boost::asio;
namespace mqtt5 = boost::mqtt5;
// A time limit must not reach Boost.MQTT5: it would end the whole client.
inline auto const alone = asio::bind_cancellation_slot(asio::cancellation_slot(), asio::as_tuple);

struct broker {
    struct refusals { // Boost.MQTT5 tells its logger alone of a refusal, and connects again for ever
        broker* by;
        void at_connack(mqtt5::reason_code said, bool, mqtt5::connack_props const&) {
            if (is_final(said))
                by->refused = said, by->client.cancel();
        }
    };
    asio::any_io_executor executor;
    mqtt5::mqtt_client<asio::ip::tcp::socket, std::monostate, refusals> client{executor, {}, {this}};
    mqtt5::reason_code refused = mqtt5::reason_codes::success;

    static bool is_final(mqtt5::reason_code said) {
        return asio_retry::classify_mqtt(said.value()).kind == asio_retry::failure_kind::permanent;
    }
    void check(boost::system::error_code ec, mqtt5::reason_code said = mqtt5::reason_codes::success) {
        if (refused || (!ec && is_final(said)))
            throw asio_retry::permanent(std::runtime_error((refused ? refused : said).message()));
        if (ec || said) // a code of 0x80 or more, such as "busy"
            throw boost::system::system_error(ec ? ec : make_error_code(asio::error::try_again));
    }
    asio::awaitable<void> publish(std::string topic, std::string text, asio_retry::retry_policy policy) {
        auto const once = [=, this]() -> asio::awaitable<void> {
            check({}); // a client that was refused never answers
            auto [ec, said, props] = co_await client.async_publish<mqtt5::qos_e::at_least_once>(
                topic, text, mqtt5::retain_e::no, mqtt5::publish_props(), alone);
            check(ec, said);
        };
        co_await asio_retry::async_retry(once, policy.deliver_at_once());
    }
};
