#include <asio_retry/failure_class.hpp>

#include <asio_retry/permanent.hpp>
#include <asio_retry/retry_policy.hpp>

#include "support/script.hpp"

#include <boost/system/system_error.hpp>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <utility>

// Without the libraries themselves: test/integration/foreign_codes.cpp has their own numbers.

namespace asio_retry::test {
namespace {

class named_category final : public boost::system::error_category {
public:
    explicit named_category(char const* name) noexcept
        : name_(name) {}

    char const* name() const noexcept override { return name_; }
    std::string message(int) const override { return name_; }

private:
    char const* name_;
};

named_category const tls_codes("asio.ssl"), tls_stream_codes("asio.ssl.stream"), beast_codes("boost.beast"),
    http_codes("beast.http"), websocket_codes("boost.beast.websocket"), somebodys_codes("somebody's");
named_category const mysql_codes("mysql.common-server"), mariadb_codes("mysql.mariadb-server"),
    oracle_codes("mysql.mysql-server"), mysql_client_codes("mysql.client"), mysql_others("mysql.others"),
    mqtt_codes("mqtt_client_error");

error_code of_tls(unsigned reason) {
    return error_code(static_cast<int>(20u << 23 | reason), tls_codes);
}

constexpr failure_class lost_peer{failure_kind::transient, effect::possible};
constexpr failure_class no_answer_of_peer{failure_kind::timeout, effect::possible};
constexpr failure_class settled{failure_kind::permanent, effect::possible};
constexpr failure_class rolled_back{failure_kind::transient, effect::none};
constexpr failure_class has_too_much_to_do{failure_kind::overloaded, effect::none};
constexpr failure_class rationed{failure_kind::throttled, effect::possible};

constexpr unsigned certificate_verify_failed = 134, tls_eof = 294, alert_unknown_ca = 1048;

std::pair<error_code, failure_class> const protocol_table[] = {
    {of_tls(certificate_verify_failed), settled},
    {of_tls(alert_unknown_ca), settled},
    {of_tls(1040), settled}, // the server ended the handshake
    {of_tls(1070), settled}, // or speaks another version
    {of_tls(267), settled},  // or no TLS
    {of_tls(0), settled},
    {of_tls(207), lost_peer},
    {of_tls(281), lost_peer},
    {of_tls(tls_eof), lost_peer},
    {of_tls(1020), lost_peer},
    {of_tls(1080), lost_peer},
    {of_tls(1090), lost_peer},
    {error_code(11 << 23 | static_cast<int>(tls_eof), tls_codes), settled}, // X.509's, with that number
    {error_code(-2, tls_codes), settled},                                   // of the system: a file

    // as version 1 had them, with a function between
    {error_code(20 << 24 | 144 << 12 | static_cast<int>(certificate_verify_failed), tls_codes), settled},
    {error_code(20 << 24 | 144 << 12 | static_cast<int>(tls_eof), tls_codes), lost_peer},
    {error_code(11 << 24 | 144 << 12 | static_cast<int>(tls_eof), tls_codes), settled},

    {error_code(1, tls_stream_codes), lost_peer}, // stream_truncated
    {error_code(2, tls_stream_codes), lost_peer},
    {error_code(3, tls_stream_codes), lost_peer},

    {error_code(1, beast_codes), no_answer_of_peer},
    {error_code(2, beast_codes), lost_peer},

    {error_code(1, http_codes), lost_peer},  // end_of_stream
    {error_code(2, http_codes), lost_peer},  // partial_message
    {error_code(10, http_codes), lost_peer}, // bad_alloc
    {error_code(3, http_codes), settled},    // need_more
    {error_code(8, http_codes), settled},    // header_limit
    {error_code(9, http_codes), settled},    // body_limit
    {error_code(14, http_codes), settled},   // bad_version
    {error_code(99, http_codes), settled},

    {error_code(1, websocket_codes), lost_peer}, // closed
    {error_code(6, websocket_codes), settled},   // message_too_big
    {error_code(7, websocket_codes), settled},   // bad_http_version
    {error_code(20, websocket_codes), settled},  // upgrade_declined
    {error_code(21, websocket_codes), settled},  // bad_opcode

    {error_code(1213, mysql_codes), rolled_back},        // deadlock
    {error_code(1205, mysql_codes), lost_peer},          // lock wait timeout: the transaction goes on
    {error_code(1020, mysql_codes), rolled_back},        // the row has changed
    {error_code(1290, mysql_codes), lost_peer},          // read-only: the transaction goes on
    {error_code(1836, mysql_codes), lost_peer},          // likewise
    {error_code(1040, mysql_codes), has_too_much_to_do}, // too many connections
    {error_code(1203, mysql_codes), has_too_much_to_do}, // of one user
    {error_code(1226, mysql_codes), rationed},
    {error_code(1412, mysql_codes), lost_peer},
    {error_code(1614, mysql_codes), rolled_back},
    {error_code(1038, mysql_codes), {failure_kind::overloaded, effect::possible}},
    {error_code(1041, mysql_codes), {failure_kind::overloaded, effect::possible}},
    {error_code(1053, mysql_codes), lost_peer}, // shutdown
    {error_code(1158, mysql_codes), lost_peer},
    {error_code(1317, mysql_codes), no_answer_of_peer},
    {error_code(1045, mysql_codes), settled}, // access denied
    {error_code(1062, mysql_codes), settled}, // duplicate entry
    {error_code(1064, mysql_codes), settled}, // syntax error
    {error_code(1927, mariadb_codes), lost_peer},
    {error_code(1969, mariadb_codes), no_answer_of_peer},
    {error_code(1213, mariadb_codes), settled}, // no code of its own
    {error_code(4025, mariadb_codes), settled},
    {error_code(3024, oracle_codes), no_answer_of_peer},
    {error_code(3572, oracle_codes), lost_peer},
    {error_code(3101, oracle_codes), rolled_back},
    {error_code(3169, oracle_codes), lost_peer},
    {error_code(3819, oracle_codes), settled},
    {error_code(16, mysql_client_codes), rolled_back}, // no_connection_available
    {error_code(27, mysql_client_codes), rolled_back}, // not_connected
    {error_code(5, mysql_client_codes), lost_peer},
    {error_code(15, mysql_client_codes), settled}, // pool_cancelled
    {error_code(1213, mysql_others), lost_peer},
    {error_code(102, mqtt_codes), lost_peer}, // session_expired
    {error_code(103, mqtt_codes), has_too_much_to_do},
    {error_code(104, mqtt_codes), settled}, // invalid_topic

    {error_code(134, somebodys_codes), lost_peer},
};

TEST(protocol_codes, decision_54_are_known_by_the_name_of_their_category) {
    for (auto const& [code, expected] : protocol_table) {
        EXPECT_EQ(classify(code).kind, expected.kind) << code;
        EXPECT_EQ(classify(code).effect, expected.effect) << code;
    }
    EXPECT_EQ(classify(permanent(of_tls(tls_eof))), settled);
}

TEST(protocol_codes, decision_54_the_default_policy_ends_at_the_first_certificate_that_is_not_trusted) {
    for (auto const& [code, expected] : protocol_table) {
        machine_script script(endless_every_100ms());
        script.start();
        auto const ends = script.fail(std::chrono::seconds(0), code).what == retry_action::kind::complete;
        EXPECT_EQ(ends, expected.kind == failure_kind::permanent) << code;
    }
}

TEST(protocol_codes, decision_54_in_an_exception_too_and_beside_a_predicate_of_one_type) {
    boost::system::system_error const thrown(of_tls(certificate_verify_failed));
    retry_policy const by_type = endless_every_100ms().retry_if<std::runtime_error>(
        [](std::runtime_error const& e) { return e.what() == std::string("again"); });
    for (retry_policy const& policy : {endless_every_100ms(), by_type}) {
        machine_script script(policy);
        script.start();
        EXPECT_EQ(script.fail_with(thrown).reason, stop_reason::not_retryable);
    }
}

TEST(protocol_codes, decision_54_what_retry_if_says_comes_before) {
    machine_script anything(endless_every_100ms().retry_if(any_failure));
    anything.start();
    EXPECT_EQ(anything.fail(std::chrono::seconds(0), of_tls(alert_unknown_ca)).what, retry_action::kind::wait);

    machine_script own(endless_every_100ms().retry_if([](error_code const&) { return true; }));
    own.start();
    EXPECT_EQ(own.fail(std::chrono::seconds(0), of_tls(alert_unknown_ca)).what, retry_action::kind::wait);
}

} // namespace
} // namespace asio_retry::test
