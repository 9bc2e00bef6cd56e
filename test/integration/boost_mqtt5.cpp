// The recipe of example/boost_mqtt5 before a real Mosquitto that is killed, stopped and started again under
// load, and that refuses its client.
#include "boost_mqtt5/broker.hpp"
#include "boost_mqtt5/listen.hpp"
#include "boost_mqtt5/publish.hpp"
#include "child_process.hpp"
#include "mqtt_process.hpp"
#include "scripted_broker.hpp"

#include <asio_retry/async_retry.hpp>
#include <asio_retry/failure_class.hpp>
#include <asio_retry/retry_event.hpp>

#include <boost/asio.hpp>
#include <boost/mqtt5.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <exception>
#include <functional>
#include <iostream>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace asio_retry::test {
namespace {

namespace asio = boost::asio;
namespace mqtt5 = boost::mqtt5;
using boost::system::error_code;
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
        .set_up_within(8s)
        .idle_timeout(5s)
        .retry_if(worth_retrying);
}

class mqtt_test : public testing::Test {
protected:
    mqtt_test()
        : server(mqtt_program, "right") {}

    void run(broker& who, std::string const& name, std::string const& password = "right") const {
        who.client.brokers("127.0.0.1", server.port())
            .credentials(name, "sensor", password)
            .keep_alive(2)
            .async_run(asio::detached);
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
    asio::co_spawn(io, listen(who, "open/#", [](std::string) {}, counted(patient_listener())), note);
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
    asio::co_spawn(io, listen(who, "open/#", [](std::string) {}, patient_listener()), note);
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
        asio::co_spawn(io, listen(who, "open/#", hear, counted(patient_listener())),
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
        if (kind != scripted_broker::pingreq)
            return "";
        return retries < 5 ? "\xd0" + std::string(1, '\0')
                           : scripted_broker::acknowledge(scripted_broker::subscribe, first, 0) +
                                 scripted_broker::message("open/a", "1");
    });
    broker who{io.get_executor()};
    connect(who, server);
    std::string heard;
    auto const policy = patient_listener().set_up_within(50ms).on_retry([&](retry_event const&) { ++retries; });
    auto const hear = [&](std::string const& text) {
        heard += text;
        stop();
    };
    asio::co_spawn(io, listen(who, "open/#", hear, policy),
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

struct mqtt_figures {
    std::atomic<std::int64_t> acknowledged = 0;
    std::set<std::string> published, received;
    std::int64_t received_in_all = 0, subscribed_again = 0, publish_retries = 0;
    std::map<std::string, int> why;
    clock::duration longest{};
    std::vector<clock::duration> back;

    void note_return() {
        auto const begin = clock::now();
        for (std::int64_t const before = acknowledged;
             acknowledged < before + 10 && clock::now() - begin < 40s;)
            std::this_thread::sleep_for(1ms);
        back.push_back(clock::now() - begin);
    }
};

asio::awaitable<void> publish_all(broker& who, int number, mqtt_figures& figures,
                                  std::atomic<bool> const& enough) {
    auto const policy = patient_publisher().on_retry([&](retry_event const&) { ++figures.publish_retries; });
    asio::steady_timer pause(co_await asio::this_coro::executor);
    for (int i = 0; !enough; ++i) {
        auto const begin = clock::now();
        std::string const text = std::to_string(number) + '-' + std::to_string(i);
        co_await publish(who, "open/load", text, policy);
        figures.published.insert(text);
        ++figures.acknowledged;
        figures.longest = std::max(figures.longest, clock::now() - begin);
        pause.expires_after(1ms);
        co_await pause.async_wait(asio::deferred);
    }
}

TEST_F(mqtt_test, publishes_and_hears_while_the_broker_is_killed_stopped_and_started) {
    mqtt_figures figures;
    std::atomic<bool> enough = false;
    asio::io_context io(1);
    broker publisher{io.get_executor()}, listener{io.get_executor()};
    run(publisher, "publisher");
    run(listener, "listener");
    int at_work = 4;
    bool last_is_heard = false, last_is_published = false;
    asio::cancellation_signal end;
    auto const stop = [&] {
        if (last_is_heard && last_is_published)
            asio::post(io, [&] {
                end.emit(asio::cancellation_type::terminal);
                publisher.client.cancel();
                listener.client.cancel();
            });
    };
    auto const hear = [&](std::string const& text) {
        figures.received.insert(text);
        ++figures.received_in_all;
        last_is_heard |= text == "last";
        if (text == "last")
            stop();
    };
    auto const lasting = patient_listener().on_retry([&](retry_event const& event) {
        ++figures.subscribed_again;
        ++figures.why[event.message()];
    });
    asio::co_spawn(io, listen(listener, "open/#", hear, lasting),
                   asio::bind_cancellation_slot(end.slot(), asio::detached));
    for (int i = 0; i != 4; ++i)
        asio::co_spawn(io, publish_all(publisher, i, figures, enough), [&](std::exception_ptr e) {
            EXPECT_EQ(text_of(e), "");
            if (--at_work == 0)
                asio::co_spawn(io, publish(publisher, "open/load", "last", patient_publisher()),
                               [&](std::exception_ptr failed) {
                                   EXPECT_EQ(text_of(failed), "");
                                   last_is_published = true;
                                   stop();
                               });
        });
    std::thread worker([&io] { io.run(); });
    for (int i = 0; i != 2; ++i) {
        std::this_thread::sleep_for(700ms);
        server.end(SIGKILL);
        std::this_thread::sleep_for(300ms);
        server.start();
        figures.note_return();
    }
    server.send(SIGSTOP);
    std::this_thread::sleep_for(4s);
    server.send(SIGCONT);
    figures.note_return();
    server.end(SIGTERM);
    server.start();
    figures.note_return();
    std::this_thread::sleep_for(3s); // the listener has its own delays
    enough = true;
    worker.join();

    EXPECT_TRUE(last_is_heard);
    EXPECT_GE(figures.subscribed_again, 2);
    std::vector<std::string> lost;
    std::set_difference(figures.published.begin(), figures.published.end(), figures.received.begin(),
                        figures.received.end(), std::back_inserter(lost));
    EXPECT_GT(figures.received.size(), figures.published.size() / 2);
    std::cout << "killed twice, stopped for 4 s, restarted: " << figures.acknowledged
              << " messages acknowledged, " << figures.received_in_all << " heard, " << lost.size()
              << " heard by nobody, "
              << figures.received_in_all - static_cast<std::int64_t>(figures.received.size()) << " twice; "
              << figures.subscribed_again << " subscribed again; longest publish " << in_ms(figures.longest)
              << " ms";
    for (clock::duration const d : figures.back)
        std::cout << ", back after " << in_ms(d) << " ms";
    std::cout << '\n';
    for (auto const& [message, count] : figures.why)
        std::cout << "  " << count << " times: " << message << '\n';
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
