// The recipe of example/boost_mqtt5 before a real Mosquitto that is killed, stopped and started again under
// load, and that refuses its client.
#include "boost_mqtt5/broker.hpp"
#include "boost_mqtt5/listen.hpp"
#include "boost_mqtt5/publish.hpp"
#include "boost_mqtt5/stay.hpp"
#include "child_process.hpp"
#include "mqtt_process.hpp"
#include "scripted_broker.hpp"

#include <asio_retry/async_retry.hpp>
#include <asio_retry/failure_class.hpp>
#include <asio_retry/retry_event.hpp>

#include <boost/asio.hpp>
#include <boost/mqtt5.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <iostream>
#include <map>
#include <string>
#include <thread>
#include <vector>

namespace asio_retry::test {
namespace {

namespace asio = boost::asio;
namespace mqtt5 = boost::mqtt5;
using boost::system::system_error;
using clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

std::string mqtt_program;    // mosquitto
std::string publish_program; // example_boost_mqtt5

std::int64_t in_ms(clock::duration d) {
    return std::chrono::duration_cast<std::chrono::milliseconds>(d).count();
}

std::string text_of(std::exception_ptr e) {
    try {
        if (e)
            std::rethrow_exception(e);
        return "";
    } catch (std::exception const& thrown) {
        return thrown.what();
    }
}

retry_policy patient_publisher() {
    return retry_policy()
        .backoff(exponential(50ms).cap(2s))
        .unlimited_attempts()
        .total_timeout(30s)
        .retry_if(worth_retrying);
}

retry_policy patient_listener() {
    return retry_policy()
        .backoff(exponential(50ms).cap(2s))
        .unlimited_attempts()
        .reset_after(1s)
        .setup_timeout(8s)
        .idle_timeout(5s)
        .retry_if(worth_retrying);
}

class mqtt_test : public testing::Test {
protected:
    mqtt_test()
        : server(mqtt_program, "right") {}

    void set_up(broker& who, std::string const& name, std::string const& password = "right") const {
        who.client.brokers("127.0.0.1", server.port()).credentials(name, "sensor", password).keep_alive(2);
    }

    void run(broker& who, std::string const& name, std::string const& password = "right") const {
        set_up(who, name, password);
        who.run();
    }

    mqtt_process server;
};

TEST_F(mqtt_test, wrong_credentials_end_at_once_and_no_operation_stays_silent) {
    asio::io_context io(1);
    broker who{io.get_executor()};
    run(who, "wrong", "wrong");
    int retries = 0;
    std::vector<std::string> ends;
    auto const begin = clock::now();
    auto const note = [&](std::exception_ptr e) { ends.push_back(text_of(e)); };
    auto const counted = [&](retry_policy const& policy) {
        return policy.on_retry([&](retry_event const&) { ++retries; });
    };
    asio::co_spawn(io, publish(who, "open/a", "1", counted(patient_publisher())), note);
    asio::co_spawn(io,
                   listen(who, "open/#", "open/probe", [](std::string) {}, counted(patient_listener())), note);
    io.run();
    EXPECT_EQ(ends, std::vector<std::string>(2, mqtt5::reason_codes::not_authorized.message()));
    EXPECT_EQ(retries, 0);
    std::cout << "wrong credentials: \"" << ends.at(0) << "\" after " << in_ms(clock::now() - begin) << " ms\n";

    io.restart();
    ends.clear();
    asio::co_spawn(io, publish(who, "open/a", "1", counted(patient_publisher())), note);
    io.run();
    EXPECT_EQ(ends.size(), 1u) << "later ones are told too";
}

TEST_F(mqtt_test, the_program_of_the_guide_publishes_or_says_that_it_may_not) {
    auto const status = [&](char const* password) {
        return child_process({publish_program, std::to_string(server.port()), password}, "/dev/null").wait();
    };
    EXPECT_EQ(status("right"), 0);
    EXPECT_EQ(status("wrong"), 1);
}

TEST_F(mqtt_test, credentials_that_are_withdrawn_end_a_running_client) {
    asio::io_context io(1);
    broker who{io.get_executor()};
    run(who, "sensor");
    std::vector<std::string> ends;
    auto const note = [&](std::exception_ptr e) { ends.push_back(text_of(e)); };
    asio::co_spawn(io, listen(who, "open/#", "open/probe", [](std::string) {}, patient_listener()), note);
    auto const session = [&]() -> asio::awaitable<void> {
        co_await publish(who, "open/a", "1", patient_publisher());
        server.end(SIGKILL);
        server.set_password("other");
        server.start();
        co_await publish(who, "open/a", "2", patient_publisher());
    };
    asio::co_spawn(io, session(), note);
    io.run();
    EXPECT_EQ(ends, std::vector<std::string>(2, mqtt5::reason_codes::not_authorized.message()));
}

TEST_F(mqtt_test, what_is_forbidden_or_no_topic_ends_at_once_and_the_client_goes_on) {
    asio::io_context io(1);
    broker who{io.get_executor()};
    run(who, "sensor");
    int retries = 0;
    std::vector<std::string> ends;
    auto const session = [&]() -> asio::awaitable<void> {
        auto const policy = patient_publisher().on_retry([&](retry_event const&) { ++retries; });
        for (char const* const topic : {"closed/a", "open/#", "open/a"}) {
            try {
                co_await publish(who, topic, "1", policy);
                ends.emplace_back("published");
            } catch (std::exception const& e) {
                ends.emplace_back(e.what());
            }
        }
        who.client.cancel();
    };
    asio::co_spawn(io, session(), asio::detached);
    io.run();
    ASSERT_EQ(ends.size(), 3u);
    EXPECT_EQ(ends[0], mqtt5::reason_codes::not_authorized.message());
    EXPECT_NE(ends[1].find("Topic is invalid"), std::string::npos) << ends[1];
    EXPECT_EQ(ends[2], "published");
    EXPECT_EQ(retries, 0);
}

TEST_F(mqtt_test, a_broker_that_is_gone_costs_the_time_limit_and_not_the_client) {
    asio::io_context io(1);
    broker who{io.get_executor()};
    run(who, "sensor");
    std::string end;
    auto const session = [&]() -> asio::awaitable<void> {
        co_await publish(who, "open/a", "1", patient_publisher());
        server.end(SIGKILL);
        try {
            co_await publish(who, "open/a", "2", patient_publisher().total_timeout(500ms));
        } catch (system_error const& e) {
            EXPECT_EQ(e.code(), asio::error::timed_out);
            end = "timed out";
        }
        server.start();
        co_await publish(who, "open/a", "3", patient_publisher());
        who.client.cancel();
    };
    asio::co_spawn(io, session(), [&](std::exception_ptr e) { EXPECT_EQ(text_of(e), ""); });
    io.run();
    EXPECT_EQ(end, "timed out");
}

// Mosquitto 2.0 grants it, and never says that no message will come.
TEST_F(mqtt_test, a_subscription_that_is_granted_and_forbidden_ends_by_its_probe) {
    asio::io_context io(1);
    broker who{io.get_executor()};
    run(who, "sensor");
    std::string heard, closed, deaf;
    std::vector<failure_kind> kinds;
    auto const hear = [&](std::string const& text) { heard += text; };
    auto const policy = patient_listener().setup_timeout(300ms).max_attempts(3).on_retry(
        [&](retry_event const& event) { kinds.push_back(event.kind); });
    auto const session = [&]() -> asio::awaitable<void> {
        for (char const* const topic : {"closed/#", "deaf/#"}) {
            mqtt5::subscribe_topic const what{topic, {}}; // braces beside co_await are too much for g++ 12
            auto const [ec, said, props] = co_await who.client.async_subscribe(
                what, mqtt5::subscribe_props(), asio::as_tuple(asio::use_awaitable));
            EXPECT_FALSE(ec) << ec.message();
            EXPECT_FALSE(said.at(0)) << "this broker refuses it: mend the page";
        }
        co_await publish(who, "deaf/a", "1", patient_publisher()); // which it may
        try {
            co_await listen(who, "deaf/#", "deaf/probe", hear, policy);
        } catch (system_error const& e) {
            EXPECT_EQ(e.code(), asio::error::timed_out);
            deaf = "timed out";
        }
        EXPECT_EQ(kinds, std::vector<failure_kind>(2, failure_kind::timeout));
        try {
            co_await listen(who, "closed/#", "closed/probe", hear, policy.setup_timeout(8s));
        } catch (refusal const& e) {
            closed = e.what();
        }
        EXPECT_EQ(kinds.size(), 2u) << "the probe is forbidden, and the broker says so";
    };
    asio::co_spawn(io, session(), [&](std::exception_ptr e) {
        EXPECT_EQ(text_of(e), "");
        who.client.cancel();
    });
    io.run();
    EXPECT_EQ(closed, mqtt5::reason_codes::not_authorized.message());
    EXPECT_EQ(deaf, "timed out") << "the probe is accepted, and does not come";
    EXPECT_EQ(heard, "");
}

TEST_F(mqtt_test, a_probe_makes_a_quiet_subscription_healthy_and_is_no_message) {
    asio::io_context io(1);
    broker who{io.get_executor()};
    run(who, "sensor");
    asio::cancellation_signal end;
    int retries = 0;
    std::vector<std::string> heard;
    auto const hear = [&](std::string const& text) {
        heard.push_back(text);
        asio::post(io, [&] { end.emit(asio::cancellation_type::terminal); });
    };
    auto const policy = patient_listener().idle_timeout(1s).max_attempts(4).reset_after(1ms).on_retry(
        [&](retry_event const&) { // for the fifth time a subscription has been silent, and each was healthy
            if (++retries == 5)
                asio::co_spawn(io, publish(who, "open/a", "1", patient_publisher()), asio::detached);
        });
    asio::co_spawn(io, listen(who, "open/#", "open/probe", hear, policy),
                   asio::bind_cancellation_slot(end.slot(), [&](std::exception_ptr) { who.client.cancel(); }));
    io.run();
    EXPECT_EQ(heard, std::vector<std::string>{"1"});
    EXPECT_GE(retries, 5);
}

/// Two programs that have the same client id by mistake.
class mqtt_twins : public mqtt_test {
protected:
    struct twin {
        broker who;
        asio::cancellation_signal end;
        int again = 0;
        std::string heard, said;
    };

    void start(twin& one, twin& other) {
        set_up(one.who, "twin");
        one.who.most_cut_short = 2;
        auto const hear = [&](std::string const& text) {
            one.heard += text;
            asio::post(io, [&] { one.end.emit(asio::cancellation_type::terminal); });
        };
        auto const work = [&one, hear] {
            return listen(one.who, "open/#", "open/probe", hear, patient_listener());
        };
        auto const policy =
            running.backoff(exponential(10ms).cap(1s)).max_attempts(2).on_retry([&one](retry_event const&) {
                ++one.again;
            });
        auto const ended = [&](std::exception_ptr e) {
            one.said = text_of(e);
            one.who.client.cancel();
            if (other.said.empty())
                asio::co_spawn(io, publish(other.who, "open/a", "2", patient_publisher()), asio::detached);
        };
        asio::co_spawn(io, stay(one.who, work, policy), asio::bind_cancellation_slot(one.end.slot(), ended));
    }

    asio::io_context io{1};
    twin first{{io.get_executor()}, {}, 0, {}, {}}, second{{io.get_executor()}, {}, 0, {}, {}};
};

// Each throws the other out, and Mosquitto says so to neither.
TEST_F(mqtt_twins, do_not_throw_each_other_out_for_ever) {
    start(first, second);
    start(second, first);
    io.run();
    bool const first_has_won = !first.heard.empty();
    twin const& winner = first_has_won ? first : second;
    twin const& loser = first_has_won ? second : first;
    EXPECT_EQ(loser.said, mqtt5::reason_codes::session_taken_over.message());
    EXPECT_EQ(loser.again, 1);
    EXPECT_LE(winner.again, 1);
    EXPECT_EQ(winner.heard, "2") << "it goes on";
    EXPECT_EQ(loser.heard, "");
}

TEST_F(mqtt_test, a_client_that_stood_still_and_was_thrown_out_without_a_word_goes_on) {
    asio::io_context io(1);
    broker who{io.get_executor()};
    run(who, "sensor");
    std::string end = "nothing";
    auto const once = [&](char const* text) {
        asio::co_spawn(io, publish(who, "open/a", text, patient_publisher()), [&](std::exception_ptr e) {
            end = text_of(e);
            io.stop();
        });
        io.run();
        io.restart();
    };
    once("1");
    EXPECT_EQ(end, "");
    for (auto const begin = clock::now(); server.log().find("exceeded timeout") == std::string::npos;) {
        ASSERT_LT(clock::now() - begin, 60s) << server.log();
        std::this_thread::sleep_for(10ms);
    }
    end = "nothing";
    once("2");
    EXPECT_EQ(end, "");
    EXPECT_FALSE(who.refused);
    who.client.cancel();
    io.run();
}

/// A client that leaves messages with QoS 2 half acknowledged, which Boost.MQTT5 does not. Its topics and texts
/// are short.
class half_hearted_client {
public:
    explicit half_hearted_client(unsigned short port) {
        socket_.connect({asio::ip::address_v4::loopback(), port});
        send(0x10, text("MQTT") + "\x05\xc2" + zeros(3) + text("c") + text("sensor") + text("right"));
    }

    void subscribe(std::string const& topic) { send(0x82, number(1) + zeros(1) + text(topic) + zeros(1)); }
    void publish(char id, std::string const& message) {
        send(0x34, text("open/a") + number(id) + zeros(1) + message);
    }
    void release(char id) { send(0x62, number(id)); }

    /// Of the next packet of this kind, what follows its length. Others are skipped.
    std::string next(unsigned char kind) {
        for (;;) {
            std::array<unsigned char, 2> head{};
            asio::read(socket_, asio::buffer(head)); // with a length below 128
            std::string body(head[1], '\0');
            asio::read(socket_, asio::buffer(body));
            if (head[0] == kind)
                return body;
        }
    }

private:
    static std::string zeros(std::size_t count) { return std::string(count, '\0'); }
    static std::string number(char value) { return {'\0', value}; }
    static std::string text(std::string const& of) { return number(static_cast<char>(of.size())) + of; }

    void send(unsigned char kind, std::string const& body) {
        std::string const packet{static_cast<char>(kind), static_cast<char>(body.size())};
        asio::write(socket_, asio::buffer(packet + body));
    }

    asio::io_context io_;
    asio::ip::tcp::socket socket_{io_};
};

TEST(mqtt_quota, a_message_that_is_answered_with_0x97_is_delivered_to_nobody) {
    mqtt_process const server(mqtt_program, "right", "max_inflight_messages 2\nmax_queued_messages 2\n");
    half_hearted_client client(server.port());
    client.subscribe("open/#");
    for (char id = 1; id != 4; ++id)
        client.publish(id, std::string("message ") + static_cast<char>('0' + id));
    constexpr unsigned char pubrec = 0x50, delivered = 0x30;
    for (char id = 1; id != 3; ++id)
        EXPECT_EQ(client.next(pubrec), std::string({'\0', id}));
    std::string const refused = client.next(pubrec);
    ASSERT_EQ(refused, std::string("\0\3\x97", 3));
    EXPECT_EQ(classify_mqtt(static_cast<unsigned char>(refused[2])),
              (failure_class{failure_kind::throttled, effect::none}));
    for (char id = 1; id != 3; ++id)
        client.release(id);
    EXPECT_THAT(client.next(delivered), testing::EndsWith("message 1"));
    EXPECT_THAT(client.next(delivered), testing::EndsWith("message 2"));
    client.publish(4, "message 4");
    client.release(4);
    EXPECT_THAT(client.next(delivered), testing::EndsWith("message 4")) << "and no third before";
}

void connect(broker& who, scripted_broker const& to) {
    who.client.brokers("127.0.0.1", to.port()).keep_alive(2).async_run(asio::detached);
}

TEST(mqtt_of_a_script, a_quota_that_is_used_up_is_heard_as_throttled_and_retried) {
    asio::io_context io(1);
    std::map<unsigned, int> asked;
    scripted_broker server(io.get_executor(), [&](unsigned kind, std::string const& body) -> std::string {
        if (kind == scripted_broker::connect)
            return scripted_broker::connack();
        if (kind != scripted_broker::publish && kind != scripted_broker::subscribe)
            return "";
        if (body.find("probe") != std::string::npos)
            return scripted_broker::acknowledge(kind, body, 0);
        bool const enough = ++asked[kind] == 3;
        std::string const said = scripted_broker::acknowledge(kind, body, enough ? 0 : 0x97);
        return enough && kind == scripted_broker::subscribe ? said + scripted_broker::message("open/a", "1")
                                                            : said;
    });
    broker who{io.get_executor()};
    connect(who, server);
    std::vector<failure_kind> kinds;
    auto const counted = [&](retry_policy const& policy) {
        return policy.on_retry([&](retry_event const& event) { kinds.push_back(event.kind); });
    };
    std::string heard;
    asio::cancellation_signal end;
    auto const session = [&]() -> asio::awaitable<void> {
        co_await publish(who, "open/a", "1", counted(patient_publisher()));
        auto const hear = [&](std::string const& text) {
            heard += text;
            asio::post(io, [&] { end.emit(asio::cancellation_type::terminal); });
        };
        asio::co_spawn(io, listen(who, "open/#", "open/probe", hear, counted(patient_listener())),
                       asio::bind_cancellation_slot(end.slot(), [&](std::exception_ptr) {
                           who.client.cancel();
                           server.stop();
                       }));
    };
    asio::co_spawn(io, session(), [](std::exception_ptr e) { EXPECT_EQ(text_of(e), ""); });
    io.run();
    EXPECT_EQ(heard, "1");
    EXPECT_EQ(kinds, std::vector<failure_kind>(4, failure_kind::throttled));
}

TEST(mqtt_of_a_script, a_quota_that_stays_used_up_ends_the_publish_with_its_name) {
    asio::io_context io(1);
    scripted_broker server(io.get_executor(), [&](unsigned kind, std::string const& body) -> std::string {
        if (kind == scripted_broker::connect)
            return scripted_broker::connack();
        return kind == scripted_broker::publish ? scripted_broker::acknowledge(kind, body, 0x97) : "";
    });
    broker who{io.get_executor()};
    connect(who, server);
    std::string end;
    asio::co_spawn(io, publish(who, "open/a", "1", patient_publisher().max_attempts(2)),
                   [&](std::exception_ptr e) {
                       end = text_of(e);
                       who.client.cancel();
                       server.stop();
                   });
    io.run();
    EXPECT_EQ(end, mqtt5::reason_codes::quota_exceeded.message());
}

TEST(mqtt_of_a_script, a_listener_whose_limits_pass_asks_no_second_time_and_takes_the_late_answer) {
    asio::io_context io(1);
    int subscriptions = 0, retries = 0;
    std::string first;
    asio::cancellation_signal end;
    auto const stop = [&] { asio::post(io, [&] { end.emit(asio::cancellation_type::terminal); }); };
    scripted_broker server(io.get_executor(), [&](unsigned kind, std::string const& body) -> std::string {
        if (kind == scripted_broker::subscribe) {
            first = body;
            if (++subscriptions != 1)
                stop();
        }
        if (kind == scripted_broker::connect)
            return scripted_broker::connack();
        if (kind == scripted_broker::publish)
            return scripted_broker::acknowledge(kind, body, 0);
        if (kind != scripted_broker::pingreq)
            return "";
        return retries < 5 ? "\xd0" + std::string(1, '\0')
                           : scripted_broker::acknowledge(scripted_broker::subscribe, first, 0) +
                                 scripted_broker::message("open/a", "1");
    });
    broker who{io.get_executor()};
    connect(who, server);
    std::string heard;
    auto const policy = patient_listener().setup_timeout(50ms).on_retry([&](retry_event const&) { ++retries; });
    auto const hear = [&](std::string const& text) {
        heard += text;
        stop();
    };
    asio::co_spawn(io, listen(who, "open/#", "open/probe", hear, policy),
                   asio::bind_cancellation_slot(end.slot(), [&](std::exception_ptr) {
                       who.client.cancel();
                       server.stop();
                   }));
    io.run();
    EXPECT_EQ(heard, "1");
    EXPECT_GE(retries, 5);
    EXPECT_EQ(subscriptions, 1);
}

TEST(mqtt_of_a_script, with_a_keep_alive_of_2_s_a_broker_is_given_up_after_3_s_of_silence) {
    asio::io_context io(1);
    broker who{io.get_executor()};
    std::vector<clock::time_point> connected;
    scripted_broker server(io.get_executor(), [&](unsigned kind, std::string const&) -> std::string {
        if (kind != scripted_broker::connect)
            return "";
        connected.push_back(clock::now());
        if (connected.size() == 2) {
            who.client.cancel();
            server.stop();
        }
        return scripted_broker::connack();
    });
    connect(who, server);
    io.run();
    ASSERT_EQ(connected.size(), 2u);
    EXPECT_GE(connected[1] - connected[0], 3s);
    std::cout << "with a keep-alive of 2 s: connected again " << in_ms(connected[1] - connected[0])
              << " ms after the broker's last byte\n";
}

/// Four publishers and a listener, with a client each. Which messages the listener must hear is known by two
/// marks: a message that begins after the listener has heard another one of the same broker, and that is
/// acknowledged before a message begins that the listener hears, too. Brokers deliver a client's messages in
/// their order.
class mqtt_load {
public:
    explicit mqtt_load(mqtt_process& server) {
        for (broker* const who : {&publisher_, &listener_})
            who->client.brokers("127.0.0.1", server.port())
                .credentials(who == &listener_ ? "listener" : "publisher", "sensor", "right")
                .keep_alive(2);
        listener_.client.connect_property(mqtt5::prop::session_expiry_interval, 60);
        for (broker* const who : {&publisher_, &listener_})
            who->client.async_run(asio::detached);
        auto const lasting = patient_listener().on_retry([&](retry_event const& event) {
            ++subscribed_again;
            ++why_[event.message()];
        });
        asio::co_spawn(
            io_,
            listen(
                listener_, "open/#", "open/probe", [&](std::string const& text) { hear(text); }, lasting),
            asio::bind_cancellation_slot(end_.slot(), asio::detached));
        for (int i = 0; i != 4; ++i)
            asio::co_spawn(io_, publish_all(i), [&](std::exception_ptr e) {
                EXPECT_EQ(text_of(e), "");
                if (--at_work_ == 0)
                    asio::co_spawn(io_, publish(publisher_, "open/load", "last", patient_publisher()),
                                   [&](std::exception_ptr failed) {
                                       EXPECT_EQ(text_of(failed), "");
                                       last_is_published_ = true;
                                       stop_after_last();
                                   });
            });
        worker_ = std::thread([this] { io_.run(); });
    }

    mqtt_load(mqtt_load const&) = delete;
    mqtt_load& operator=(mqtt_load const&) = delete;

    /// Messages that begin from now on must be heard.
    void begin_to_count() {
        wait_for_a_message();
        counted_.push_back({clock::now(), clock::time_point::max()});
    }

    /// Messages that are acknowledged from now on may be lost.
    void stop_counting() {
        auto const end = clock::now();
        wait_for_a_message();
        counted_.back().end = end;
    }

    /// Until ten more messages are acknowledged.
    void note_return() {
        auto const begin = clock::now();
        for (auto const before = acknowledged_.load();
             acknowledged_ < before + 10 && clock::now() - begin < 40s;)
            std::this_thread::sleep_for(1ms);
        back_.push_back(clock::now() - begin);
    }

    /// Waits for the last message, looks for lost ones, and prints the figures.
    void finish(std::string const& story) {
        enough_ = true;
        worker_.join();
        EXPECT_TRUE(last_is_heard_);
        std::int64_t outside = 0, inside = 0;
        for (auto const& [text, m] : messages_) {
            if (must_be_heard(m)) {
                ++inside;
                EXPECT_NE(m.heard, 0) << text << " was acknowledged, and nobody has heard it";
            } else {
                outside += m.heard == 0;
            }
        }
        EXPECT_GT(inside, static_cast<std::int64_t>(messages_.size() / 4)) << "else this proves little";
        std::cout << story << ": " << messages_.size() << " messages acknowledged, " << inside
                  << " of them must be heard; of the others " << outside << " are lost; " << twice_
                  << " heard twice; " << subscribed_again << " subscribed again; longest publish "
                  << in_ms(longest_) << " ms";
        for (clock::duration const d : back_)
            std::cout << ", back after " << in_ms(d) << " ms";
        std::cout << '\n';
        for (auto const& [reason, count] : why_)
            std::cout << "  " << count << " times: " << reason << '\n';
    }

    int subscribed_again = 0; // after finish()

private:
    struct message {
        clock::time_point begin, acknowledged = clock::time_point::max();
        int heard = 0;
    };
    struct interval {
        clock::time_point begin, end;
    };

    bool must_be_heard(message const& m) const {
        return std::any_of(counted_.begin(), counted_.end(),
                           [&](interval const& i) { return i.begin <= m.begin && m.acknowledged <= i.end; });
    }

    void hear(std::string const& text) {
        if (text == "last") {
            last_is_heard_ = true;
            return stop_after_last();
        }
        message& m = messages_.at(text);
        twice_ += m.heard++ != 0;
        newest_ = std::max(newest_.load(), m.begin);
    }

    /// Until the listener hears one that begins from now on.
    void wait_for_a_message() {
        auto const begin = clock::now();
        while (newest_.load() < begin) {
            ASSERT_LT(clock::now() - begin, 60s) << "the listener hears nothing";
            std::this_thread::sleep_for(1ms);
        }
    }

    asio::awaitable<void> publish_all(int number) {
        asio::steady_timer pause(io_);
        for (int i = 0; !enough_; ++i) {
            std::string const text = std::to_string(number) + '-' + std::to_string(i);
            message& m = messages_[text];
            m.begin = clock::now();
            co_await publish(publisher_, "open/load", text, patient_publisher());
            m.acknowledged = clock::now();
            ++acknowledged_;
            longest_ = std::max(longest_, m.acknowledged - m.begin);
            pause.expires_after(1ms);
            co_await pause.async_wait(asio::deferred);
        }
    }

    void stop_after_last() {
        if (last_is_heard_ && last_is_published_)
            asio::post(io_, [&] {
                end_.emit(asio::cancellation_type::terminal);
                publisher_.client.cancel();
                listener_.client.cancel();
            });
    }

    asio::io_context io_{1};
    broker publisher_{io_.get_executor()}, listener_{io_.get_executor()};
    asio::cancellation_signal end_;
    std::map<std::string, message> messages_;
    std::map<std::string, int> why_;
    std::vector<interval> counted_;
    std::vector<clock::duration> back_;
    clock::duration longest_{};
    std::int64_t twice_ = 0;
    int at_work_ = 4;
    bool last_is_heard_ = false, last_is_published_ = false;
    std::atomic<clock::time_point> newest_ = clock::time_point::min();
    std::atomic<std::int64_t> acknowledged_ = 0;
    std::atomic<bool> enough_ = false;
    std::thread worker_;
};

TEST_F(mqtt_test, loses_nothing_while_the_broker_stands_still_until_both_clients_connect_again) {
    mqtt_load load(server);
    load.begin_to_count();
    for (int i = 0; i != 2; ++i) {
        std::this_thread::sleep_for(700ms);
        server.send(SIGSTOP);
        std::this_thread::sleep_for(4s);
        server.send(SIGCONT);
        load.note_return();
    }
    load.finish("stopped twice for 4 s");
}

TEST_F(mqtt_test, loses_only_what_a_killed_broker_had_not_delivered_and_what_comes_before_a_subscription) {
    mqtt_load load(server);
    load.begin_to_count();
    for (int const signal : {SIGKILL, SIGKILL, SIGTERM}) {
        std::this_thread::sleep_for(700ms);
        load.stop_counting();
        server.end(signal);
        std::this_thread::sleep_for(300ms);
        server.start();
        load.note_return();
        load.begin_to_count();
    }
    load.finish("killed twice, restarted");
    EXPECT_GE(load.subscribed_again, 3);
}

} // namespace
} // namespace asio_retry::test

int main(int argc, char** argv) {
    testing::InitGoogleTest(&argc, argv);
    if (argc < 3 || !asio_retry::test::mqtt_process::is_runnable(argv[2])) {
        std::cout
            << "skipped: there is no Mosquitto that can be run here; ./cmake/bootstrap.sh install-services "
               "gets it\n";
        return 77;
    }
    asio_retry::test::publish_program = argv[1];
    asio_retry::test::mqtt_program = argv[2];
    return RUN_ALL_TESTS();
}
