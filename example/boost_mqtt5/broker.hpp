#pragma once

#include <asio_retry/async_retry.hpp>
#include <boost/asio.hpp>
#include <boost/mqtt5.hpp>

namespace asio = boost::asio;
namespace mqtt5 = boost::mqtt5;

// What the broker has said at last: a code of 0x80 or more, such as "not authorized".
struct refusal : std::runtime_error {
    explicit refusal(mqtt5::reason_code said)
        : std::runtime_error(said.message())
        , code(said) {}
    mqtt5::reason_code code;
};

struct broker {
    using clock = std::chrono::steady_clock;
    struct logger { // Boost.MQTT5 tells its logger alone what happens, and connects again for ever
        broker* by;
        void at_connack(mqtt5::reason_code said, bool, mqtt5::connack_props const&) {
            if (!said)
                by->connected = clock::now();
            by->hear(said);
        }
        void at_disconnect(mqtt5::reason_code said, mqtt5::disconnect_props const&) { by->hear(said); }
        void at_tcp_connect(boost::system::error_code ec, asio::ip::tcp::endpoint) {
            if (ec) // the broker is away: nobody has thrown this client out
                by->cut_short = 0;
        }
        void at_resolve(auto const&...) { by->count_short(); }
    };
    asio::any_io_executor executor;
    mqtt5::mqtt_client<asio::ip::tcp::socket, std::monostate, logger> client{executor, {}, {this}};
    mqtt5::reason_code refused = mqtt5::reason_codes::success; // then the client never answers
    std::optional<clock::time_point> connected = std::nullopt;
    int cut_short = 0; // connections in a row, each of less than 5 s
    int most_cut_short = 5;

    void run() {
        client.cancel(); // if it runs
        refused = mqtt5::reason_codes::success;
        connected.reset();
        cut_short = 0;
        client.async_run(asio::detached);
    }
    void hear(mqtt5::reason_code said) {
        if (judge(said).what.kind == asio_retry::failure_kind::permanent)
            refused = said, client.cancel();
    }
    void count_short() { // before each connection
        if (!connected)
            return;
        cut_short = clock::now() - *connected < std::chrono::seconds(5) ? cut_short + 1 : 0;
        connected.reset();
        if (cut_short == most_cut_short) // another client may have this id; the broker does not say
            hear(mqtt5::reason_codes::session_taken_over);
    }
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
        if (auto const said = co_await asio_retry::async_retry(judged, policy))
            throw refusal(said);
    }
};
