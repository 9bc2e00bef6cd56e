#pragma once

#include <asio_retry/async_retry.hpp>
#include <boost/mqtt5.hpp>

namespace asio = boost::asio;
namespace mqtt5 = boost::mqtt5;

struct broker {
    struct refusals { // Boost.MQTT5 tells its logger alone of a refusal, and connects again for ever
        broker* by;
        void at_connack(mqtt5::reason_code said, bool, mqtt5::connack_props const&) {
            if (judge(said).what.kind == asio_retry::failure_kind::permanent)
                by->refused = said, by->client.cancel();
        }
    };
    asio::any_io_executor executor;
    mqtt5::mqtt_client<asio::ip::tcp::socket, std::monostate, refusals> client{executor, {}, {this}};
    mqtt5::reason_code refused = mqtt5::reason_codes::success; // then the client never answers

    static asio_retry::judgement judge(mqtt5::reason_code said) {
        auto const what = asio_retry::classify_mqtt(said.value());
        return {what.kind != asio_retry::failure_kind::none, what, {}};
    }
    mqtt5::reason_code answer(boost::system::error_code ec, mqtt5::reason_code said) const {
        if (ec && !refused)
            throw boost::system::system_error(ec);
        return refused ? refused : said;
    }
    asio::awaitable<void> retry(auto once, asio_retry::retry_policy policy) {
        auto const judged = asio_retry::fail_if(once, judge);
        auto const said = co_await asio_retry::async_retry(judged, policy);
        if (said) // a code of 0x80 or more, such as "not authorized"
            throw std::runtime_error(said.message());
    }
};
